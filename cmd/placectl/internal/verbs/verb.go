// Package verbs is the language of the command line: how verbs are declared, with their
// arguments, flags and what they do to a database, and all that comes of declarations:
// reading command lines, help, completion. It knows no verb. R is what a verb runs with.
package verbs

import (
	"io"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// Verb declares a verb: all that reading its command line, its help, completion and
// placectl tx know of it. A verb that has others below it is a group, as node is; it
// may do something itself all the same.
type Verb[R any] struct {
	Name        string
	Category    string // under which help lists it; a verb below another has none
	Usage       string // its purpose, in a line
	Args        []Arg  // in their order
	Description string
	Flags       []cli.Flag             // without --dry-run and --key, which verbs that write have
	Exclusive   []string               // flags that exclude each other: "at or-reserve wait"
	May         store.Right            // the right that it takes; flags may take more
	Takes       map[string]store.Right // by flag
	Access      Access
	Alone       bool   // it goes on for a while, or takes several transactions: it cannot be part of one
	Statuses    []int  // exit statuses beside those that its access brings
	Example     string // command lines, one a line
	Hidden      bool
	Command     bool   // a command follows its first argument, flags and all, also without --
	Passes      bool   // its exit status is that of a command that it runs: its own are greater by exit.Own
	Raw         bool   // all words behind its name are arguments, whatever they look like
	Whole       bool   // its Run reads its input, makes one transaction, and does nothing else
	Brief       bool   // it sees a few rows of a database, however large that is
	Thinks      bool   // its transactions may take long: readers of a file go on meanwhile
	Unkeyed     bool   // it writes, and takes no --key: what it does cannot be repeated
	Stays       string // why it leaves no process behind that looks after the queue, though it writes; "": it does
	Revives     bool   // it only reads, and leaves one behind all the same where there is none
	Verbs       []*Verb[R]

	// What it does: Run, or for a verb that is one transaction from its first word to
	// its answer InTx, in a transaction such as its access asks for.
	Run  func(R, *cli.Context) error
	InTx func(R, *store.Tx, *cli.Context) error
	// Used answers for a key that an older version has used for jobs; nil: it is refused.
	Used func(R, *store.Tx, *cli.Context, []*store.Job) error
	// Carry makes of an invocation what is executed on the host of the database: what that host
	// lacks goes along in its input. nil: nothing has to.
	Carry func(r R, inv Invocation[R], c *cli.Context, in io.Reader) (Invocation[R], io.Reader, error)
}

// Access is what a verb does to a database. It brings --dry-run, some exit statuses,
// and whether the verb can be part of a transaction.
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

// made gives a verb, and those below it, what their declarations bring along.
func (v *Verb[R]) made() *Verb[R] {
	if (v.Access == Writes || v.Access == Makes) && !v.Raw {
		v.Flags = append(v.Flags, dryRunFlag())
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

// Flags that verbs which write have.
const (
	DryRun = "dry-run"
	Key    = "key"
)

func dryRunFlag() cli.Flag {
	return &cli.BoolFlag{Name: DryRun, Usage: "show the answer, change nothing"}
}

// KeyFlag is --key, for a verb that writes and is not declared to: check with --repair.
func KeyFlag() cli.Flag {
	return &cli.StringFlag{Name: Key, Usage: "idempotency `KEY`: a repetition repeats the answer"}
}

// Entry is a verb that is made only when it is asked for: making them all would be a
// tenth of the time that a process takes to start.
type Entry[R any] struct {
	Name string // the verb's own
	Make func() *Verb[R]
	Day  int      // its place among the verbs of every day, from 1; 0: it is none of them
	Like string   // its names elsewhere: sbatch qsub; with the verb below it that they mean: squeue=list
	made *Verb[R] // once a command line has named it
}

// Verb makes the verb, with what its declaration brings along.
func (e Entry[R]) Verb() *Verb[R] { return e.Make().made() }

// List is every verb, in the order in which help shows them.
type List[R any] []Entry[R]

// find makes the verb of that name, nil when there is none.
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

// unlike is the verb that others call by another word, or "" if unknown.
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

// AllStatuses are the exit statuses beside 0, 1, 2, 70 and 130, or beside 0 and 130 where the
// verb passes on those of a command; those of a group are those of its verbs.
func (v *Verb[R]) AllStatuses() []int {
	all := slices.Concat(accessStatuses[v.Access], v.Statuses)
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

// InWords reports whether another process can do all that the verb does: it is one transaction.
func (v *Verb[R]) InWords() bool {
	return v.Access == Writes && v.CanJoin() && (v.InTx != nil || v.Whole)
}

// CanJoin reports whether the verb can be part of a transaction.
func (v *Verb[R]) CanJoin() bool { return !v.Alone && (v.Access == Reads || v.Access == Writes) }
