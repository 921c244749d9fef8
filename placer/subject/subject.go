// Package subject names whom a rule is about: users, groups, accounts, classes, queues and jobs. Limits, access
// lists, permissions, preemption rules and priority numbers are for subjects, and each states its kinds.
//
// A subject is written user=ann, and read so or as user:ann. A name is quoted if it holds a comma, a blank or a
// quote, or ends in a sign that an access list takes for an affinity; in parts if it holds both kinds of quotes.
package subject

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/syntax"
)

// Kind is the property of a job that a subject names. The numbers are on disk and must not change.
type Kind uint8

// The kinds, in the order in which they are written.
const (
	User    Kind = 1
	Group   Kind = 2
	Account Kind = 3
	Class   Kind = 4
	Queue   Kind = 5
	Job     Kind = 6
)

var kindNames = [...]string{User: "user", Group: "group", Account: "account", Class: "class", Queue: "queue",
	Job: "job"}

// Valid reports whether k is a known kind. Call it on values read from disk.
func (k Kind) Valid() bool { return k >= User && k <= Job }

func (k Kind) String() string {
	if k.Valid() {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Kinds are the kinds of subjects that a rule may be for.
type Kinds []Kind

// The kinds that rules take.
var (
	All    = Kinds{User, Group, Account, Class, Queue, Job}
	Shared = All[:5] // those that many jobs have in common
	People = All[:2]
)

// String lists the kinds: user, group.
func (ks Kinds) String() string { return strings.Join(ks.names(), ", ") }

func (ks Kinds) names() (out []string) {
	for _, k := range ks {
		out = append(out, k.String())
	}
	return out
}

// Named finds one of the kinds by its name, in any case; it returns 0 if there is none.
func (ks Kinds) Named(name string) Kind {
	for _, k := range ks {
		if strings.EqualFold(k.String(), name) {
			return k
		}
	}
	return 0
}

// Any stands, as the name of a subject, for all names of its kind.
const Any = "*"

// Subject is a kind and a name.
type Subject struct {
	Kind Kind
	Name string
}

// Of returns a subject of the kind.
func (k Kind) Of(name string) Subject { return Subject{k, name} }

// String returns the subject as Read reads it.
func (s Subject) String() string {
	name := s.Name
	if strings.ContainsAny(name, "\"', \t,") || strings.TrimRight(name, "+=-") != name {
		name = syntax.Quote(name)
	}
	return s.Kind.String() + "=" + name
}

// Names are the names that a job has of the kinds Shared, by kind; "" for none.
type Names [Queue + 1]string

// Read reads a subject up to a comma or the end. plain is how much of the end of its name stood outside quotes.
func (ks Kinds) Read(p *syntax.Scanner) (s Subject, plain int, err error) {
	p.SkipSpace()
	at := p.At
	word := p.Letters()
	if s.Kind = ks.Named(word); s.Kind == 0 {
		return s, 0, p.Fail(at, "expected KIND=NAME, such as user=ann, of one of the kinds %s%s", ks,
			index.DidYouMean(word, ks.names()))
	}
	if c := p.Peek(); c != '=' && c != ':' {
		return s, 0, p.Fail(p.At, "expected = and a name after %s", word)
	}
	p.At++
	s.Name, plain, err = name(p)
	return s, plain, err
}

// name reads a name, which may be quoted in parts.
func name(p *syntax.Scanner) (text string, plain int, err error) {
	var b []byte
	for p.At < p.End && p.Peek() != ',' {
		from := p.At
		switch c := p.Peek(); c {
		case '"', '\'':
			inside, err := p.Quoted(c)
			if err != nil {
				return "", 0, err
			}
			b, plain = append(b, inside...), 0
		case ' ', '\t':
			if p.SkipSpace(); p.At < p.End && p.Peek() != ',' {
				return "", 0,
					p.Fail(from, "a blank: subjects are joined by commas; a name that holds a blank needs quotes")
			}
		default:
			if err := p.Step(); err != nil {
				return "", 0, err
			}
			b = append(b, p.Text[from:p.At]...)
			plain += p.At - from
		}
	}
	return string(b), plain, nil
}

// Parse reads a subject with a valid name. The error is a *syntax.Error.
func (ks Kinds) Parse(text string) (Subject, error) {
	p := syntax.New(nil, "subject", text)
	s, _, err := ks.Read(&p)
	if err == nil && p.At < p.End {
		err = p.Fail(p.At, "expected one subject, not several")
	}
	if bad := ValidName(s.Name); err == nil && bad != nil {
		err = p.FailAs(0, bad)
	}
	return s, err
}

// ValidName fails for a text that cannot be the name of a user, group or account in a rule.
func ValidName(name string) error {
	bad := func(c rune) bool {
		return strings.ContainsRune(`,"'\`, c) || unicode.IsSpace(c) || !unicode.IsPrint(c)
	}
	if name == "" || name == Any || len(name) > 255 || !utf8.ValidString(name) || strings.ContainsFunc(name, bad) {
		return fmt.Errorf("%q is not a name: use at most 255 letters, digits and signs, without blanks, "+
			"commas or quotes", name)
	}
	return nil
}
