// Package directives reads what a job script asks for in the lines in front of its
// first command: #placectl lines, which are flags of submit, and the #PBS and #SBATCH
// lines of scripts that were written for qsub and sbatch. What they ask for comes out
// as flags of submit, so that nothing behind it has to know where a flag was written.
//
// Every option of qsub and sbatch is in a list (optionsPBS, optionsSlurm): it is
// mapped, ignored with a note, or refused with the reason. Nothing is half-read: a
// script with a line that is not understood, or that cannot be kept to here, gives
// errors with line and option, and nothing else. Among lines the last one wins; lists
// (dependencies, pools, variables, addresses) add up.
//
// The package knows no store and no verb, opens no file and looks at no clock: what is
// declared, which flags submit has and what time it is, Options say.
package directives

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/index"
)

// Family is whose options a script uses besides ours. It decides which variables its
// job finds in the environment, and where its output goes by default.
type Family string

// The families. None: the script has #placectl lines alone, or no lines at all.
const (
	None  Family = ""
	PBS   Family = "pbs"
	Slurm Family = "slurm"
)

// DefaultOut is where the output of a job goes whose script and submitter say nothing:
// for Slurm as sbatch has it, "" if the default is ours.
func (f Family) DefaultOut(array bool) string {
	switch {
	case f != Slurm:
		return ""
	case array:
		return "slurm-%A_%a.out"
	}
	return "slurm-%j.out"
}

// Options say what the reader cannot know by itself. With the zero value there are no
// pools, no classes and no resources but the built-in ones, #placectl lines have no
// flags, and an array has no jobs.
type Options struct {
	// Choose is which lines count besides #placectl: pbs, slurm or none. "" takes
	// those there are, and refuses a script that has both.
	Choose string
	// Lax makes a note of an option that qsub or sbatch do not have. What they have,
	// and placectl cannot do, is refused all the same.
	Lax bool
	// Own are the flags that a #placectl line may have.
	Own []OwnFlag

	Host     string         // the name of this host, for paths written host:path
	Now      time.Time      // for times of day
	Zone     *time.Location // whose clocks show them; nil is UTC
	MaxArray int            // jobs of an array

	Resource func(name string) bool // declared; nil: the built-in ones
	Pool     func(name string) bool // an amount of the whole cluster
	Class    func(name string) bool

	// Submits is whose command submits the script, with the options Given: they count as
	// lines behind those of the script would. None: neither qsub nor sbatch.
	Submits Family
	Given   []Given
	Server  string // of PBS: what stands behind the number of a job

	// Choice is what to take where sbatch's options leave a choice; the zero value is the first.
	Choice Choice

	// ReadFile reads the file of sbatch's --nodefile. Without it the option is refused.
	ReadFile func(name string) ([]byte, error)
}

// OwnFlag is a flag of submit.
type OwnFlag struct {
	Names  []string // without dashes, the first is what Flag.Name will be
	Switch bool     // on or off
	List   bool     // may be given several times, and all count
}

// Submission is what the lines of a script ask for.
type Submission struct {
	// Flags are flags of submit, in the order of the lines: each name once, except for lists. The
	// request is under select and place.
	Flags []Flag
	// Family is whose lines there were, if they counted.
	Family Family
	// Interpreter runs the script instead of what its #! line names; "" if nothing
	// was said.
	Interpreter string
	// Variables are those of Slurm that only the lines tell, as NAME=VALUE: how many
	// cpus a task and how much memory was asked for.
	Variables []string
	// Choices are what the options of sbatch leave open, if that is more than one, the one to be
	// preferred first.
	Choices []Choice
	Joined  bool // by PBS: both streams go to one file; else the default is a file each
	Notes   []Note
}

// Choice is what sbatch decides when it places a job, and is decided here when one is submitted:
// how many nodes, of a range or where only amounts of a node are asked for, and which of several
// partitions.
type Choice struct {
	Nodes     int64  // 0: the least
	Partition string // "": the first
}

// Flag is a flag of submit, and where in the script it comes from.
type Flag struct {
	Name, Value string
	Switch      bool // the flag is on; it has no value
	At          infile.Position
}

// Word is the flag as an argument of submit.
func (f Flag) Word() string {
	if f.Switch {
		return "--" + f.Name
	}
	return "--" + f.Name + "=" + f.Value
}

// Words are the flags as arguments of submit.
func (s Submission) Words() []string {
	words := make([]string, len(s.Flags))
	for i, f := range s.Flags {
		words[i] = f.Word()
	}
	return words
}

// Note says of an option that it counts for nothing here, or not as it was written.
type Note struct {
	infile.Position
	Option, Text string
}

func (n Note) String() string { return n.Position.String() + ": " + n.Option + ": " + n.Text }

// maxErrors bounds how many errors of one script are told.
const maxErrors = 20

// Read reads the directives of a script. The error joins an *infile.Error for each
// line or option that is refused; then the Submission is empty.
func Read(text infile.Text, o Options) (Submission, error) {
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.Resource == nil {
		builtin := index.NewDefs()
		o.Resource = func(name string) bool { _, ok := builtin.Lookup(name); return ok }
	}
	if err := o.submitted(); err != nil {
		return Submission{}, err
	}
	r := &reader{text: &text, o: o}
	lines, err := r.lines()
	if err != nil {
		return Submission{}, err
	}
	for _, l := range lines {
		r.read(l)
	}
	if o.Submits != None {
		r.Family = o.Submits
		r.readGiven()
	}
	if len(r.errs) == 0 {
		r.finish()
	}
	if len(r.errs) > 0 {
		return Submission{}, r.failed()
	}
	byPlace := func(a, b infile.Position) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	}
	slices.SortStableFunc(r.Flags, func(a, b Flag) int { return byPlace(a.At, b.At) })
	slices.SortStableFunc(r.Notes, func(a, b Note) int { return byPlace(a.Position, b.Position) })
	return r.Submission, nil
}

// failed joins the errors, in the order of lines.
func (r *reader) failed() error {
	slices.SortStableFunc(r.errs, func(a, b *infile.Error) int { return cmp.Compare(a.Line, b.Line) })
	if len(r.errs) == 1 {
		return r.errs[0]
	}
	var list []error
	for i, err := range r.errs {
		if i == maxErrors {
			list = append(list, fmt.Errorf("and %d more", len(r.errs)-i))
			break
		}
		list = append(list, err)
	}
	return errors.Join(list...)
}
