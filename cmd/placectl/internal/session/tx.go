package session

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

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
	return &Run{Env: e, Ctx: r.Ctx, Stop: r.Stop, Answers: out, notes: r.notes, warned: r.warned, Verbs: r.Verbs,
		Dash: -1, handles: r.handles}
}

// Follow does what follows the commit of a verb as another verb, whose answer it prints.
func (r *Run) Follow(verb string, fn func(*Run) error) error {
	inv, err := r.Verbs.Parse([]string{verb})
	if err != nil {
		return err
	}
	sub := *r
	sub.Inv, sub.Verb, sub.Rec = inv, inv.Leaf(), nil
	return fn(&sub)
}

// AnswerOf returns what a verb that reads prints. Its notes are dropped.
func (r *Run) AnswerOf(words ...string) ([]byte, error) {
	var out bytes.Buffer
	e := r.Env
	e.Args, e.Stdout, e.Stdin = words, &out, strings.NewReader("")
	sub := r.Below(e)
	sub.Globals, sub.notes = r.Globals, io.Discard
	inv, err := sub.Verbs.Parse(words)
	if err == nil {
		err = sub.Exec(inv)
	}
	return out.Bytes(), err
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
		var result any
		if json.Valid(a.Answer) {
			result = json.RawMessage(a.Answer)
		}
		p.Row(a.Number, a.Verb, result)
	}
	return p.Close()
}
