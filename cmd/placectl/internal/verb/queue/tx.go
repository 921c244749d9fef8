package queue

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/keyed"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/told"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Tx declares the verb tx.
func Tx() *session.Verb {
	return &session.Verb{
		Name:     "tx",
		Category: "Queue",
		Usage:    "run many verbs in one commit, all or nothing",
		May:      engine.Anybody,
		Description: "Reads verbs from standard input or a file, one a line, as you would write them after placectl. " +
			"Quotes and # for comments work as in a shell; nothing is expanded. Each verb sees the changes of those " +
			"before it, and a name is first that of a job that they have made. If one fails, nothing is kept, and " +
			"the exit status is that verb's. Answers are printed after the commit, as each verb's alone; in JSON a " +
			"list of {\"line\", \"verb\", \"result\"}.\n\nWith --wait it then waits for the jobs that the verbs have " +
			"made, and for no others. The exit status is 0 if all succeeded, 1 if one did not, and 3 at the timeout. " +
			"A job that waited with --afternotok for a failure that did not come has succeeded. Failed jobs are " +
			"listed with the end of their output; with -q that is all that is printed. --key is for the transaction: " +
			"given again, with or without --wait, it makes nothing and waits for the same jobs.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "file", Aliases: []string{"f"}, Value: "-",
				Usage: "read `FILE`, - for standard input"},
			&cli.BoolFlag{Name: "wait", Usage: "wait until the jobs have ended"},
			&cli.StringFlag{Name: "timeout", Usage: "with --wait: wait at most `D`"},
		},
		Access:   verbs.Writes,
		Alone:    true,
		Follows:  []string{"wait", "timeout"},
		Statuses: map[int]string{exit.NotNow: "not now, or timed out", exit.Never: ""},
		Example: "printf '%s\\n' 'release 12' 'place 4:ncpus=8 -t 1h' | placectl tx -o json\nplacectl tx -f " +
			"nightly.placectl --wait --timeout 6h --key night-$(date +%F) -q",
		Run: transaction,
	}
}

func transaction(r *session.Run, c *cli.Context) error {
	if !c.Bool("wait") {
		if c.IsSet("timeout") {
			return usage.Errorf("--timeout is for --wait")
		}
		return commitLines(r, c)
	}
	var timeout time.Duration
	if c.IsSet("timeout") {
		d, err := r.Duration(c, "timeout")
		if err != nil {
			return err
		}
		timeout = d
	}
	if err := commitLines(r, c); err != nil || r.Dry {
		return err
	}
	return r.Follow("wait", func(r *session.Run) error { return awaitMade(r, timeout, c.IsSet("timeout")) })
}

// commitLines runs the verbs of the lines in one transaction, and prints their answers.
func commitLines(r *session.Run, c *cli.Context) error {
	name := c.String("file")
	in, err := r.Input(name)
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
	return r.Update(c, func(tx *engine.Tx) error {
		n := 0
		var answers []session.LineAnswer
		var made []told.Numbers
		for line := range strings.Lines(string(text)) {
			n++
			answer, err := lineOf(r, tx, &made, n, strings.TrimRight(line, "\r\n"))
			if err != nil {
				return fmt.Errorf("%v: %w; nothing was changed", infile.Position{File: name, Line: n}, err)
			}
			if answer != nil {
				answers = append(answers, *answer)
			}
		}
		if len(answers) == 0 {
			r.Loudf("%s has no verb: nothing was done", name)
		}
		if r.Rec != nil && len(answers) > 0 {
			return nil // the lines are recorded, each by itself
		}
		return r.InForms(func(f output.Format) bool { return len(answers) > 0 || f == output.JSON },
			func() error { return r.PrintLines(answers) })
	})
}

// lineOf runs the verb of a line within the transaction, and adds the jobs that it makes to made. Its answer is nil if
// the line has no verb.
func lineOf(r *session.Run, tx *engine.Tx, made *[]told.Numbers, number int, line string) (*session.LineAnswer, error) {
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
	e := r.Env
	e.Args, e.Stdout, e.Stdin = words, &out, strings.NewReader("")
	rec := new(keyed.Recording)
	if r.Rec != nil {
		e.Stdout = rec
	}
	sub := r.Below(e)
	inv, err := sub.Verbs.Parse(words)
	switch {
	case err != nil:
		return nil, err
	case inv.Help || !inv.Leaf().CanJoin():
		return nil, usage.Of("tx", "%s cannot be part of a transaction", text.Quoted(strings.Join(words, " ")))
	case len(inv.Globals) > 0:
		return nil, usage.Of("tx", "%s is for all of the transaction: put it behind placectl tx",
			inv.Globals[0].Flag.Shown())
	}
	sub.Globals, sub.Tx, sub.TxMade, sub.Dry = r.Globals, tx, *made, r.Dry
	sub.Output = session.LineFormat(r.Output)
	if r.Rec != nil {
		sub.Rec = rec
		defer func() { r.Rec.Add(keyed.Part{Line: rec, Number: number, Verb: inv.Verb()}) }()
	}
	next := tx.Jobs().Next()
	if err := sub.Exec(inv); err != nil {
		return nil, err
	}
	if m := sub.Made(tx, next); m.Count > 0 {
		*made = append(*made, m)
	}
	return &session.LineAnswer{Number: number, Verb: inv.Verb(), Answer: out.Bytes()}, nil
}
