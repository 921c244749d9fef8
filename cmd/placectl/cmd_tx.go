package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/keyed"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/process"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func txVerb() *verb {
	return &verb{
		Name:     "tx",
		Category: "Queue",
		Usage:    "many verbs in one process and one commit, all or nothing",
		May:      store.Anybody,
		Description: "Reads verbs as they are written behind placectl, one a line, from standard input or a file; quotes and # for\n" +
			"comments work as in a shell, nothing is expanded. Each verb sees what those before it have done. If one fails\n" +
			"nothing of all is kept, and the exit status is that verb's. Answers are printed after the commit, as each\n" +
			"verb's alone; in JSON a list of {\"line\", \"verb\", \"result\"}.",
		Flags:    []cli.Flag{&cli.StringFlag{Name: "file", Aliases: []string{"f"}, Usage: "read `FILE`, - for standard input", Value: "-"}},
		Access:   verbs.Writes,
		Alone:    true,
		Statuses: []int{exit.NotNow, exit.Never},
		Example:  "printf '%s\\n' 'release 12' 'place 4:ncpus=8 -t 1h' | placectl tx -o json\nplacectl tx -f nightly.placectl",
		Run:      (*runner).transaction,
	}
}

func (r *runner) transaction(c *cli.Context) error {
	name := c.String("file")
	in, err := r.input(name)
	if err != nil {
		return err
	}
	text, err := infile.ReadAll(in)
	in.Close()
	if err != nil {
		return err
	}
	if name == "-" {
		name = "standard input"
	}
	return r.update(c, func(tx *store.Tx) error {
		n := 0
		var answers []lineAnswer
		for line := range strings.Lines(string(text)) {
			n++
			answer, err := r.lineOf(tx, n, strings.TrimRight(line, "\r\n"))
			if err != nil {
				return fmt.Errorf("%v: %w; nothing was changed", infile.Position{File: name, Line: n}, err)
			}
			if answer != nil {
				answers = append(answers, *answer)
			}
		}
		if r.rec != nil && len(answers) > 0 {
			return nil // they are recorded, each by itself
		}
		return r.inForms(func(f output.Format) bool { return len(answers) > 0 || f == output.JSON }, func() error { return r.printLines(answers) })
	})
}

// lineAnswer is the answer of the verb of a line.
type lineAnswer struct {
	number int
	verb   string
	answer []byte
}

// lineFormat is the form of the answer of a line in a whole of a form.
func lineFormat(whole output.Format) output.Format {
	if whole == output.JSONL {
		return output.JSON
	}
	return whole
}

// lineOf runs the verb of a line within the transaction; its answer is nil if there is no verb.
func (r *runner) lineOf(tx *store.Tx, number int, line string) (*lineAnswer, error) {
	words, err := text.SplitWords(line)
	if err != nil {
		return nil, usage.Of("", "%w", err)
	}
	if len(words) > 0 && words[0] == "placectl" {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil, nil
	}
	var out bytes.Buffer
	e := r.env
	e.args, e.stdout, e.stdin = words, &out, strings.NewReader("")
	rec := new(keyed.Recording)
	if r.rec != nil {
		e.stdout = rec
	}
	sub := r.below(e)
	inv, err := sub.verbs.Parse(words)
	switch {
	case err != nil:
		return nil, err
	case inv.Help || !inv.Leaf().CanJoin():
		return nil, usage.Of("tx", "%s cannot be part of a transaction", text.Quoted(strings.Join(words, " ")))
	case len(inv.Globals) > 0:
		return nil, usage.Of("tx", "%s is for all of the transaction: put it behind placectl tx", inv.Globals[0].Flag.Shown())
	}
	sub.Globals, sub.tx, sub.dry = r.Globals, tx, r.dry
	sub.Output = lineFormat(r.Output)
	if r.rec != nil {
		sub.rec = rec
		defer func() { r.rec.Add(keyed.Part{Line: rec, Number: number, Verb: inv.Verb()}) }()
	}
	if err := sub.exec(inv); err != nil {
		return nil, err
	}
	return &lineAnswer{number: number, verb: inv.Verb(), answer: out.Bytes()}, nil
}

// below is a runner for a line: verbs that were declared for one are there for the next.
func (r *runner) below(e env) *runner {
	out := &process.Answers{Writer: e.stdout}
	e.stdout = out
	return &runner{env: e, ctx: r.ctx, stop: r.stop, answers: out, notes: r.notes, verbs: r.verbs, dash: -1, inLogs: r.inLogs}
}

// printLines prints the answers of the lines: one after the other, in JSON a list, with the number
// of its line and the verb beside each.
func (r *runner) printLines(answers []lineAnswer) error {
	if !r.audience().Document {
		for _, a := range answers {
			if _, err := r.stdout.Write(a.answer); err != nil {
				return err
			}
		}
		return nil
	}
	p := r.printer(output.Result{Columns: []output.Column{{Name: "line", Kind: output.Integer, Required: true}, {Name: "verb", Required: true}, {Name: "result", Kind: output.Object}}})
	for _, a := range answers {
		var flat bytes.Buffer
		if json.Compact(&flat, a.answer) != nil || flat.Len() == 0 {
			flat.Reset()
		}
		p.Row(a.number, a.verb, json.RawMessage(flat.Bytes()))
	}
	return p.Close()
}
