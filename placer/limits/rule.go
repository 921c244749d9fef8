package limits

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is an attribute of a job that rules look at. On disk only the names are kept.
type Kind uint8

// The kinds, in the order in which a key is written.
const (
	Queue Kind = iota
	Class
	Account
	Group
	User
	kinds
)

var kindNames = [kinds]string{"queue", "class", "account", "group", "user"}

// String returns the kind's name, "" for an unknown kind.
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return ""
}

// Each stands for each name by itself.
const Each = "*"

// Part is a kind and a name, or Each.
type Part struct {
	Kind Kind
	Name string
}

// Key says which jobs a rule is for: those that have all its parts; without parts all jobs. The parts
// are in the order of their kinds, each kind once.
type Key []Part

// ErrRule means that a rule cannot be parsed.
var ErrRule = errors.New("no such limit")

// ParseKey reads a key: all, or parts such as user:ann joined by commas, in any order. account: is for
// jobs without an account.
func ParseKey(text string) (Key, error) {
	if text == "all" {
		return nil, nil
	}
	var key Key
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(part, ":")
		kind := slices.Index(kindNames[:], name)
		if !ok || kind < 0 {
			return nil, fmt.Errorf("%w: %q is not the subject of a limit: write all, or user:NAME, group:, account:, "+
				"class: or queue:, joined by commas, with * for each by itself", ErrRule, text)
		}
		if err := ValidName(value); err != nil && value != "" {
			return nil, fmt.Errorf("%w: %s: %w", ErrRule, kindNames[kind], err)
		}
		if slices.ContainsFunc(key, func(p Part) bool { return p.Kind == Kind(kind) }) {
			return nil, fmt.Errorf("%w: %q has two of the kind %s", ErrRule, text, kindNames[kind])
		}
		key = append(key, Part{Kind(kind), value})
	}
	slices.SortFunc(key, func(a, b Part) int { return int(a.Kind) - int(b.Kind) })
	return key, nil
}

// ValidName fails for a text that cannot be the name of a user, group or account in a rule.
func ValidName(name string) error {
	bad := func(c rune) bool {
		return strings.ContainsRune(`,"'\`, c) || unicode.IsSpace(c) || !unicode.IsPrint(c)
	}
	if name == "" || len(name) > 255 || !utf8.ValidString(name) || strings.ContainsFunc(name, bad) {
		return fmt.Errorf("%q is not a name: use at most 255 letters, digits and signs, without blanks, "+
			"commas or quotes", name)
	}
	return nil
}

// String returns the key as ParseKey reads it.
func (k Key) String() string {
	if len(k) == 0 {
		return "all"
	}
	parts := make([]string, len(k))
	for i, p := range k {
		parts[i] = p.Kind.String() + ":" + p.Name
	}
	return strings.Join(parts, ",")
}

// Rule is how much the jobs of a key may have at once. With *, it limits each name separately.
type Rule struct {
	Key     Key
	Measure Measure
	Soft    bool  // a job beyond it comes after all others
	Max     int64 // may be reached, not exceeded
}

// String returns the rule as reasons name it: user:* running. It identifies the rule.
func (r *Rule) String() string {
	text := r.Key.String() + " " + r.Measure.String()
	if r.Soft {
		text += softWord
	}
	return text
}

// softWord ends the name of a soft rule.
const softWord = " soft"

// replaces reports whether a rule has all the names of another rule of the same kinds, and
// more.
func (r *Rule) replaces(o *Rule) bool {
	more := false
	for i, p := range o.Key {
		switch q := r.Key[i]; {
		case p.Name == Each:
			more = more || q.Name != Each
		case p.Name != q.Name:
			return false
		}
	}
	return more
}
