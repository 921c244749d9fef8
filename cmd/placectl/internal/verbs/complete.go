package verbs

import (
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
)

// Completion says what the last word of a command line may become: one of some words, or the name
// of something if Kind is not KindText.
type Completion struct {
	Words []string // in order
	Kind  Kind
	Begun string // the last word so far
	DB    string // the database that the line names, "" for none
}

// Complete finds what the last word of a line may become.
func (l List[R]) Complete(line []string) (c Completion) {
	before, begun := line[:len(line)-1], line[len(line)-1]
	c.Begun = begun
	w := &walker[R]{list: l}
	for i := 0; i < len(before); i++ {
		word := before[i]
		name := strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
		switch {
		case word == "--":
			return c
		case !isFlag(word):
			w.word(word)
		case strings.HasPrefix(name, "db="):
			c.DB = name[len("db="):]
		case !strings.Contains(name, "=") && w.takesValue(name) == takesOne:
			if i++; i == len(before) {
				if c.Words = Beginning(begun, w.flagValues(name)); c.Words == nil {
					c.Kind = w.flagKind(name)
				}
				return c
			}
			if name == "db" {
				c.DB = before[i]
			}
		}
	}
	switch a := w.Leaf().argAt(len(w.Args)); {
	case strings.HasPrefix(begun, "-"):
		c.Words = Beginning(begun, flagWords(w.ownFlags()))
	case a.Kind == KindWord:
		c.Words = Beginning(begun, a.words())
	case a.Kind != KindText:
		c.Kind = a.Kind
	case len(w.Args) == 0:
		c.Words = Beginning(begun, w.verbNames())
	}
	return c
}

// flagKinds says what kind of thing a flag's value names.
var flagKinds = map[string]Kind{
	"queue": KindQueue, "class": KindClass, "nodes": KindNodes, "reservation": KindReservation, "pool": KindPool,
	"select": KindRequest,
	"set":    KindAssignment, "job": KindJob, "after": KindJob, "afterok": KindJob, "afternotok": KindJob,
	"afterany": KindJob, "aftercorr": KindJob,
}

// flagKind returns the kind of thing that the value of one of the verb's flags names.
func (w *walker[R]) flagKind(name string) Kind {
	if f := FindFlag(w.ownFlags(), name); f != nil {
		return flagKinds[f.Names()[0]]
	}
	return KindText
}

// Beginning returns the words with a prefix, in order.
func Beginning(prefix string, list []string) []string {
	var kept []string
	for _, s := range list {
		if strings.HasPrefix(s, prefix) {
			kept = append(kept, s)
		}
	}
	slices.Sort(kept)
	return kept
}

// flagValues returns the words that a flag takes, nil if it takes any value.
func (w *walker[R]) flagValues(name string) []string {
	if FindGlobal(name) != nil {
		if name == "o" || name == "output" {
			return output.FormatNames()
		}
		return nil
	}
	return wordsOf(FindFlag(w.ownFlags(), name))
}
