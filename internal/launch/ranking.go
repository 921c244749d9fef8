package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/placectl/placectl/internal/bytejson"
)

// Candidate is a node that could serve a request, as a line of JSON for the program of the policy
// local.
type Candidate struct {
	Name      string             `json:"name"`
	Priority  int32              `json:"priority"`
	Speed     float64            `json:"speed,omitempty"`
	Load      float64            `json:"load,omitempty"`
	Features  []string           `json:"features,omitempty"`
	Jobs      int                `json:"jobs"`
	Resources map[string]any     `json:"resources"`
	Free      map[string]float64 `json:"free"`
}

// Rank runs the program on candidates. It reads the names that the program writes, one a line, in the
// order in which to take the nodes. All of them must be candidates.
func (p *Program) Rank(ctx context.Context, candidates []Candidate) ([]string, error) {
	known := make(map[string]bool, len(candidates))
	var in, out bytes.Buffer
	for i := range candidates {
		known[candidates[i].Name] = true
		if err := bytejson.Write(&in, &candidates[i]); err != nil {
			return nil, err
		}
	}
	var late *timeoutError
	switch _, err := p.run(ctx, nil, environment(), &in, &out); {
	case errors.As(err, &late):
		return nil, fmt.Errorf("%s %w", p.Words[0], err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", p.Words[0], err)
	}
	names := []string{}
	for line := range strings.Lines(out.String()) {
		name := strings.TrimSpace(line)
		switch {
		case name == "":
		case !known[name]:
			return nil, fmt.Errorf("%s named %q, which is not one of the %d candidates", p.Words[0], name, len(known))
		default:
			names = append(names, name)
		}
	}
	return names, nil
}
