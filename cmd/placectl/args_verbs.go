package main

import (
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/index"
	"github.com/urfave/cli/v2"
)

// word takes a word that is no flag: a verb as long as one is due, else an
// argument.
func (w *walker) word(word string) {
	c := w.command()
	if next := w.findVerb(word); next != nil {
		w.path = append(w.path, next)
		return
	}
	names := w.verbNames()
	switch {
	case len(names) == 0 || c != nil && c.Action != nil:
		w.args = append(w.args, word)
	case word == "help":
		w.help = true
	case c == nil:
		w.fail("unknown verb %s%s", spell.Quoted(word), index.DidYouMean(word, names))
	default:
		w.fail("unknown verb %s%s; there are %s", spell.Quoted(word), index.DidYouMean(word, names), strings.Join(names, ", "))
	}
}

// findVerb finds the verb that a word names in its place, nil when it is none.
func (w *walker) findVerb(word string) *cli.Command {
	c := w.command()
	switch {
	case len(w.args) > 0:
		return nil
	case c == nil:
		return w.r.makeVerb(word)
	}
	for _, sub := range c.Subcommands {
		if sub.HasName(word) {
			return sub
		}
	}
	return nil
}

// verbNames are the verbs that may come next.
func (w *walker) verbNames() []string {
	var names []string
	c := w.command()
	if c == nil {
		return w.r.verbNames()
	}
	for _, sub := range c.Subcommands {
		if !sub.Hidden {
			names = append(names, sub.Name)
		}
	}
	return names
}

// makeVerb makes the verb of that name, nil when there is none.
func (r *runner) makeVerb(name string) *cli.Command {
	for _, v := range r.verbs {
		if v.name == name {
			return v.make(r)
		}
	}
	return nil
}

func (r *runner) verbNames() []string {
	var names []string
	for _, v := range r.verbs {
		names = append(names, v.name)
	}
	return names
}

// finish looks for what is missing once every word is read.
func (w *walker) finish() {
	c := w.command()
	switch {
	case w.help:
	case c == nil:
		if w.err == nil {
			w.err = errNoVerb
		}
	case c.Action == nil:
		w.fail("a verb is missing; there are %s", strings.Join(w.verbNames(), ", "))
	default:
		w.requireFlags(c)
	}
}

func (w *walker) requireFlags(c *cli.Command) {
	for _, f := range c.Flags {
		req, ok := f.(cli.RequiredFlag)
		if !ok || !req.IsRequired() {
			continue
		}
		word := dashed(f.Names()[0])
		if !slices.ContainsFunc(w.flags, func(s string) bool { return s == word || strings.HasPrefix(s, word+"=") }) {
			w.fail("%s is required", word)
		}
	}
}
