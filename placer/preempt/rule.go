package preempt

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/placer/subject"
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
	Over  subject.Key // jobs that may stop others
	Under subject.Key // jobs that may be stopped; unused for Soft
	Soft  bool

	How    How
	Grace  int64 // seconds between being told and being killed; OwnGrace: each job's own
	MinRun int64 // seconds that a job runs before it can be stopped
	AtMost int   // how often a job is stopped in its life by any rule; 0: any number
}

// fits reports whether a job has all subjects of a key, which is a side of a rule. On the right, the empty key means
// all jobs that are on the left of no rule.
func fits(k subject.Key, has *subject.Names) bool {
	return !slices.ContainsFunc(k, func(s subject.Subject) bool { return has[s.Kind] != s.Name })
}

// meet reports whether a job could fit both keys.
func meet(k, o subject.Key) bool {
	return !slices.ContainsFunc(k, func(s subject.Subject) bool {
		return slices.ContainsFunc(o, func(t subject.Subject) bool { return s.Kind == t.Kind && s.Name != t.Name })
	})
}

// implies reports whether every job that fits k fits o.
func implies(k, o subject.Key) bool {
	return !slices.ContainsFunc(o, func(s subject.Subject) bool { return !slices.Contains(k, s) })
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

// Parse reads a rule: KEY over KEY, or soft. A KEY is KIND=NAME, or several of them separated by commas
// that must all fit. On the right all, *, or KIND=* mean all jobs that are on the left of no rule. The
// rule gets the default numbers. It fails with ErrRule.
func Parse(text string) (*Rule, error) {
	r := &Rule{Grace: OwnGrace, MinRun: DefaultMinRun, AtMost: DefaultAtMost}
	words := strings.Fields(text)
	if len(words) == 1 && words[0] == softWord {
		r.Soft = true
		return r, nil
	}
	if len(words) != 3 || words[1] != "over" {
		return nil, fmt.Errorf("%w %q: expected KEY over KEY, such as 'queue=urgent over queue=*', or soft", ErrRule,
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
func parseKey(text string) (subject.Key, error) {
	if text == subject.Any {
		return nil, nil
	}
	k, err := subject.Shared.ParseKey(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRule, err)
	}
	if len(k) == 1 && k[0].Name == subject.Any {
		return nil, nil
	}
	for _, s := range k {
		if s.Name == "" || s.Name == subject.Any {
			return nil, fmt.Errorf("%w: %q: leave out %s; every job is in one, or in none", ErrRule, text, s)
		}
	}
	return k, nil
}

// Spares reports whether the rule does not stop a job that has run for ran seconds and made
// way so many times.
func (r *Rule) Spares(ran int64, times int) bool {
	return ran < r.MinRun || r.AtMost > 0 && times >= r.AtMost
}
