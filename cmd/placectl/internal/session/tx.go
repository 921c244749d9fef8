package session

import (
	"bytes"
	"encoding/json"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/process"
)

// LineAnswer is the answer of one line's verb.
type LineAnswer struct {
	Number int
	Verb   string
	Answer []byte
}

// LineFormat returns the form of a line's answer within an answer of the form whole.
func LineFormat(whole output.Format) output.Format {
	if whole == output.JSONL {
		return output.JSON
	}
	return whole
}

// Below returns a run for a line. Lines share the verbs' declarations.
func (r *Run) Below(e Env) *Run {
	out := &process.Answers{Writer: e.Stdout}
	e.Stdout = out
	return &Run{Env: e, Ctx: r.Ctx, Stop: r.Stop, Answers: out, notes: r.notes, Verbs: r.Verbs, Dash: -1,
		InLogs: r.InLogs}
}

// PrintLines prints the answers of the lines one after the other. In JSON they are a list, with
// the line number and the verb beside each.
func (r *Run) PrintLines(answers []LineAnswer) error {
	if !r.Audience().Document {
		for _, a := range answers {
			if _, err := r.Stdout.Write(a.Answer); err != nil {
				return err
			}
		}
		return nil
	}
	p := r.Printer(output.Result{Columns: []output.Column{{Name: "line", Kind: output.Integer, Required: true},
		{Name: "verb", Required: true}, {Name: "result", Kind: output.Object}}})
	for _, a := range answers {
		var flat bytes.Buffer
		if json.Compact(&flat, a.Answer) != nil || flat.Len() == 0 {
			flat.Reset()
		}
		p.Row(a.Number, a.Verb, json.RawMessage(flat.Bytes()))
	}
	return p.Close()
}
