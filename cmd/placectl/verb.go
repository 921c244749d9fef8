package main

import (
	"slices"

	"github.com/urfave/cli/v2"
)

// verb declares a verb: all that reading its command line, its help, completion and
// placectl tx know of it. A verb that has others below it is a group, as node is; it
// may have a Run of its own all the same.
type verb struct {
	Name        string
	Category    string // under which help lists it; a verb below another has none
	Usage       string // what it is for, in a line
	Args        []arg  // in their order
	Description string
	Flags       []cli.Flag // without --dry-run, which every verb that writes has
	Access      access
	Alone       bool   // it goes on for a while, or takes several transactions: it cannot be part of one
	Statuses    []int  // exit statuses beside those that its access brings
	Example     string // command lines, one a line
	Hidden      bool
	Verbs       []*verb
	Run         func(*runner, *cli.Context) error
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
	reads:  {exitNotFound, exitLocked, exitDamaged},
	writes: {exitNotFound, exitLocked, exitConflict, exitDamaged, exitUnknown},
	makes:  {exitConflict, exitDamaged},
}

// made gives a verb, and those below it, what their declarations bring along.
func (v *verb) made() *verb {
	if v.Access == writes || v.Access == makes {
		v.Flags = append(v.Flags, dryRunFlag())
	}
	for _, sub := range v.Verbs {
		sub.made()
	}
	return v
}

// statuses are the exit statuses beside 0, 1, 2 and 130; those of a group are those of
// its verbs.
func (v *verb) statuses() []int {
	all := slices.Concat(accessStatuses[v.Access], v.Statuses)
	if v.Run == nil {
		for _, sub := range v.Verbs {
			all = append(all, sub.statuses()...)
		}
	}
	return all
}

// canJoin reports whether the verb can be part of a transaction.
func (v *verb) canJoin() bool { return !v.Alone && (v.Access == reads || v.Access == writes) }
