package main

import (
	"slices"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// verb declares a verb: all that reading its command line, its help, completion and
// placectl tx know of it. A verb that has others below it is a group, as node is; it
// may do something itself all the same.
type verb struct {
	Name        string
	Category    string // under which help lists it; a verb below another has none
	Usage       string // what it is for, in a line
	Args        []arg  // in their order
	Description string
	Flags       []cli.Flag // without --dry-run and --key, which verbs that write have
	Exclusive   []string   // flags of which one at most is given: "at or-reserve wait"
	Access      access
	Alone       bool   // it goes on for a while, or takes several transactions: it cannot be part of one
	Statuses    []int  // exit statuses beside those that its access brings
	Example     string // command lines, one a line
	Hidden      bool
	Passes      bool // its exit status is that of a command that it runs: its own are greater by exit.Own
	Unkeyed     bool // it writes, and takes no --key: what it does cannot be repeated
	Verbs       []*verb

	// What it does: Run, or for a verb that is one transaction from its first word to
	// its answer InTx, in a transaction such as its access asks for.
	Run  func(*runner, *cli.Context) error
	InTx func(*runner, *store.Tx, *cli.Context) error
	// Used answers for a key that an older version has used for jobs; nil: it is refused.
	Used func(*runner, *store.Tx, *cli.Context, []*store.Job) error
}

// access is what a verb does to a database. It brings --dry-run, some exit statuses,
// and whether the verb can be part of a transaction.
type access int

const (
	noDatabase access = iota
	reads
	writes
	makes // a new database
)

var accessStatuses = [...][]int{
	reads:  {exit.NotFound, exit.Locked, exit.Damaged},
	writes: {exit.NotFound, exit.Locked, exit.Conflict, exit.Damaged, exit.Unknown, exit.Lost},
	makes:  {exit.Conflict, exit.Damaged, exit.Unknown, exit.Lost},
}

// made gives a verb, and those below it, what their declarations bring along.
func (v *verb) made() *verb {
	if v.Access == writes || v.Access == makes {
		v.Flags = append(v.Flags, dryRunFlag())
		if !v.Unkeyed {
			v.Flags = append(v.Flags, keyFlag())
		}
	}
	for _, sub := range v.Verbs {
		sub.made()
	}
	return v
}

// runs reports whether the verb does something by itself.
func (v *verb) runs() bool { return v.Run != nil || v.InTx != nil }

// do does what the verb does.
func (v *verb) do(r *runner, c *cli.Context) error {
	inTx := func(tx *store.Tx) error { return v.InTx(r, tx, c) }
	switch {
	case v.InTx == nil:
		return v.Run(r, c)
	case v.Access == writes:
		return r.update(c, inTx)
	}
	return r.view(inTx)
}

// statuses are the exit statuses beside 0, 1, 2, 70 and 130, or beside 0 and 130 where the
// verb passes on those of a command; those of a group are those of its verbs.
func (v *verb) statuses() []int {
	all := slices.Concat(accessStatuses[v.Access], v.Statuses)
	if !v.runs() {
		for _, sub := range v.Verbs {
			all = append(all, sub.statuses()...)
		}
	}
	if v.Passes {
		all = append(all, exit.Failed, exit.Usage, exit.Crash)
		for i := range all {
			all[i] += exit.Own
		}
	}
	return all
}

// canJoin reports whether the verb can be part of a transaction.
func (v *verb) canJoin() bool { return !v.Alone && (v.Access == reads || v.Access == writes) }
