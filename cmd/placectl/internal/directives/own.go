package directives

import (
	"errors"
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// commandLineOnly are flags that a script cannot set: the database, the form of the answer, the key of a
// submission, and how to read the script.
var commandLineOnly = []string{"script", "key", "db", "now", "output", "o", "no-header", "lock-timeout", "quiet", "q",
	"verbose", "v", "no-color",
	"dry-run", "help", "h", "directives", "lax"}

// ownLine reads a #placectl line: flags of submit, and a select.
func (r *reader) ownLine(words []word) {
	for len(words) > 0 {
		w := words[0]
		words = words[1:]
		if w.text == "-" || !strings.HasPrefix(w.text, "-") {
			r.ownRequest(w)
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimPrefix(w.text, "-"), "=")
		long := strings.HasPrefix(name, "-")
		if name = strings.TrimPrefix(name, "-"); !long && len(name) > 1 { // -t2h
			name, value, hasValue = w.text[1:2], w.text[2:], true
		}
		r.here = spot{w.at, w.text[:1] + name}
		if long {
			r.here.option = "--" + name
		}
		f := r.ownFlag(name, long)
		if f == nil {
			words = skipValue(words, hasValue)
			continue
		}
		if !f.Switch && !hasValue {
			if len(words) == 0 {
				r.refuse(r.here, "it needs a value")
				return
			}
			value, words = words[0].text, words[1:]
		}
		r.ownValue(f, value, hasValue)
	}
}

// ownFlag finds a flag. It refuses unknown ones.
func (r *reader) ownFlag(name string, long bool) *OwnFlag {
	if slices.Contains(commandLineOnly, name) {
		r.refuse(r.here, "it belongs on the command line, not into the script")
		return nil
	}
	var known []string
	for i := range r.o.Own {
		if f := &r.o.Own[i]; slices.Contains(f.Names, name) && long == (len(name) > 1) {
			return f
		}
		known = append(known, r.o.Own[i].Names...)
	}
	if name == "" {
		r.refuse(r.here, "a command has no place in such a line: the script is what runs")
		return nil
	}
	r.unknown(r.here, errors.New("submit has no such flag"+index.DidYouMean(name, known)))
	return nil
}

func (r *reader) ownValue(f *OwnFlag, value string, hasValue bool) {
	name := f.Names[0]
	switch {
	case f.Switch:
		on := true
		if hasValue {
			var err error
			if on, err = text.ParseSwitch(value); err != nil {
				r.refuse(r.here, "%w", err)
				return
			}
		}
		r.turn(name, on)
	case f.List:
		r.add(name, value)
	default:
		r.set(name, value)
	}
}

// ownRequest reads the argument of a line, which is a select. A line has at most one, and a later line
// replaces it.
func (r *reader) ownRequest(w word) {
	r.here = spot{w.at, "#placectl"}
	var err error
	switch {
	case r.own.given() && r.own.at.Line == w.at.Line:
		err = errors.New("the select is given twice in this line")
	case w.text == "" || w.text == "-":
		err = errors.New("expected a select, such as 2:ncpus=4")
	}
	if err != nil {
		r.refuse(r.here, "%w", err)
		return
	}
	r.own = r.here
	r.set("select", w.text)
}
