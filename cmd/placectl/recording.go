package main

import (
	"encoding/json"
	"errors"

	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
)

// recording is an answer as data, in parts: it is printed in whatever form it is asked
// for, now and whenever its key is used again.
type recording struct {
	Parts []part `json:"parts,omitempty"`

	not     uint32 // the forms that have no part in what is recorded now
	refused bool   // it is not to be kept
}

// part is one of: rows, text as it is printed, a note, the answer of a line of tx, who is
// to be launched, and what has failed after the commit.
type part struct {
	Not     uint32            `json:"not,omitempty"` // the forms, by number, that go without
	Rows    *output.Recording `json:"rows,omitempty"`
	Text    string            `json:"text,omitempty"`
	Note    string            `json:"note,omitempty"`
	Verbose bool              `json:"verbose,omitempty"`
	Line    *recording        `json:"line,omitempty"`
	Launch  []launch.Notice   `json:"launch,omitempty"`
	Failed  string            `json:"failed,omitempty"`
}

func (rec *recording) add(p part) {
	p.Not = rec.not
	rec.Parts = append(rec.Parts, p)
}

// answer starts an answer of rows.
func (rec *recording) answer(o output.Options, res output.Result) *output.Printer {
	rows := new(output.Recording)
	rec.add(part{Rows: rows})
	return output.RecordTo(rows, o, res)
}

// Write records text.
func (rec *recording) Write(b []byte) (int, error) {
	rec.add(part{Text: string(b)})
	return len(b), nil
}

func (rec *recording) note(text string, verbose bool) { rec.add(part{Note: text, Verbose: verbose}) }

func (rec *recording) encode() ([]byte, error) { return json.Marshal(rec) }

func decodeRecording(b []byte) (*recording, error) {
	rec := new(recording)
	return rec, json.Unmarshal(b, rec)
}

// notices are those whom the answer says to launch, and stop.
func (rec *recording) notices() []launch.Notice {
	for _, p := range rec.Parts {
		if p.Launch != nil {
			return p.Launch
		}
	}
	return nil
}

// launched notes in the answer that nobody is to be launched any more, and what came of
// it.
func (rec *recording) launched(err error) {
	for i := range rec.Parts {
		rec.Parts[i].Launch = nil
	}
	if err != nil {
		rec.Parts = append(rec.Parts, part{Failed: err.Error()})
	}
}

// inForms runs what prints a part of an answer that only some forms have: fn, where the
// form is one of them. What is recorded may be asked for in any.
func (r *runner) inForms(has func(output.Format) bool, fn func() error) error {
	if r.rec == nil {
		if !has(r.Output) {
			return nil
		}
		return fn()
	}
	was := r.rec.not
	defer func() { r.rec.not = was }()
	for i := range output.FormatNames() {
		if !has(output.Format(i)) {
			r.rec.not |= 1 << i
		}
	}
	return fn()
}

// either prints an answer in one of two ways, as the form is.
func (r *runner) either(has func(output.Format) bool, yes, no func() error) error {
	return errors.Join(r.inForms(has, yes), r.inForms(func(f output.Format) bool { return !has(f) }, no))
}
