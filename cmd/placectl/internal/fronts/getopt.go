package fronts

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
	"github.com/placectl/placectl/internal/text"
)

// Given is an option of a command line: its long name, or its letter if it has none.
type Given = directives.Given

// Options are the options of a command.
type Options []directives.Declared

// Declare reads a list of options: "h,noheader j,jobs= nice? 1". Those with = have a value. Those with ?
// have an attached one, or none.
func Declare(list string) (o Options) {
	for _, word := range strings.Fields(list) {
		var d directives.Declared
		if name, ok := strings.CutSuffix(word, "="); ok {
			word, d.Value = name, true
		} else if name, ok := strings.CutSuffix(word, "?"); ok {
			word, d.Value, d.Attached = name, true, true
		}
		if short, long, ok := strings.Cut(word, ","); ok {
			d.Short, d.Long = short[0], long
		} else if len(word) == 1 {
			d.Short = word[0]
		} else {
			d.Long = word
		}
		o = append(o, d)
	}
	return o
}

// Help returns the usage and one line for each option.
func (o Options) Help(usage string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s\n", usage)
	for _, d := range o {
		value := ""
		switch {
		case d.Attached:
			value = "[=VALUE]"
		case d.Value:
			value = "=VALUE"
		}
		switch {
		case d.Long == "":
			fmt.Fprintf(&b, "  -%c\n", d.Short)
		case d.Short == 0:
			fmt.Fprintf(&b, "      --%s%s\n", d.Long, value)
		default:
			fmt.Fprintf(&b, "  -%c, --%s%s\n", d.Short, d.Long, value)
		}
	}
	return b.String()
}

// Order says where options may appear.
type Order bool

// Where options may appear.
const (
	Anywhere Order = false // as in GNU's getopt
	InFront  Order = true  // only before the first argument
)

// Read splits words into options and arguments. Errors have the words of getopt_long.
func (o Options) Read(words []string, order Order) (given []Given, rest []string, err error) {
	for len(words) > 0 {
		w := words[0]
		words = words[1:]
		switch {
		case w == "--":
			return given, append(rest, words...), nil
		case len(w) < 2 || w[0] != '-':
			rest = append(rest, w)
			if order == InFront {
				return given, append(rest, words...), nil
			}
		case strings.HasPrefix(w, "--"):
			words, err = o.long(w, words, &given)
		default:
			words, err = o.short(w, words, &given)
		}
		if err != nil {
			return given, rest, err
		}
	}
	return given, rest, nil
}

func (o Options) long(w string, words []string, given *[]Given) ([]string, error) {
	name, value, has := strings.Cut(w[2:], "=")
	var found *directives.Declared
	var others []string
	for i := range o {
		if d := &o[i]; d.Long == name {
			found, others = d, nil
			break
		} else if d.Long != "" && strings.HasPrefix(d.Long, name) {
			found = d
			others = append(others, "'--"+d.Long+"'")
		}
	}
	switch {
	case len(others) > 1:
		return nil, fmt.Errorf("option '%s' is ambiguous; possibilities: %s", text.Printable(w),
			strings.Join(others, " "))
	case found == nil:
		return nil, fmt.Errorf("unrecognized option '%s'", text.Printable(w))
	case has && !found.Value:
		return nil, fmt.Errorf("option '--%s' doesn't allow an argument", found.Long)
	case found.Value && !found.Attached && !has:
		if len(words) == 0 {
			return nil, fmt.Errorf("option '--%s' requires an argument", found.Long)
		}
		value, words = words[0], words[1:]
	}
	*given = append(*given, Given{Name: found.Long, Value: value})
	return words, nil
}

func (o Options) short(w string, words []string, given *[]Given) ([]string, error) {
	for i := 1; i < len(w); i++ {
		var found *directives.Declared
		for k := range o {
			if o[k].Short == w[i] && w[i] != 0 { // options without a short form have 0
				found = &o[k]
				break
			}
		}
		if found == nil {
			return nil, fmt.Errorf("invalid option -- '%s'", text.Printable(w[i:i+1]))
		}
		g := Given{Name: found.Long}
		if g.Name == "" {
			g.Name = w[i : i+1]
		}
		if !found.Value {
			*given = append(*given, g)
			continue
		}
		if g.Value = w[i+1:]; g.Value == "" && !found.Attached {
			if len(words) == 0 {
				return nil, fmt.Errorf("option requires an argument -- '%c'", w[i])
			}
			g.Value, words = words[0], words[1:]
		}
		*given = append(*given, g)
		return words, nil
	}
	return words, nil
}

// Set is the options by name, the last one of each.
type Set map[string]string

// SetOf returns options by name.
func SetOf(given []Given) Set {
	s := make(Set, len(given))
	for _, g := range given {
		s[g.Name] = g.Value
	}
	return s
}

// Has reports whether one of the options was given.
func (s Set) Has(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { _, ok := s[n]; return ok })
}

// Word makes a name one word, for columns separated by blanks: blanks and characters that are not
// printable become _.
func Word(s string) string {
	return Replace(s, '_', func(c rune) bool { return c <= ' ' || c == 0x7f || !text.IsPrintable(string(c)) })
}

// OneLine makes text part of a line: control characters become blanks.
func OneLine(s string) string {
	return Replace(s, ' ', func(c rune) bool { return c < ' ' || c >= 0x7f && c < 0xa0 })
}

// Replace replaces characters. Bytes that are not UTF-8 stay as they are.
func Replace(s string, by byte, is func(rune) bool) string {
	var b []byte
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRuneInString(s[i:])
		if is(c) {
			b = append(b, by)
		} else {
			b = append(b, s[i:i+n]...)
		}
		i += n
	}
	return string(b)
}

// Cut returns the first n characters of a text, the last of them replaced by end if there are more. A
// byte that is not UTF-8 counts as a character.
func Cut(s string, n int, end string) string {
	at, keep := 0, n-len(end)
	for i := range s {
		if keep == 0 {
			at = i
		}
		if keep--; keep < -len(end) {
			return s[:at] + end
		}
	}
	return s
}
