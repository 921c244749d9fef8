package main

import (
	"io"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/forward"
	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"github.com/placectl/placectl/cmd/placectl/internal/localorder"
	"github.com/placectl/placectl/cmd/placectl/internal/request"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// verb and invocation are those whose runs this command makes.
type (
	verb       = verbs.Verb[*runner]
	invocation = verbs.Invocation[*runner]
)

// do does what the verb does.
func (r *runner) do(v *verb, c *cli.Context) error {
	inTx := func(tx *store.Tx) error { return v.InTx(r, tx, c) }
	switch {
	case v.InTx == nil:
		return v.Run(r, c)
	case v.Access == verbs.Writes:
		return r.update(c, inTx)
	}
	return r.view(inTx)
}

// overSSH reports whether the database is reached over ssh.
func (r *runner) overSSH() bool { return strings.HasPrefix(r.DB, store.URLScheme) }

// forward has a verb executed where the database lies.
func (r *runner) forward(v *verb, inv invocation, c *cli.Context) error {
	host, path, err := store.SplitURL(r.DB)
	if err != nil {
		return usagef("--db: %w", err)
	}
	reads, err := forward.Check(v, inv)
	if err != nil {
		return err
	}
	var in io.Reader // who reads nothing leaves it to others: a loop in a shell reads its lines there
	if reads {
		in = r.stdin
	}
	if v.Carry != nil {
		if inv, in, err = v.Carry(r, inv, c, in); err != nil {
			return err
		}
	}
	ssh, err := launch.FindSSH()
	if err != nil {
		return err
	}
	changes := (v.Access == verbs.Writes || v.Access == verbs.Makes) && !c.Bool(verbs.DryRun)
	var nonce *store.Nonce
	if changes {
		drawn := drawNonce()
		nonce = &drawn
	}
	complaint := forward.NewComplaint(r.stderr, nonce)
	status, err := ssh.Run(r.ctx, host, forward.Words(path, inv, r.surroundings(), nonce), in, r.stdout, complaint)
	complaint.Flush()
	if status == exit.OK && (err == nil || r.answers.Err != nil) {
		r.changed = changes
		return nil // delivered says what is lost
	}
	return complaint.Outcome(status, err, changes)
}

// printHelp answers help: of the verb of inv, or of all where it has none.
func (r *runner) printHelp(inv invocation) error {
	p := verbs.NewPage(r.audience().width)
	if v := inv.Leaf(); v == nil {
		if inv.All {
			r.verbs.HelpAll(p)
		} else {
			r.verbs.Help(p)
		}
	} else {
		r.verbs.HelpOf(v, p, inv.Verb(), inv.All)
	}
	_, err := io.WriteString(r.stdout, p.String())
	return err
}

// briefly shows who has named a noun alone what there is of it; programs have the error.
func (r *runner) briefly(inv invocation) {
	if v := inv.Leaf(); v != nil && !v.Runs() && len(inv.Args) == 0 && len(v.Verbs) > 0 && !r.audience().Document && !r.Quiet {
		p := verbs.NewPage(r.audience().width)
		r.verbs.BriefOf(v, p, inv.Verb())
		io.WriteString(r.stderr, p.String()+"\n") //nolint:errcheck // the error comes behind it
	}
}

// time reads a flag's value as an instant; the zero time when it is not given.
func (r *runner) time(c *cli.Context, flag string) (time.Time, error) {
	s := c.String(flag)
	if s == "" && !c.IsSet(flag) {
		return time.Time{}, nil
	}
	t, err := text.ParseTime(s, r.now(), r.loc)
	if err != nil {
		return time.Time{}, usagef("%s: %w", verbs.Dashed(flag), err)
	}
	return t, nil
}

// duration reads a flag's value as a duration; 0 when it is not given.
func (r *runner) duration(c *cli.Context, flag string) (time.Duration, error) {
	s := c.String(flag)
	if s == "" && !c.IsSet(flag) {
		return 0, nil
	}
	d, err := text.ParseDuration(s)
	if err != nil {
		return 0, usagef("%s: %w", verbs.Dashed(flag), err)
	}
	return d, nil
}

// request reads what is to be placed; for the user who asks, unless it says for whom.
func (r *runner) request(c *cli.Context, args []string) (placer.Request, error) {
	q, err := request.Read(c, args)
	if q.User == "" {
		q.User = r.self()
	}
	return q, err
}

// ordered runs fn, which must call localorder.Wanted when it has a transaction, and once more
// when the site's own program was to be asked first.
func (r *runner) ordered(q *placer.Request, fn func() error) error {
	return (&localorder.Asker{Open: r.open, Distrusts: r.distrusts, Note: r.notef}).Ordered(r.ctx, q, fn)
}
