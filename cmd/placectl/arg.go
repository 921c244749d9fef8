package main

import (
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/urfave/cli/v2"
)

// argKind says what an argument names.
type argKind int

const (
	kindText    argKind = iota
	kindWord            // one of the words that the argument's name lists: bash|zsh|fish
	kindFile            // - for standard input
	kindRequest         // the select of a request, which may be a flag as well: request counts them
	kindCommand         // behind --
	kindJob
	kindNodes // a node list
	kindReservation
	kindQueue
	kindResource
	kindClass
	kindBatch
	kindSetting
)

// arg declares an argument.
type arg struct {
	Name     string // as help and messages show it
	Kind     argKind
	Optional bool
	Many     bool   // any number of them
	Unless   string // a flag with which it may be left out
}

func (a arg) String() string {
	s := a.Name
	if a.Many {
		s += "..."
	}
	if a.Optional || a.Unless != "" {
		s = "[" + s + "]"
	}
	return s
}

// words are those that an argument of kindWord may be.
func (a arg) words() []string { return strings.Split(a.Name, "|") }

// argAt declares the argument behind n others; the zero arg where there is none.
func (v *verb) argAt(n int) arg {
	switch {
	case v == nil || len(v.Args) == 0:
		return arg{}
	case n < len(v.Args):
		return v.Args[n]
	case v.Args[len(v.Args)-1].Many:
		return v.Args[len(v.Args)-1]
	}
	return arg{}
}

// synopsis shows the arguments: NAMES [key=value...].
func (v *verb) synopsis() string {
	var words []string
	for _, a := range v.Args {
		words = append(words, a.String())
	}
	return strings.Join(words, " ")
}

// checkArgs refuses arguments that are too few, too many, or not among the words that
// there are. Those of a request, and those of a command behind --, are read together
// with flags: the verb counts them.
func (v *verb) checkArgs(c *cli.Context) error {
	for i, a := range v.Args {
		switch {
		case a.Kind == kindRequest || a.Kind == kindCommand:
			return nil
		case a.Kind == kindWord && i < c.NArg() && !slices.Contains(a.words(), c.Args().Get(i)):
			return usagef("%w", spell.NotOneOf(c.Args().Get(i), a.words()))
		}
	}
	what := ""
	if len(v.Args) > 0 {
		what = " (" + v.synopsis() + ")"
	}
	n := c.NArg()
	switch least, most := v.argLimits(c); {
	case n < least && least == most:
		return usagef("wants %s%s, got %d", spell.Plural(least, "argument"), what, n)
	case n < least:
		return usagef("wants at least %s%s, got %d", spell.Plural(least, "argument"), what, n)
	case most == 0 && n > 0:
		return usagef("takes no arguments, got %s", spell.Quoted(c.Args().First()))
	case most > 0 && n > most:
		return usagef("takes at most %s%s, got one more: %s", spell.Plural(most, "argument"), what, spell.Quoted(c.Args().Get(most)))
	}
	return nil
}

// checkFlags refuses flags that exclude each other.
func (v *verb) checkFlags(c *cli.Context) error {
	for _, names := range v.Exclusive {
		given := 0
		words := strings.Fields(names)
		for i, name := range words {
			if c.IsSet(name) {
				given++
			}
			words[i] = dashed(name)
		}
		if given > 1 {
			return usagef("%s exclude each other", spell.List(words, "and"))
		}
	}
	return nil
}

// argLimits is how many arguments the verb takes; most below 0 is no limit.
func (v *verb) argLimits(c *cli.Context) (least, most int) {
	for _, a := range v.Args {
		if !a.Optional && (a.Unless == "" || !c.IsSet(a.Unless)) {
			least++
		}
	}
	if slices.ContainsFunc(v.Args, func(a arg) bool { return a.Many }) {
		return least, -1
	}
	return least, len(v.Args)
}
