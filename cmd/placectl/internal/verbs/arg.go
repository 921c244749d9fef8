package verbs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Kind says what an argument names.
type Kind int

const (
	KindText    Kind = iota
	KindWord         // one of the words that the argument's name lists: bash|zsh|fish
	KindFile         // - for standard input
	KindRequest      // the select of a request, which may also be a flag: package request counts them
	KindCommand      // behind --
	KindJob
	KindNodes // a node list
	KindReservation
	KindQueue
	KindResource
	KindPool
	KindAccount
	KindView
	KindClass
	KindBatch
	KindSetting
	KindAssignment // NAME=VALUE of a setting
	KindSQL
)

// Arg declares an argument.
type Arg struct {
	Name     string // as help and messages show it
	Kind     Kind
	Optional bool
	Many     bool   // may be repeated
	Unless   string // a flag that makes the argument optional
}

func (a Arg) String() string {
	s := a.Name
	if a.Many {
		s += "..."
	}
	if a.Optional || a.Unless != "" {
		s = "[" + s + "]"
	}
	return s
}

// words returns the allowed values of an argument of KindWord.
func (a Arg) words() []string { return strings.Split(a.Name, "|") }

// argAt returns the argument behind n others, the zero Arg if there is none.
func (v *Verb[R]) argAt(n int) Arg {
	switch {
	case v == nil || len(v.Args) == 0:
		return Arg{}
	case n < len(v.Args):
		return v.Args[n]
	}
	for _, a := range v.Args { // later arguments may be in another position
		if a.Many {
			return a
		}
	}
	return Arg{}
}

// synopsis formats the arguments: NAMES [key=value...].
func (v *Verb[R]) synopsis() string {
	var words []string
	for _, a := range v.Args {
		words = append(words, a.String())
	}
	return strings.Join(words, " ")
}

// Check refuses a command line whose arguments or flags do not go together.
func (v *Verb[R]) Check(c *cli.Context) error { return cmp.Or(v.checkArgs(c), v.checkFlags(c)) }

// checkArgs refuses too few or too many arguments, and words that are not allowed. The arguments of
// a request, and of a command behind --, are read together with flags: the verb counts them.
func (v *Verb[R]) checkArgs(c *cli.Context) error {
	for i, a := range v.Args {
		switch {
		case a.Kind == KindRequest || a.Kind == KindCommand:
			return nil
		case a.Kind == KindWord && i < c.NArg() && !slices.Contains(a.words(), c.Args().Get(i)):
			return usage.Errorf("%w", text.NotOneOf(c.Args().Get(i), a.words()))
		}
	}
	what := ""
	if len(v.Args) > 0 {
		what = " (" + v.synopsis() + ")"
	}
	n := c.NArg()
	switch least, most := v.argLimits(c); {
	case n < least && least == most:
		return usage.Errorf("wants %s%s, got %d", text.Plural(least, "argument"), what, n)
	case n < least:
		return usage.Errorf("needs at least %s%s, got %d", text.Plural(least, "argument"), what, n)
	case most == 0 && n > 0:
		if v.Name == "log" {
			what = "; the output of a job: placectl logs " + text.Printable(c.Args().First())
		}
		return usage.Errorf("takes no arguments, got %s%s", text.Quoted(c.Args().First()), what)
	case most > 0 && n > most:
		return usage.Errorf("takes at most %s%s, got one more: %s", text.Plural(most, "argument"), what,
			text.Quoted(c.Args().Get(most)))
	}
	return nil
}

// checkFlags refuses flags that exclude each other.
func (v *Verb[R]) checkFlags(c *cli.Context) error {
	for _, names := range v.Exclusive {
		given := 0
		words := strings.Fields(names)
		for i, name := range words {
			if c.IsSet(name) {
				given++
			}
			words[i] = Dashed(name)
		}
		if given > 1 {
			return usage.Errorf("%s exclude each other", text.List(words, "and"))
		}
	}
	return nil
}

// argLimits returns how many arguments the verb takes. A negative most means no limit.
func (v *Verb[R]) argLimits(c *cli.Context) (least, most int) {
	for _, a := range v.Args {
		if !a.Optional && (a.Unless == "" || !c.IsSet(a.Unless)) {
			least++
		}
	}
	if slices.ContainsFunc(v.Args, func(a Arg) bool { return a.Many }) {
		return least, -1
	}
	return least, len(v.Args)
}
