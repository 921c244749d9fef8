package verbs

import (
	"errors"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// word takes a word that is no flag: a verb if one can come next, otherwise an argument.
func (w *walker[R]) word(word string) {
	v := w.Leaf()
	if next := w.findVerb(word); next != nil {
		w.Path = append(w.Path, next)
		if next.Raw {
			w.Dash, w.Args, w.rest = 0, w.rest, nil
		}
		return
	}
	names := w.verbNames()
	switch {
	case len(names) == 0 || v != nil && v.Runs():
		w.Args = append(w.Args, word)
	case word == "help":
		w.Help = true
	case v == nil && w.Help && slices.Contains(topics(), word):
		w.Topic = word
	case v == nil && w.list.unlike(word) != "":
		w.fail("unknown verb %s; here that is placectl %s", text.Quoted(word), w.list.unlike(word))
	case v == nil && word == "undo":
		w.fail("unknown verb undo: nothing is undone; --dry-run shows a change before it is made, and backup and " +
			"restore keep a state")
	case v == nil:
		w.fail("unknown verb %s%s", text.Quoted(word), index.DidYouMean(word, names))
	case slices.Contains(names, below[word]):
		w.fail("unknown verb %s; here that is placectl %s", text.Quoted(word), w.Verb()+" "+below[word])
	case w.list.find(word) != nil:
		w.fail("unknown verb %s; that is placectl %s", text.Quoted(w.Verb()+" "+word), word)
	default:
		w.fail("unknown verb %s%s; there are %s", text.Quoted(word), index.DidYouMean(word, names),
			strings.Join(names, ", "))
	}
}

// below are words that others use for verbs behind a noun.
var below = map[string]string{"ls": "list", "show": "list", "get": "show", "describe": "show", "info": "show",
	"create": "add", "new": "add", "delete": "rm", "del": "rm", "remove": "rm", "update": "set", "edit": "set",
	"enable": "resume", "disable": "drain"}

// findVerb finds the verb that a word names at this point, nil if there is none.
func (w *walker[R]) findVerb(word string) *Verb[R] {
	v := w.Leaf()
	switch {
	case len(w.Args) > 0:
		return nil
	case v == nil:
		return w.list.find(word)
	}
	for _, sub := range v.Verbs {
		if sub.Name == word {
			return sub
		}
	}
	return nil
}

// verbNames returns the verbs that may come next.
func (w *walker[R]) verbNames() []string {
	var names []string
	v := w.Leaf()
	if v == nil {
		for _, e := range w.list {
			if !e.Make().Hidden {
				names = append(names, e.Name)
			}
		}
		return names
	}
	for _, sub := range v.Verbs {
		if !sub.Hidden {
			names = append(names, sub.Name)
		}
	}
	return names
}

// ErrNoVerb is the usage error of a command line without a verb.
var ErrNoVerb = usage.Of("", "a verb is missing")

// ErrNoneBelow is the error of a noun without a verb.
var ErrNoneBelow = errors.New("a verb is missing")

// finish checks what is missing once every word is read.
func (w *walker[R]) finish() {
	v := w.Leaf()
	switch {
	case w.Help:
	case v == nil:
		if w.err == nil {
			w.err = ErrNoVerb
		}
	case !v.Runs():
		w.fail("%w; there are %s", ErrNoneBelow, strings.Join(w.verbNames(), ", "))
	default:
		w.requireFlags(v)
	}
}

func (w *walker[R]) requireFlags(v *Verb[R]) {
	for _, f := range v.Flags {
		req, ok := f.(cli.RequiredFlag)
		if !ok || !req.IsRequired() {
			continue
		}
		if !slices.ContainsFunc(w.Flags, func(g Given) bool { return g.Flag == f }) {
			w.fail("%s is required", Dashed(f.Names()[0]))
		}
	}
}
