package preempt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrRule is a rule that cannot be.
var ErrRule = errors.New("preemption rule")

// How is what becomes of a job that makes way.
type How uint8

// What becomes of it.
const (
	Requeue How = iota // it waits again, unless it must not run twice
	Cancel
)

func (h How) String() string {
	if h == Cancel {
		return "cancel"
	}
	return "requeue"
}

// ParseHow reads what becomes of a job that makes way. It fails with ErrRule.
func ParseHow(s string) (How, error) {
	for _, h := range []How{Requeue, Cancel} {
		if s == h.String() {
			return h, nil
		}
	}
	return 0, fmt.Errorf("%w: a job that makes way is not %q: use requeue or cancel", ErrRule, s)
}

// OwnGrace is the grace of a rule that leaves jobs their own.
const OwnGrace = -1

// Defaults of a rule.
const (
	DefaultMinRun = 600 // seconds
	DefaultAtMost = 3
)

// Rule is that some jobs may stop others.
type Rule struct {
	Over  Key // who may
	Under Key // whom; unused for Soft
	Soft  bool

	How    How
	Grace  int64 // seconds between being told and being killed; OwnGrace: as each job has it
	MinRun int64 // seconds that a job runs before it is stopped
	AtMost int   // how often a job is stopped in its life, by whatever rule; 0: as often as need be
}

// Key is what a job has to be for a side of a rule: all that is named. The empty key
// stands, on the right, for all who are on the left of no rule.
type Key []Term

// Term is one thing that a job has to be.
type Term struct{ Kind, Name string }

// Kinds lists what jobs can be told apart by.
var Kinds = []string{"user", "group", "account", "class", "queue"}

// Subject is what a job is.
type Subject struct{ User, Group, Account, Class, Queue string }

// Of returns the user, group, account, class or queue of the subject.
func (s *Subject) Of(kind string) string {
	switch kind {
	case "user":
		return s.User
	case "group":
		return s.Group
	case "account":
		return s.Account
	case "class":
		return s.Class
	}
	return s.Queue
}

// fits reports whether a subject is all that a key names.
func (k Key) fits(s *Subject) bool {
	return !slices.ContainsFunc(k, func(t Term) bool { return s.Of(t.Kind) != t.Name })
}

// meets reports whether a job could be what both keys name.
func (k Key) meets(o Key) bool {
	for _, t := range k {
		for _, u := range o {
			if t.Kind == u.Kind && t.Name != u.Name {
				return false
			}
		}
	}
	return true
}

// implies reports whether every job that is what k names is what o names.
func (k Key) implies(o Key) bool {
	return !slices.ContainsFunc(o, func(t Term) bool { return !slices.Contains(k, t) })
}

func (k Key) String() string {
	if len(k) == 0 {
		return "all"
	}
	words := make([]string, len(k))
	for i, t := range k {
		words[i] = t.Kind + ":" + t.Name
	}
	return strings.Join(words, ",")
}

// softWord is the rule that jobs beyond a soft limit make way for those within theirs.
const softWord = "soft"

// String is the rule as Parse reads it, without its numbers: what it is called.
func (r *Rule) String() string {
	if r.Soft {
		return softWord
	}
	return r.Over.String() + " over " + r.Under.String()
}

// Parse reads a rule: KEY over KEY, where KEY is kind:name, or several of them with commas
// between that all have to fit, or soft. On the right all, *, or kind:* stand for all jobs
// that are on the left of no rule. The rule has the numbers that rules have by default.
// It fails with ErrRule.
func Parse(text string) (*Rule, error) {
	r := &Rule{Grace: OwnGrace, MinRun: DefaultMinRun, AtMost: DefaultAtMost}
	words := strings.Fields(text)
	if len(words) == 1 && words[0] == softWord {
		r.Soft = true
		return r, nil
	}
	if len(words) != 3 || words[1] != "over" {
		return nil, fmt.Errorf("%w %q: expected KEY over KEY, such as 'queue:urgent over queue:*', or soft", ErrRule, text)
	}
	var err error
	if r.Over, err = parseKey(words[0]); err != nil {
		return nil, err
	}
	if len(r.Over) == 0 {
		return nil, fmt.Errorf("%w %q: %s is everybody, and not everybody can go before others; name a queue, class, account, group or user", ErrRule, text, words[0])
	}
	r.Under, err = parseKey(words[2])
	return r, err
}

// parseKey reads a side of a rule.
func parseKey(text string) (Key, error) {
	if text == "*" || text == "all" {
		return nil, nil
	}
	var k Key
	for _, word := range strings.Split(text, ",") {
		kind, name, ok := strings.Cut(word, ":")
		if !ok || name == "" || !slices.Contains(Kinds, kind) {
			return nil, fmt.Errorf("%w: %q is not KIND:NAME with one of the kinds %s", ErrRule, word, strings.Join(Kinds, ", "))
		}
		if slices.ContainsFunc(k, func(t Term) bool { return t.Kind == kind }) {
			return nil, fmt.Errorf("%w: %q names two of the kind %s, and no job is in both", ErrRule, text, kind)
		}
		k = append(k, Term{kind, name})
	}
	if len(k) == 1 && k[0].Name == "*" {
		return nil, nil
	}
	if i := slices.IndexFunc(k, func(t Term) bool { return t.Name == "*" }); i >= 0 {
		return nil, fmt.Errorf("%w: %q: leave %s:* out; every job is in one, or in none", ErrRule, text, k[i].Kind)
	}
	slices.SortFunc(k, func(a, b Term) int { return slices.Index(Kinds, a.Kind) - slices.Index(Kinds, b.Kind) })
	return k, nil
}

// Spares reports whether the rule does not stop a job yet, or not any more: one that has run for
// so many seconds, and has made way so many times.
func (r *Rule) Spares(ran int64, times int) bool {
	return ran < r.MinRun || r.AtMost > 0 && times >= r.AtMost
}
