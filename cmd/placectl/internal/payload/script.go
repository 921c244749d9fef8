package payload

import (
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
)

// Script is a job script with its directives.
type Script struct {
	Name string // as shown in messages
	Text string
	directives.Submission
}

// ReadScript reads a script, and refuses other files.
func ReadScript(name string, in io.Reader) (*Script, error) {
	read, err := io.ReadAll(io.LimitReader(in, engine.MaxScript+1))
	s := &Script{Name: name, Text: string(read)}
	switch {
	case err != nil:
		return nil, usage.Errorf("%w", err)
	case len(read) > engine.MaxScript: // perhaps far more
		return nil, usage.Errorf("%s has more than %d bytes, the maximum for a script", s.Name, engine.MaxScript)
	case strings.TrimSpace(s.Text) == "":
		return nil, usage.Errorf("%s is empty", s.Name)
	}
	if err := text.CheckScript(s.Text); err != nil {
		return nil, usage.Errorf("%s %w", s.Name, err)
	}
	return s, nil
}

// selectStart matches the beginning of a select, or of a resource list: a number of chunks, or a
// resource.
var selectStart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*([0-9]+\s*([:+,\s]|$)|[A-Za-z_][A-Za-z0-9_-]*\s*=|$)`)
})

// Divide splits words into selects and files: a word that does not look like a select must be a file.
func Divide(words []string) (selects, files []string) {
	for _, word := range words {
		if selectStart().MatchString(word) {
			selects = append(selects, word)
		} else {
			files = append(files, word)
		}
	}
	return selects, files
}
