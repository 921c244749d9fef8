package limits

import (
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/placer/subject"
)

// Rules is a set of rules.
type Rules struct {
	groups []group
	looks  [subject.Queue + 1]bool
	named  map[string]*Rule
	soft   bool
}

// group is rules of the same kinds and measure. Some replace others.
type group []*Rule

// NewRules makes a set of rules. One on an unknown kind is left out, because no job has it.
func NewRules(list []*Rule) *Rules {
	rs := &Rules{named: make(map[string]*Rule, len(list))}
	for _, r := range list {
		if slices.ContainsFunc(r.Key, func(p subject.Subject) bool { return p.Kind > subject.Queue }) {
			continue
		}
		rs.named[r.String()] = r
		rs.soft = rs.soft || r.Soft
		for _, p := range r.Key {
			rs.looks[p.Kind] = true
		}
		i := slices.IndexFunc(rs.groups, func(g group) bool { return g[0].alike(r) })
		if i < 0 {
			rs.groups = append(rs.groups, nil)
			i = len(rs.groups) - 1
		}
		rs.groups[i] = append(rs.groups[i], r)
	}
	return rs
}

// alike reports whether two rules have the same kinds and measure.
func (r *Rule) alike(o *Rule) bool {
	return r.Measure == o.Measure && r.Soft == o.Soft &&
		slices.EqualFunc(r.Key, o.Key, func(a, b subject.Subject) bool { return a.Kind == b.Kind })
}

// Look reports whether some rule looks at a kind.
func (rs *Rules) Look(k subject.Kind) bool { return rs.looks[k] }

// Soft reports whether some rule is soft.
func (rs *Rules) Soft() bool { return rs.soft }

// Named finds a rule by its text, or nil if there is none.
func (rs *Rules) Named(text string) *Rule { return rs.named[text] }

// Each goes through the rules, in no order.
func (rs *Rules) Each(yield func(*Rule) bool) {
	for _, g := range rs.groups {
		for _, r := range g {
			if !yield(r) {
				return
			}
		}
	}
}

// Applied is a rule that applies to a job.
type Applied struct {
	*Rule
	// Whom is the subject: the names in place of *, quoted and joined by commas; "" if the rule has no
	// *.
	Whom string
}

// Apply lists the rules that apply to a job, by its names and the accounts above its account. Of those with the
// same kinds and measure, a rule is left out if another has all its names and more: user=ann replaces user=*,
// whether it allows more or less.
func (rs *Rules) Apply(has *subject.Names, above []string) (out []Applied) {
	var fit group
	for _, g := range rs.groups {
		fit = fit[:0]
		for _, r := range g {
			if r.fits(has, above) {
				fit = append(fit, r)
			}
		}
		for _, r := range fit {
			if !slices.ContainsFunc(fit, func(o *Rule) bool { return o.replaces(r) }) {
				out = append(out, Applied{r, r.whom(has)})
			}
		}
	}
	return out
}

// fits reports whether a rule is for a job. One on an account covers the accounts below it; * is each
// account by itself.
func (r *Rule) fits(has *subject.Names, above []string) bool {
	for _, p := range r.Key {
		if p.Name != subject.Any && p.Name != has[p.Kind] &&
			(p.Kind != subject.Account || !slices.Contains(above, p.Name)) {
			return false
		}
	}
	return true
}

func (r *Rule) whom(has *subject.Names) string {
	var b []byte
	for _, p := range r.Key {
		if p.Name != subject.Any {
			continue
		}
		if len(b) > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendQuote(b, has[p.Kind])
	}
	return string(b)
}

// Who returns the subject of the rule as people read it: ann, or gpu, ann.
func (a *Applied) Who() string {
	var names []string
	rest := a.Whom
	for _, p := range a.Key {
		if p.Name != subject.Any {
			continue
		}
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return a.Whom
		}
		name, _ := strconv.Unquote(quoted)
		if name == "" {
			name = "no " + p.Kind.String()
		}
		names = append(names, name)
		rest = strings.TrimPrefix(rest[len(quoted):], ",")
	}
	return strings.Join(names, ", ")
}

// Use is how much of a rule one subject uses.
type Use struct {
	*Rule
	Who           string
	Used, Planned int64
}
