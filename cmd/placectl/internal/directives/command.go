package directives

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/internal/text"
)

// Declared is an option that qsub or sbatch has.
type Declared struct {
	Short    byte   // 0: it has none
	Long     string // "": it has none
	Value    bool   // it has one,
	Attached bool   // attached to it or not at all
}

// Declared are the options of a family's command.
func (f Family) Declared() []Declared {
	set := f.options()
	list := make([]Declared, len(set.list))
	for i, o := range set.list {
		list[i] = Declared{o.short, o.long, o.takes != never, o.takes == attached}
	}
	return list
}

// missing are the options of sbatch that Slurm's other commands do not know, as those of 22.05
// answer. An array, for one, is of a batch script: srun runs its command once.
var missing = map[string]string{
	"srun":   "array batch export-file get-user-env ignore-pbs kill-on-invalid-dep no-requeue parsable requeue wait-all-nodes wrap",
	"salloc": "array batch error export export-file ignore-pbs input kill-on-invalid-dep no-requeue open-mode output parsable propagate requeue test-only wrap",
}

// DeclaredFor are the options of sbatch that another command of Slurm has, too.
func DeclaredFor(command string) []Declared {
	lacks := strings.Fields(missing[command])
	return slices.DeleteFunc(Slurm.Declared(), func(d Declared) bool { return slices.Contains(lacks, d.Long) })
}

func (f Family) options() *optionSet {
	switch f {
	case PBS:
		return optionsQsub()
	case Slurm:
		return optionsSlurm()
	}
	return new(optionSet)
}

// Given is an option of a command line: its long name, or where it has none the letter.
type Given struct{ Name, Value string }

// Shown is the option as people write it.
func (g Given) Shown() string {
	if len(g.Name) == 1 {
		return "-" + g.Name
	}
	return "--" + g.Name
}

// OptionError says which option is refused.
type OptionError struct {
	Option string // as it was written
	Err    error
}

func (e *OptionError) Error() string { return e.Option + ": " + e.Err.Error() }

func (e *OptionError) Unwrap() error { return e.Err }

// readGiven reads the options of the command line. Each goes before what the script says
// of the same, and counts together with what it says of others.
func (r *reader) readGiven() {
	set := r.o.Submits.options()
	for i, g := range r.o.Given {
		r.here = spot{infile.Position{File: "the command line", Line: infile.NoLine, Col: i + 1}, g.Shown()}
		var o *option
		if len(g.Name) == 1 {
			o = set.short(g.Name[0])
		} else {
			o, _ = set.long(g.Name)
		}
		switch {
		case o == nil:
			r.notThere(set, g.Name)
		case unprintable(strings.NewReplacer("\n", "", "\t", "").Replace(g.Value)):
			r.refuse(r.here, "%s cannot be printed", text.Quoted(g.Value))
		default:
			r.option(o, g.Value)
		}
	}
}

// submitted checks that who submits with a command of a family does not ask for the lines
// of another.
func (o *Options) submitted() error {
	if o.Submits != None && o.Choose == "" {
		o.Choose = string(o.Submits)
	}
	if o.Submits == None && len(o.Given) > 0 {
		return fmt.Errorf("%w: options of a command line for an unknown command", infile.ErrInput)
	}
	return nil
}
