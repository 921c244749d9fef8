package directives

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/internal/text"
)

// Declared is an option of qsub or sbatch.
type Declared struct {
	Short    byte   // 0: none
	Long     string // "": none
	Value    bool   // it has a value
	Attached bool   // the value is attached, or there is none
}

// Declared returns the options of a family's command.
func (f Family) Declared() []Declared {
	set := f.options()
	list := make([]Declared, len(set.list))
	for i, o := range set.list {
		list[i] = Declared{o.short, o.long, o.takes != never, o.takes == attached}
	}
	return list
}

// missing are the options of sbatch that Slurm's other commands do not know in 22.05, with their
// answers. For example, an array is one of batch scripts: srun runs its command once.
var missing = map[string]string{
	"srun": "array batch export-file get-user-env ignore-pbs kill-on-invalid-dep no-requeue parsable requeue " +
		"wait-all-nodes wrap",
	"salloc": "array batch error export export-file ignore-pbs input kill-on-invalid-dep no-requeue open-mode output " +
		"parsable propagate requeue test-only wrap",
}

// DeclaredFor returns the options of sbatch that another command of Slurm also has.
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

// Given is an option of a command line: its long name, or its letter if it has none.
type Given struct{ Name, Value string }

// Shown returns the option as people write it.
func (g Given) Shown() string {
	if len(g.Name) == 1 {
		return "-" + g.Name
	}
	return "--" + g.Name
}

// OptionError says which option was refused.
type OptionError struct {
	Option string // as written
	Err    error
}

func (e *OptionError) Error() string { return e.Option + ": " + e.Err.Error() }

func (e *OptionError) Unwrap() error { return e.Err }

// readGiven reads the options of the command line. They override the same options in the script, and
// are combined with the others.
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

// submitted checks that a submission with one family's command does not request the other family's
// lines.
func (o *Options) submitted() error {
	if o.Submits != None && o.Choose == "" {
		o.Choose = string(o.Submits)
	}
	if o.Submits == None && len(o.Given) > 0 {
		return fmt.Errorf("%w: options of a command line for an unknown command", infile.ErrInput)
	}
	return nil
}
