// Package verbs is the language of the command line. It defines how verbs are declared: their
// arguments, their flags, and what they do to a database. From the declarations it reads command
// lines, and makes help and completion. It knows no particular verb. R is what a verb runs with.
package verbs

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

// Verb declares a verb: everything that parsing, help, completion and placectl tx need. A verb with
// others below it is a group, such as node. A group may also do something itself.
type Verb[R any] struct {
	Name        string
	Category    string // the title under which help lists it; empty for a verb below another
	Usage       string // its purpose, in a line
	Args        []Arg  // in order
	Description string
	Flags       []cli.Flag              // without --dry-run and --key, which all verbs that write have
	Exclusive   []string                // flags that exclude each other: "at or-reserve wait"
	May         engine.Right            // the right it takes; flags may take a higher one
	Takes       map[string]engine.Right // by flag
	Access      Access
	Follows     []string       // flags of what follows the commit: they are no part of a request with a key
	Alone       bool           // it takes long, or several transactions: it cannot be part of one
	Statuses    map[int]string // exit statuses besides those that Access implies, in the verb's words; "": in the usual
	Example     string         // command lines, one a line
	Hidden      bool
	Command     bool   // a command follows its first argument, flags and all, also without --
	Passes      bool   // its exit status is that of a command it runs: its own failures add exit.Own
	Raw         bool   // all words behind its name are arguments, whatever they look like
	Brief       bool   // it reads few rows, however large the database
	Asks        bool   // it writes, but what it prints is what it was asked for: -q leaves that
	Thinks      bool   // its transactions may take long: readers of a file go on meanwhile
	Unkeyed     bool   // it writes, but takes no --key: it cannot be repeated
	Stays       string // why it leaves no attendant behind though it writes; "": it does leave one
	Waits       bool   // it waits for jobs, which are of one database
	Revives     bool   // it only reads, but starts an attendant if none runs
	Verbs       []*Verb[R]

	// What the verb does: Run, or InTx for a verb that is one transaction from its first word to
	// its answer. Access determines the kind of transaction.
	Run  func(R, *cli.Context) error
	InTx func(R, *engine.Tx, *cli.Context) error
	// Carry turns an invocation into the one to execute on the database's host. What that host
	// lacks is sent along in its input. nil means that nothing need be sent.
	Carry func(r R, inv Invocation[R], c *cli.Context, in io.Reader) (Invocation[R], io.Reader, error)
}

// Access is what a verb does to a database. It determines whether the verb has --dry-run, some of
// its exit statuses, and whether it can be part of a transaction.
type Access int

const (
	NoDatabase Access = iota
	Reads
	Writes
	Makes // a new database
)

var accessStatuses = [...][]int{
	Reads:  {exit.NotFound, exit.Locked, exit.Damaged},
	Writes: {exit.NotFound, exit.Locked, exit.Conflict, exit.Damaged, exit.Unknown, exit.Lost},
	Makes:  {exit.Conflict, exit.Damaged, exit.Unknown, exit.Lost},
}

// made completes a verb, and those below it, with what their declarations imply.
func (v *Verb[R]) made() *Verb[R] {
	if (v.Access == Writes || v.Access == Makes) && !v.Raw {
		v.Flags = append(v.Flags, DryRunFlag())
		if !v.Unkeyed {
			v.Flags = append(v.Flags, KeyFlag())
		}
	}
	for _, f := range v.Flags {
		if list, ok := f.(*cli.StringSliceFlag); ok {
			list.KeepSpace = true
		}
	}
	for _, sub := range v.Verbs {
		sub.made()
	}
	return v
}

// The flags of verbs that write.
const (
	DryRun = "dry-run"
	Key    = "key"
	Repair = "repair" // of check, which only reads without it
)

// DryRunFlag returns --dry-run for a verb that writes but is not declared to, such as upgrade.
func DryRunFlag() cli.Flag {
	return &cli.BoolFlag{Name: DryRun, Usage: "show the answer, change nothing"}
}

// KeyFlag returns --key for a verb that writes but is not declared to: check with --repair.
func KeyFlag() cli.Flag {
	return &cli.StringFlag{Name: Key, Usage: "idempotency `KEY`: a repetition repeats the answer"}
}

// Entry is a verb that is made only on demand: making all of them would be a tenth of the
// process's start-up time.
type Entry[R any] struct {
	Name string // the verb's own
	Make func() *Verb[R]
	Day  int      // its position among the everyday verbs, from 1; 0: not one of them
	Like string   // its names elsewhere: sbatch qsub; with = the verb below it: squeue=list
	made *Verb[R] // set once a command line has named it
}

// Verb makes the verb, completed with what its declaration implies.
func (e Entry[R]) Verb() *Verb[R] { return e.Make().made() }

// List holds every verb, in the order of help.
type List[R any] []Entry[R]

// find makes the verb of that name, nil if there is none.
func (l List[R]) find(name string) *Verb[R] {
	for i := range l {
		if e := &l[i]; e.Name == name {
			if e.made == nil {
				e.made = e.Verb()
			}
			return e.made
		}
	}
	return nil
}

// unlike returns the verb that other programs call word, or "" if unknown.
func (l List[R]) unlike(word string) string {
	for _, e := range l {
		for like := range strings.FieldsSeq(e.Like) {
			if like, below, _ := strings.Cut(like, "="); like == word {
				return strings.TrimSpace(e.Name + " " + below)
			}
		}
	}
	return ""
}

// Runs reports whether the verb does something by itself.
func (v *Verb[R]) Runs() bool { return v.Run != nil || v.InTx != nil }

// AllStatuses returns the exit statuses besides 0, 1, 2, 70 and 130. If the verb passes on a
// command's status, they are those besides 0 and 130. A group has those of its verbs.
func (v *Verb[R]) AllStatuses() []int {
	all := slices.AppendSeq(slices.Clone(accessStatuses[v.Access]), maps.Keys(v.Statuses))
	if !v.Runs() {
		for _, sub := range v.Verbs {
			all = append(all, sub.AllStatuses()...)
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

// Changes reports whether the verb is run for what it changes, not for its answer.
func (v *Verb[R]) Changes() bool {
	has := func(name string) bool {
		return slices.ContainsFunc(v.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
	}
	return has(DryRun) && !v.Asks && !has(Repair)
}

// CanJoin reports whether the verb can be part of a transaction.
func (v *Verb[R]) CanJoin() bool { return !v.Alone && (v.Access == Reads || v.Access == Writes) }
