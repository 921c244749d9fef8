package main

import (
	"io"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
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

// printHelp answers help: of the verb of inv, or of all where it has none.
func (r *runner) printHelp(inv invocation) error {
	p := verbs.NewPage(r.audience().width)
	if v := inv.Leaf(); v == nil {
		r.verbs.Help(p)
	} else {
		v.Help(p, inv.Verb())
	}
	_, err := io.WriteString(r.stdout, p.String())
	return err
}

// briefly shows who has named a noun alone what there is of it; programs have the error.
func (r *runner) briefly(inv invocation) {
	if v := inv.Leaf(); v != nil && !v.Runs() && len(inv.Args) == 0 && len(v.Verbs) > 0 && !r.audience().Document && !r.Quiet {
		p := verbs.NewPage(r.audience().width)
		v.Brief(p, inv.Verb())
		io.WriteString(r.stderr, p.String()+"\n") //nolint:errcheck // the error comes behind it
	}
}

// time reads a flag's value as an instant; the zero time when it is not given.
func (r *runner) time(c *cli.Context, flag string) (time.Time, error) {
	s := c.String(flag)
	if s == "" && !c.IsSet(flag) {
		return time.Time{}, nil
	}
	t, err := spell.ParseTime(s, r.now(), r.loc)
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
	d, err := spell.ParseDuration(s)
	if err != nil {
		return 0, usagef("%s: %w", verbs.Dashed(flag), err)
	}
	return d, nil
}
