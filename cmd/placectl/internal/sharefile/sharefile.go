// Package sharefile reads states of class shares: JSON with what each class has, wants and should get.
// It refuses unknown fields within a class, because a share would come out wrong. Outside the classes
// it only lists them, because records of states also contain notes and answers. It opens no file and
// knows no verb.
package sharefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// File is a parsed and checked state. Parse makes one.
type File struct {
	infile.Text
	Unknown []string // its unknown settings, quoted

	TotalWorkers   *int
	RunningWorkers *int
	IdleWorkers    *int
	ClassOrder     []string
	Rebalance      rebalance
	Classes        []class
}

type rebalance struct {
	Threshold   int   `json:"threshold"`
	MinDuration int64 `json:"min_duration_s"`
	ExceededFor int64 `json:"exceeded_for_s"` // seconds; -1: the spread is below the threshold
}

type class struct {
	Name    string `json:"name"`
	Load    int    `json:"load_pct"`
	Running int    `json:"running"`
	Waiting int    `json:"waiting"`
	Jobs    []job  `json:"jobs"`
}

type job struct {
	ID      string `json:"id"`
	Running int    `json:"running"`
	Waiting int    `json:"waiting"`
}

// notes are members that say nothing about the state, such as a record's name and result.
var notes = []string{"name", "kind", "deterministic", "anomaly", "outcomes", "test_expected_net"}

// Parse parses a state. A mistake in it is an *infile.Error.
func Parse(text infile.Text) (*File, error) {
	f := &File{Text: text, Rebalance: rebalance{ExceededFor: -1}}
	if err := f.Check(); err != nil {
		return nil, err
	}
	if err := f.checkJSON(); err != nil {
		return nil, err
	}
	if err := f.members(); err != nil {
		return nil, err
	}
	return f, f.check()
}

// checkJSON refuses invalid JSON, and more than one document.
func (f *File) checkJSON() error {
	at := infile.SkipBlanks(f.Data, 0)
	if at == len(f.Data) {
		return f.Errorf(0, "the file is empty: expected a state, such as %s", example)
	}
	var all json.RawMessage
	err := json.Unmarshal(f.Data, &all)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax) && int(syntax.Offset) >= len(f.Data):
		return f.Errorf(len(f.Data), "the file ends in the middle of its JSON; it may have been cut off")
	case errors.As(err, &syntax):
		return f.Errorf(max(0, int(syntax.Offset)-1), "this is not JSON: %w", err)
	case err != nil:
		return f.Errorf(0, "this is not JSON: %w", err)
	case f.Data[at] != '{':
		return f.Errorf(at, "expected an object: a state, such as %s", example)
	}
	return nil
}

const example = `{"total_workers":10,"classes":[{"name":"a","load_pct":100,"running":2,"waiting":9}]}`

// members reads the members of the outer object, which must be valid JSON.
func (f *File) members() error {
	known := map[string]any{"total_workers": &f.TotalWorkers, "workers": &f.TotalWorkers,
		"running_workers": &f.RunningWorkers,
		"running":         &f.RunningWorkers, "idle_workers": &f.IdleWorkers, "class_order": &f.ClassOrder,
		"rebalance": &f.Rebalance, "classes": &f.Classes}
	seen := make(map[string]bool)
	dec := json.NewDecoder(bytes.NewReader(f.Data))
	dec.Token() //nolint:errcheck // the brace
	for dec.More() {
		at := int(dec.InputOffset()) + bytes.IndexByte(f.Data[dec.InputOffset():], '"')
		word, _ := dec.Token()
		name, _ := word.(string)
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return f.Errorf(at, "this is not JSON: %w", err)
		}
		switch to, ok := known[name]; {
		case seen[name]:
			return f.Errorf(at, "%s is there twice", name)
		case ok:
			if err := f.member(name, raw, int(dec.InputOffset())-len(raw), to); err != nil {
				return err
			}
		case !slices.Contains(notes, name):
			f.Unknown = append(f.Unknown, text.Quoted(name)+index.DidYouMean(name, slices.Sorted(maps.Keys(known))))
		}
		seen[name] = true
	}
	return nil
}

// member reads a member. Its value raw begins at offset at.
func (f *File) member(name string, raw []byte, at int, to any) error {
	return f.DecodeStrictly(name, raw, at, to,
		[]string{"name", "load_pct", "running", "waiting", "jobs", "id", "threshold", "min_duration_s",
			"exceeded_for_s"})
}
