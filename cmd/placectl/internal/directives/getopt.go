package directives

import (
	"errors"
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// option is an option that a line may have, with its effect.
type option struct {
	short byte   // 0: none
	long  string // "": none
	takes argument
	read  func(r *reader, value string) error
}

// argument says whether an option has a value.
type argument uint8

const (
	always   argument = iota // the rest of the word, or the next word
	never                    // a short one may share its word with others
	attached                 // only an attached value: --nice=5, -k1
)

// optionSet is the options of one kind of line, read as getopt_long does: short ones share a word, and
// long ones may be abbreviated as long as they are unambiguous.
type optionSet struct {
	list []option
	// stray handles a word that is neither an option nor the value of one.
	stray func(r *reader, w word)
	// unknown adds an explanation for an unknown option, "" for none.
	unknown func(name string) string
}

// options reads the words of a line.
func (r *reader) options(set *optionSet, words []word) {
	for len(words) > 0 {
		w := words[0]
		words = words[1:]
		switch {
		case w.text == "--" || w.text == "-" || !strings.HasPrefix(w.text, "-"):
			set.stray(r, w)
		case strings.HasPrefix(w.text, "--"):
			words = r.longOption(set, w, words)
		default:
			words = r.shortOptions(set, w, words)
		}
	}
}

func (r *reader) longOption(set *optionSet, w word, words []word) []word {
	name, value, hasValue := strings.Cut(w.text[2:], "=")
	o, others := set.long(name)
	r.here = spot{w.at, "--" + name}
	switch {
	case len(others) > 0:
		r.refuse(r.here, "it is short for %s", text.List(others, "or"))
		return skipValue(words, hasValue)
	case o == nil:
		r.notThere(set, name)
		return skipValue(words, hasValue)
	}
	r.here.option = "--" + o.long
	if o.takes == never && hasValue {
		r.refuse(r.here, "it has no value")
		return words
	}
	if o.takes == always && !hasValue {
		if len(words) == 0 {
			r.refuse(r.here, "it needs a value")
			return nil
		}
		value, words = words[0].text, words[1:]
	}
	r.option(o, value)
	return words
}

func (r *reader) shortOptions(set *optionSet, w word, words []word) []word {
	for i := 1; i < len(w.text); i++ {
		o := set.short(w.text[i])
		r.here = spot{w.at, "-" + w.text[i:i+1]}
		if o == nil {
			r.here.option = w.text
			r.notThere(set, w.text[i:i+1])
			return skipValue(words, i+1 < len(w.text))
		}
		if o.takes == never {
			r.option(o, "")
			continue
		}
		value := w.text[i+1:]
		if o.takes == always && value == "" {
			if len(words) == 0 {
				r.refuse(r.here, "it needs a value")
				return nil
			}
			value, words = words[0].text, words[1:]
		}
		r.option(o, value)
		return words
	}
	return words
}

// skipValue skips the word behind an unknown option if it could be the option's value.
func skipValue(words []word, hasValue bool) []word {
	if !hasValue && len(words) > 0 && !strings.HasPrefix(words[0].text, "-") {
		return words[1:]
	}
	return words
}

// option applies an option.
func (r *reader) option(o *option, value string) {
	if err := o.read(r, value); err != nil {
		r.refuse(r.here, "%w", err)
	}
}

func (r *reader) notThere(set *optionSet, name string) {
	if set.unknown != nil {
		if why := set.unknown(name); why != "" {
			r.unknown(r.here, errors.New(why))
			return
		}
	}
	r.unknown(r.here, errors.New("there is no such option"+index.DidYouMean(name, set.names())))
}

func (set *optionSet) short(c byte) *option {
	i := slices.IndexFunc(set.list, func(o option) bool { return o.short == c })
	if i < 0 {
		return nil
	}
	return &set.list[i]
}

// long finds an option by its name or an abbreviation. If that is ambiguous, it returns the names.
func (set *optionSet) long(name string) (found *option, others []string) {
	for i := range set.list {
		switch o := &set.list[i]; {
		case o.long == "" || name == "":
		case o.long == name:
			return o, nil
		case strings.HasPrefix(o.long, name):
			found = o
			others = append(others, "--"+o.long)
		}
	}
	if len(others) > 1 {
		return nil, others
	}
	return found, nil
}

func (set *optionSet) names() []string {
	var names []string
	for _, o := range set.list {
		if o.long != "" {
			names = append(names, o.long)
		}
	}
	return names
}
