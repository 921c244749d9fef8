package keyed

import (
	"fmt"
	"io"
	"slices"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/bytejson"
	"github.com/placectl/placectl/internal/launch"
)

// Recording is an answer as data, in parts. It is printed in the requested form, now and whenever its
// key is used again.
type Recording struct {
	Parts []Part `json:"parts,omitempty"`

	Refused bool `json:"-"` // it must not be kept

	not []output.Format // the forms without what is being recorded
}

// Part is one of: rows, text as printed, a note, the answer of a line of tx, a job to launch, and a
// failure after the commit. The JSON names of its fields are stored in databases: a change of their
// meaning raises storedVersion.
type Part struct {
	Not     []output.Format   `json:"not,omitempty"` // the forms without this part
	Rows    *output.Recording `json:"rows,omitempty"`
	Text    string            `json:"text,omitempty"`
	Note    string            `json:"note,omitempty"`
	Verbose bool              `json:"verbose,omitempty"`
	Code    string            `json:"code,omitempty"` // of a warning
	Line    *Recording        `json:"line,omitempty"`
	Number  int               `json:"number,omitempty"` // of the line
	Verb    string            `json:"verb,omitempty"`   // the verb of the line
	Launch  []launch.Notice   `json:"launch,omitempty"`
	Failed  string            `json:"failed,omitempty"`
}

// Add adds a part.
func (rec *Recording) Add(p Part) {
	p.Not = rec.not
	rec.Parts = append(rec.Parts, p)
}

// Answer starts an answer of rows.
func (rec *Recording) Answer(o output.Options, res output.Result) *output.Printer {
	rows := new(output.Recording)
	rec.Add(Part{Rows: rows})
	return output.RecordTo(rows, o, res)
}

// Write records text.
func (rec *Recording) Write(b []byte) (int, error) {
	rec.Add(Part{Text: string(b)})
	return len(b), nil
}

// InForms records what fn prints for the forms that have it, because a later use of the key may ask for
// any form.
func (rec *Recording) InForms(has func(output.Format) bool, fn func() error) error {
	was := rec.not
	defer func() { rec.not = was }()
	for f := range output.Formats() {
		if !has(f) && !slices.Contains(was, f) {
			rec.not = append(slices.Clip(rec.not), f)
		}
	}
	return fn()
}

// storedVersion is the version of the form in which databases keep answers. Nothing in it follows from names
// or numbers of Go's: testdata has an answer of each version.
const storedVersion = 1

type stored struct {
	Version int    `json:"version"`
	Parts   []Part `json:"parts"`
}

// Encode encodes the recording for storage.
func (rec *Recording) Encode() ([]byte, error) {
	return bytejson.Marshal(stored{storedVersion, rec.Parts})
}

// Decode decodes a stored recording.
func Decode(b []byte) (*Recording, error) {
	var s stored
	if err := bytejson.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("the answer kept for this key: %w", err)
	}
	if s.Version != storedVersion {
		return nil, fmt.Errorf("the answer kept for this key has version %d; this program reads version %d", s.Version,
			storedVersion)
	}
	return &Recording{Parts: s.Parts}, nil
}

// Notices returns the jobs to launch and to stop.
func (rec *Recording) Notices() []launch.Notice {
	for _, p := range rec.Parts {
		if p.Launch != nil {
			return p.Launch
		}
	}
	return nil
}

// Launched returns the answer once all launches are done, with their result: the jobs that were
// launched, and the failures of the others.
func (rec *Recording) Launched(jobs Part, err error) *Recording {
	if err != nil {
		jobs.Failed = err.Error()
	}
	parts := append(slices.Clone(rec.Parts), jobs)
	for i := range parts {
		parts[i].Launch = nil
	}
	return &Recording{Parts: parts}
}

// Audience prints a recording: each method prints a part of its kind.
type Audience interface {
	io.Writer
	Rows(*output.Recording) error
	Lines([]Part) error
	Note(Part)
	Failed(Part) error
}

// Print prints the parts for a form. It returns the error of what failed after the commit.
func (rec *Recording) Print(to Audience, form output.Format) error {
	var end error
	var lines []Part // of tx, which are one answer
	for _, p := range rec.Parts {
		if slices.Contains(p.Not, form) && p.Failed == "" {
			continue
		}
		if p.Line != nil {
			lines = append(lines, p)
			continue
		}
		var err error
		switch {
		case p.Failed != "":
			end = to.Failed(p)
		case p.Rows != nil:
			err = to.Rows(p.Rows)
		case p.Note != "":
			to.Note(p)
		case p.Text != "":
			_, err = io.WriteString(to, p.Text)
		}
		if err != nil {
			return err
		}
	}
	if len(lines) > 0 {
		if err := to.Lines(lines); err != nil {
			return err
		}
	}
	return end
}
