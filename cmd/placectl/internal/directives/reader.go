package directives

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/internal/text"
)

// reader is a script being read.
type reader struct {
	text *infile.Text
	o    Options
	here spot // the option being read
	errs []*infile.Error
	Submission

	pbs   pbsOptions   // options that must be combined
	slurm slurmOptions // options that must be combined
	own   spot         // the request of a #placectl line
}

// spot is an option as written, with its position. The zero value is an option that was not given.
type spot struct {
	at     infile.Position
	option string
}

func (s spot) given() bool { return s.option != "" }

// later returns the later one of two spots.
func (s spot) later(t spot) spot {
	if t.at.Line > s.at.Line || t.at.Line == s.at.Line && t.at.Col > s.at.Col {
		return t
	}
	return s
}

// refuse adds an error about an option.
func (r *reader) refuse(s spot, format string, args ...any) {
	r.refuseAs(s, fmt.Errorf(format, args...))
}

func (r *reader) refuseAs(s spot, err error) {
	if s.option != "" {
		err = &OptionError{s.option, err}
	}
	r.errs = append(r.errs, &infile.Error{Position: s.at, Err: err})
}

// unknown refuses an option that the family does not have, or notes it.
func (r *reader) unknown(s spot, err error) {
	if !r.o.Lax {
		r.refuseAs(s, err)
		return
	}
	r.note(s, "left out: "+err.Error())
}

func (r *reader) note(s spot, text string) {
	r.Notes = append(r.Notes, Note{s.at, s.option, text})
}

// set sets a flag's value, which replaces earlier ones.
func (r *reader) set(name, value string) { r.setAt(r.here, name, value) }

func (r *reader) setAt(s spot, name, value string) {
	r.drop(name)
	r.Flags = append(r.Flags, Flag{Name: name, Value: value, At: s.at})
}

// turn turns a switch on or off.
func (r *reader) turn(name string, on bool) {
	r.drop(name)
	if on {
		r.Flags = append(r.Flags, Flag{Name: name, Switch: true, At: r.here.at})
	}
}

// add adds a value to a flag that may be repeated. A value that is already there changes nothing.
func (r *reader) add(name, value string) {
	same := func(f Flag) bool { return f.Name == name && f.Value == value }
	if !slices.ContainsFunc(r.Flags, same) {
		r.Flags = append(r.Flags, Flag{Name: name, Value: value, At: r.here.at})
	}
}

// addItems adds items to a flag whose value is a list with commas. An item NAME=VALUE replaces an
// earlier one of the same name.
func (r *reader) addItems(name string, items []string) {
	var all []string
	if i := slices.IndexFunc(r.Flags, func(f Flag) bool { return f.Name == name }); i >= 0 {
		all, _ = text.SplitItems(r.Flags[i].Value)
	}
	for _, item := range items {
		key, _, _ := strings.Cut(item, "=")
		same := func(old string) bool { known, _, _ := strings.Cut(old, "="); return known == key }
		all = append(slices.DeleteFunc(all, same), item)
	}
	r.set(name, text.JoinItems(all))
}

// drop removes a flag.
func (r *reader) drop(name string) {
	r.Flags = slices.DeleteFunc(r.Flags, func(f Flag) bool { return f.Name == name })
}

// was returns the flag of that name as set so far.
func (r *reader) was(name string) (Flag, bool) {
	i := slices.IndexFunc(r.Flags, func(f Flag) bool { return f.Name == name })
	if i < 0 {
		return Flag{}, false
	}
	return r.Flags[i], true
}

// finish makes flags of the options that must be combined.
func (r *reader) finish() {
	r.finishPBS()
	r.finishSlurm()
}

// setUnlessLater sets a flag to the combined value of several options, unless a line behind all of them
// has set it.
func (r *reader) setUnlessLater(s spot, name, value string) {
	if f, ok := r.was(name); !ok || s.later(spot{at: f.At}) == s {
		r.setAt(s, name, value)
	}
}
