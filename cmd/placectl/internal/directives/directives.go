// Package directives reads what a job script requests in the lines before its first command: #placectl
// lines, which are flags of submit, and the #PBS and #SBATCH lines of scripts written for qsub and
// sbatch. The result is flags of submit. So later code need not know where a flag was written.
//
// Every option of qsub and sbatch is in a list (optionsPBS, optionsSlurm): it is mapped, ignored with a
// note, or refused with a reason. Nothing is half-read. If a script has a line that placectl does not
// understand or cannot honour, the result is errors with line and option, and nothing else. The last of
// several lines wins. Lists (dependencies, pools, variables, addresses) add up.
//
// The package knows no store and no verb, opens no file and reads no clock. Options provides what is
// declared, the flags of submit, and the time.
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

// Family says whose options a script uses besides ours. It determines which variables its job finds in
// the environment, and where its output goes by default.
type Family string

// The families. None means that the script has only #placectl lines, or no lines at all.
const (
	None  Family = ""
	PBS   Family = "pbs"
	Slurm Family = "slurm"
)

// FamilyWords are the values of --directives and --compat.
var FamilyWords = []string{string(PBS), string(Slurm), "none"}

// DefaultOut returns where the output of a job goes by default: sbatch's default for Slurm, or "" for
// our own.
func (f Family) DefaultOut(array bool) string {
	switch {
	case f != Slurm:
		return ""
	case array:
		return "slurm-%A_%a.out"
	}
	return "slurm-%j.out"
}

// Options is what the reader cannot know by itself. With the zero value there are only the built-in
// resources, no pools and no classes, #placectl lines have no flags, and an array has no jobs.
type Options struct {
	// Choose says which lines count besides #placectl: pbs, slurm or none. "" takes those that the
	// script has, and refuses a script with both.
	Choose string
	// Lax turns unknown options of qsub or sbatch into notes. Options that they have and placectl
	// cannot honour are still refused.
	Lax bool
	// Own lists the flags that a #placectl line may have.
	Own []OwnFlag

	Host     string         // the name of this host, for paths written host:path
	Now      time.Time      // for times of day
	Zone     *time.Location // the zone of times; nil is UTC
	MaxArray int            // greatest number of jobs in an array

	Resource func(name string) bool // reports whether it is declared; nil: only built-in ones are
	Pool     func(name string) bool // reports whether it is an amount of the whole cluster
	Class    func(name string) bool

	// Submits says whose command submits the script, with the options Given. They count as further
	// lines at the end of the script. None means neither qsub nor sbatch.
	Submits Family
	Given   []Given
	Server  string // follows job numbers in PBS

	// Choice says what to take if sbatch's options leave a choice. The zero value is the first.
	Choice Choice

	// ReadFile reads the file of sbatch's --nodefile. If it is nil, that option is refused.
	ReadFile func(name string) ([]byte, error)
}

// OwnFlag is a flag of submit.
type OwnFlag struct {
	Names  []string // without dashes; Flag.Name is the first
	Switch bool     // on or off
	List   bool     // it may be repeated, and all values count
}

// Submission is what the lines of a script request.
type Submission struct {
	// Flags are flags of submit in the order of the lines, each name once except for lists. The
	// request is under select and place.
	Flags []Flag
	// Family says whose lines there are, if they counted.
	Family Family
	// Interpreter runs the script instead of the one in its #! line. It is "" if none was given.
	Interpreter string
	// Variables are variables of Slurm that only the lines determine, as NAME=VALUE: the requested
	// cpus per task and memory.
	Variables []string
	// Choices are the alternatives that sbatch's options leave open, if there are several. The
	// preferred one comes first.
	Choices []Choice
	Joined  bool // both streams go to one file, as in PBS; otherwise each has its own by default
	Notes   []Note
}

// Choice is what sbatch decides when it places a job, and placectl at submission. It is the number of
// nodes, if a range or only amounts of a node are given, and which of several partitions.
type Choice struct {
	Nodes     int64  // 0: the least
	Partition string // "": the first
}

// Flag is a flag of submit, and its position in the script.
type Flag struct {
	Name, Value string
	Switch      bool // the flag is on; it has no value
	At          infile.Position
}

// Word returns the flag as an argument of submit.
func (f Flag) Word() string {
	if f.Switch {
		return "--" + f.Name
	}
	return "--" + f.Name + "=" + f.Value
}

// Note says that an option has no effect here, or another effect than written.
type Note struct {
	infile.Position
	Option, Text string
}

func (n Note) String() string { return n.Position.String() + ": " + n.Option + ": " + n.Text }

// maxErrors bounds the errors reported for one script.
const maxErrors = 20

// Read reads the directives of a script. If lines or options are refused, the error joins an
// *infile.Error for each, and the Submission is empty.
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

// failed joins the errors in the order of lines.
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
