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
			"verb's alone; with -o json one line each.",
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
		for line := range strings.Lines(string(text)) {
			n++
			if err := r.lineOf(tx, strings.TrimRight(line, "\r\n")); err != nil {
				return fmt.Errorf("%v: %w; nothing was changed", infile.Position{File: name, Line: n}, err)
			}
		}
		return nil
	})
}

// lineOf runs the verb of a line within the transaction.
func (r *runner) lineOf(tx *store.Tx, line string) error {
	words, err := text.SplitWords(line)
	if err != nil {
		return usage.Of("", "%w", err)
	}
	if len(words) > 0 && words[0] == "placectl" {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil
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
		return err
	case inv.Help || !inv.Leaf().CanJoin():
		return usage.Of("tx", "%s cannot be part of a transaction", text.Quoted(strings.Join(words, " ")))
	case len(inv.Globals) > 0:
		return usage.Of("tx", "%s is for all of the transaction: put it behind placectl tx", inv.Globals[0].Flag.Shown())
	}
	sub.Globals, sub.tx = r.Globals, tx
	if r.rec != nil {
		sub.rec = rec
		defer func() { r.rec.Add(keyed.Part{Line: rec}) }()
		return sub.exec(inv)
	}
	if err := sub.exec(inv); err != nil {
		return err
	}
	return r.printLine(out.Bytes())
}

// below is a runner for a line: verbs that were declared for one are there for the next.
func (r *runner) below(e env) *runner {
	out := &process.Answers{Writer: e.stdout}
	e.stdout = out
	return &runner{env: e, ctx: r.ctx, stop: r.stop, answers: out, notes: r.notes, verbs: r.verbs, dash: -1, inLogs: r.inLogs}
}

// printLine prints the answer of a line: as JSON it is one line, too.
func (r *runner) printLine(answer []byte) error {
	if r.Output == output.JSON {
		var flat bytes.Buffer
		if json.Compact(&flat, answer) == nil && flat.Len() > 0 {
			answer = append(flat.Bytes(), '\n')
		}
	}
	_, err := r.stdout.Write(answer)
	return err
}
