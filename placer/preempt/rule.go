package preempt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrRule is an invalid rule.
var ErrRule = errors.New("preemption rule")

// How says what happens to a job that makes way.
type How uint8

// The ways to stop a job.
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

// ParseHow reads a How. It fails with ErrRule.
func ParseHow(s string) (How, error) {
	for _, h := range []How{Requeue, Cancel} {
		if s == h.String() {
			return h, nil
		}
	}
	return 0, fmt.Errorf("%w: a preempted job cannot be %q: use requeue or cancel", ErrRule, s)
}

// OwnGrace means each job's own grace.
const OwnGrace = -1

// Defaults of a rule.
const (
	DefaultMinRun = 600 // seconds
	DefaultAtMost = 3
)

// Rule says that some jobs may stop others.
type Rule struct {
	Over  Key // jobs that may stop others
	Under Key // jobs that may be stopped; unused for Soft
	Soft  bool

	How    How
	Grace  int64 // seconds between being told and being killed; OwnGrace: each job's own
	MinRun int64 // seconds that a job runs before it can be stopped
	AtMost int   // how often a job is stopped in its life by any rule; 0: any number
}

// Key is a side of a rule: a job has to have all its terms. On the right, the empty key means all jobs
// that are on the left of no rule.
type Key []Term

// Term is one property of a job.
type Term struct{ Kind, Name string }

// Kinds lists the properties that rules can name.
var Kinds = []string{"user", "group", "account", "class", "queue"}

// Subject is the properties of a job.
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

// fits reports whether a subject has all terms of a key.
func (k Key) fits(s *Subject) bool {
	return !slices.ContainsFunc(k, func(t Term) bool { return s.Of(t.Kind) != t.Name })
}

// meets reports whether a job could fit both keys.
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

// implies reports whether every job that fits k fits o.
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

// softWord names the rule by which jobs beyond a soft limit make way for those within theirs.
const softWord = "soft"

// String returns the rule as Parse reads it, without its numbers. It serves as the rule's
// name.
func (r *Rule) String() string {
	if r.Soft {
		return softWord
	}
	return r.Over.String() + " over " + r.Under.String()
}

// Parse reads a rule: KEY over KEY, or soft. A KEY is kind:name, or several of them separated by commas
// that must all fit. On the right all, *, or kind:* mean all jobs that are on the left of no rule. The
// rule gets the default numbers. It fails with ErrRule.
func Parse(text string) (*Rule, error) {
	r := &Rule{Grace: OwnGrace, MinRun: DefaultMinRun, AtMost: DefaultAtMost}
	words := strings.Fields(text)
	if len(words) == 1 && words[0] == softWord {
		r.Soft = true
		return r, nil
	}
	if len(words) != 3 || words[1] != "over" {
		return nil, fmt.Errorf("%w %q: expected KEY over KEY, such as 'queue:urgent over queue:*', or soft", ErrRule,
			text)
	}
	var err error
	if r.Over, err = parseKey(words[0]); err != nil {
		return nil, err
	}
	if len(r.Over) == 0 {
		return nil, fmt.Errorf("%w %q: %s is everybody, who cannot go before others; name a queue, class, account, "+
			"group or user", ErrRule, text, words[0])
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
			return nil, fmt.Errorf("%w: %q is not KIND:NAME with one of the kinds %s", ErrRule, word,
				strings.Join(Kinds, ", "))
		}
		if slices.ContainsFunc(k, func(t Term) bool { return t.Kind == kind }) {
			return nil, fmt.Errorf("%w: %q names two of the kind %s, but no job is in both", ErrRule, text, kind)
		}
		k = append(k, Term{kind, name})
	}
	if len(k) == 1 && k[0].Name == "*" {
		return nil, nil
	}
	if i := slices.IndexFunc(k, func(t Term) bool { return t.Name == "*" }); i >= 0 {
		return nil, fmt.Errorf("%w: %q: leave out %s:*; every job is in one, or in none", ErrRule, text, k[i].Kind)
	}
	slices.SortFunc(k, func(a, b Term) int { return slices.Index(Kinds, a.Kind) - slices.Index(Kinds, b.Kind) })
	return k, nil
}

// Spares reports whether the rule does not stop a job that has run for ran seconds and made
// way so many times.
func (r *Rule) Spares(ran int64, times int) bool {
	return ran < r.MinRun || r.AtMost > 0 && times >= r.AtMost
}
