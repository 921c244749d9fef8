package preempt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/placer/subject"
)

// Ranks are all rules together: they say who goes before whom. Nil Ranks have no rules.
type Ranks struct {
	rules []*Rule
	soft  *Rule
	known map[[2]subject.Names]*Rule
}

// NewRanks combines rules. It fails with ErrRule if they form a circle: a job could come to make
// way for itself.
func NewRanks(rules []*Rule) (*Ranks, error) {
	if len(rules) == 0 {
		return nil, nil
	}
	r := &Ranks{known: make(map[[2]subject.Names]*Rule)}
	for _, rule := range rules {
		if rule.Soft {
			r.soft = rule
		} else {
			r.rules = append(r.rules, rule)
		}
	}
	return r, r.circle()
}

// circle fails if a job on the right of a rule can be on the left of another, and so on back to the
// first. Every such step is possible for some job by itself. So there is a circle of jobs if and only if
// there is one of rules.
func (r *Ranks) circle() error {
	const unseen, under, done = 0, 1, 2
	state := make([]int, len(r.rules))
	var path []int
	var visit func(i int) error
	visit = func(i int) error {
		state[i] = under
		path = append(path, i)
		for k, next := range r.rules {
			if a := r.rules[i].Under; len(a) == 0 || !meet(a, next.Over) {
				continue
			}
			if state[k] == under {
				var names []string
				for _, at := range path[slices.Index(path, k):] {
					names = append(names, fmt.Sprintf("%q", r.rules[at]))
				}
				return fmt.Errorf("%w: cycle in %s: a job could preempt itself", ErrRule, strings.Join(names, " and "))
			}
			if state[k] == unseen {
				if err := visit(k); err != nil {
					return err
				}
			}
		}
		path, state[i] = path[:len(path)-1], done
		return nil
	}
	for i := range r.rules {
		if state[i] == unseen {
			if err := visit(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// Soft returns the rule about soft limits, or nil.
func (r *Ranks) Soft() *Rule {
	if r == nil {
		return nil
	}
	return r.soft
}

// Left reports whether a job is on the left of some rule. Only such jobs, and those within
// their soft limits, can preempt others.
func (r *Ranks) Left(s subject.Names) bool {
	return r != nil && slices.ContainsFunc(r.rules, func(rule *Rule) bool { return fits(rule.Over, &s) })
}

// Over returns the rule by which a goes before b, or nil. If all jobs on the right of a rule
// are on the left of another, those before them also go before those after them. The last rule
// of such a chain says how b is treated.
func (r *Ranks) Over(a, b subject.Names) *Rule {
	if r == nil || len(r.rules) == 0 {
		return nil
	}
	if rule, known := r.known[[2]subject.Names{a, b}]; known {
		return rule
	}
	rule := r.way(&a, &b)
	if len(r.known) > 1<<16 {
		clear(r.known)
	}
	r.known[[2]subject.Names{a, b}] = rule
	return rule
}

// way finds the last rule of the shortest chain of rules from a to b.
func (r *Ranks) way(a, b *subject.Names) *Rule {
	left := r.Left(*b)
	seen := make([]bool, len(r.rules))
	var next []int
	for i, rule := range r.rules {
		if fits(rule.Over, a) {
			next, seen[i] = append(next, i), true
		}
	}
	for len(next) > 0 {
		i := next[0]
		next = next[1:]
		if under := r.rules[i].Under; len(under) > 0 && fits(under, b) || len(under) == 0 && !left {
			return r.rules[i]
		}
		for k, rule := range r.rules {
			if !seen[k] && len(r.rules[i].Under) > 0 && implies(r.rules[i].Under, rule.Over) {
				next, seen[k] = append(next, k), true
			}
		}
	}
	return nil
}
