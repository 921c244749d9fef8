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
	v := w.leaf()
	if next := w.findVerb(word); next != nil {
		w.path = append(w.path, next)
		return
	}
	names := w.verbNames()
	switch {
	case len(names) == 0 || v != nil && v.runs():
		w.args = append(w.args, word)
	case word == "help":
		w.help = true
	case v == nil:
		w.fail("unknown verb %s%s", spell.Quoted(word), index.DidYouMean(word, names))
	default:
		w.fail("unknown verb %s%s; there are %s", spell.Quoted(word), index.DidYouMean(word, names), strings.Join(names, ", "))
	}
}

// findVerb finds the verb that a word names in its place, nil when it is none.
func (w *walker) findVerb(word string) *verb {
	v := w.leaf()
	switch {
	case len(w.args) > 0:
		return nil
	case v == nil:
		return w.r.makeVerb(word)
	}
	for _, sub := range v.Verbs {
		if sub.Name == word {
			return sub
		}
	}
	return nil
}

// verbNames are the verbs that may come next.
func (w *walker) verbNames() []string {
	var names []string
	v := w.leaf()
	if v == nil {
		return w.r.verbNames()
	}
	for _, sub := range v.Verbs {
		if !sub.Hidden {
			names = append(names, sub.Name)
		}
	}
	return names
}

// makeVerb makes the verb of that name, nil when there is none.
func (r *runner) makeVerb(name string) *verb {
	for _, v := range r.verbs {
		if v.name == name {
			return v.verb()
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
	v := w.leaf()
	switch {
	case w.help:
	case v == nil:
		if w.err == nil {
			w.err = errNoVerb
		}
	case !v.runs():
		w.fail("a verb is missing; there are %s", strings.Join(w.verbNames(), ", "))
	default:
		w.requireFlags(v)
	}
}

func (w *walker) requireFlags(v *verb) {
	for _, f := range v.Flags {
		req, ok := f.(cli.RequiredFlag)
		if !ok || !req.IsRequired() {
			continue
		}
		if !slices.ContainsFunc(w.flags, func(g given) bool { return g.flag == f }) {
			w.fail("%s is required", dashed(f.Names()[0]))
		}
	}
}
