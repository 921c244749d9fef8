package limits

import (
	"slices"
	"testing"

	"github.com/placectl/placectl/placer/subject"
)

func ruleOf(t *testing.T, key, measure string) *Rule {
	t.Helper()
	k, err := subject.Shared.ParseKey(key)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ParseMeasure(measure)
	if err != nil {
		t.Fatal(err)
	}
	return &Rule{Key: k, Measure: m, Max: 1}
}

// TestApply: a name takes precedence over a *; rules that neither replaces apply together.
func TestApply(t *testing.T) {
	ann := &subject.Names{subject.Queue: "gpu", subject.Account: "org", subject.User: "ann"}
	for _, c := range []struct {
		keys []string
		want []string // rule and whom
	}{
		{[]string{"user=*", "user=ann"}, []string{"user=ann running"}},
		{[]string{"user=*", "user=bob"}, []string{`user=* running "ann"`}},
		{[]string{"all", "user=*"}, []string{"all running", `user=* running "ann"`}},
		{[]string{"queue=gpu,user=*", "queue=*,user=ann"}, []string{`user=*,queue=gpu running "ann"`,
			`user=ann,queue=* running "gpu"`}},
		{[]string{"user=*,queue=*", "queue=gpu,user=*", "queue=gpu,user=ann"}, []string{"user=ann,queue=gpu running"}},
		{[]string{"account=chem", "account=org", "account=phys"},
			[]string{"account=chem running", "account=org running"}},
		{[]string{"account=*", "account=chem"}, []string{"account=chem running"}},
		{[]string{"account=*"}, []string{`account=* running "org"`}},
		{[]string{"group=*"}, []string{`group=* running ""`}},
	} {
		var list []*Rule
		for _, key := range c.keys {
			list = append(list, ruleOf(t, key, "running"))
		}
		var got []string
		for _, a := range NewRules(list).Apply(ann, []string{"chem"}) {
			text := a.String()
			if a.Whom != "" {
				text += " " + a.Whom
			}
			got = append(got, text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.keys, got, c.want)
		}
	}
}

func TestMeasures(t *testing.T) {
	for _, text := range []string{"running", "queued", "jobs", "ncpus", "mem.queued", "mem.jobs", "ncpus.left",
		"ncpus.job", "walltime.job", "nodes", "nodes.job"} {
		if m, err := ParseMeasure(text); err != nil || m.String() != text {
			t.Errorf("%s: %v %v", text, m, err)
		}
	}
	for _, text := range []string{"", ".job", "walltime", "walltime.left", "a b", "ncpus.x", "ncpus.left.job"} {
		if m, err := ParseMeasure(text); err == nil {
			t.Errorf("%q is %v", text, m)
		}
	}
}

// TestLeft: what is left of jobs' time decreases by itself, and increases when a job starts.
func TestLeft(t *testing.T) {
	c := New("ncpus.left", true, 100, 0, grace)
	c.Left = true
	c.Put(Holder{Owner: 2, Start: 0, End: 50, Amount: 2})
	c.Put(Holder{Owner: 4, Start: 80, End: 120, Amount: 2})
	for _, want := range []struct{ at, amount, duration int64 }{
		{0, 1, 20}, {0, 1, 100}, {0, 1, 101}, {60, 5, 20}, {60, 1, 21},
	} {
		got, ok := Demand{Counter: c, Amount: want.amount}.Next(want.at, want.duration)
		first := int64(-1)
		for at := want.at; at < 300 && first < 0; at++ {
			fits := true
			for s := at; s < at+want.duration; s++ {
				starts := s == at || s == 80
				fits = fits && (!starts || c.left(s)+want.amount*(at+want.duration-s) <= 100)
			}
			if fits {
				first = at
			}
		}
		if ok != (first >= 0) || ok && got != first {
			t.Errorf("%+v: %d %v, by trying %d", want, got, ok, first)
		}
	}
}
