package preempt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/placectl/placectl/placer/subject"
	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"queue=urgent over queue=*":            "queue=urgent over all",
		"queue=urgent over *":                  "queue=urgent over all",
		" class=a   over class=b":              "class=a over class=b",
		"queue:gpu,user:ann over account:chem": "user=ann,queue=gpu over account=chem",
		"soft":                                 "soft",
		"* over all":                           "everybody",
		"queue=* over queue=a":                 "everybody",
		"urgent over all":                      "expected KIND=NAME",
		"node:n1 over all":                     "expected KIND=NAME",
		"queue=a over":                         "expected KEY over KEY",
		"queue=a,queue=b over all":             "two of the kind",
		"queue=a over queue=b,user=*":          "leave out user=*",
		"":                                     "expected KEY over KEY",
	} {
		r, err := Parse(text)
		switch {
		case err == nil && r.String() != want:
			t.Errorf("%q: %q, want %q", text, r, want)
		case err != nil && (!errors.Is(err, ErrRule) || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// some returns the ranks of rules, or nil if they form a circle.
func some(t interface{ Fatal(...any) }, texts ...string) (*Ranks, error) {
	var rules []*Rule
	for _, text := range texts {
		r, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, r)
	}
	return NewRanks(rules)
}

func TestOver(t *testing.T) {
	r, err := some(t, "queue=urgent over all", "class=a over class=b", "class=b over class=c")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a, b subject.Names
		want string
	}{
		{subject.Names{subject.Queue: "urgent"}, subject.Names{subject.Queue: "work"}, "queue=urgent over all"},
		{subject.Names{subject.Queue: "urgent"}, subject.Names{}, "queue=urgent over all"},
		{subject.Names{subject.Queue: "urgent"}, subject.Names{subject.Queue: "urgent"}, ""},
		// it is on the left of another
		{subject.Names{subject.Queue: "urgent"}, subject.Names{subject.Queue: "work", subject.Class: "a"}, ""},
		{subject.Names{subject.Queue: "work"}, subject.Names{}, ""},
		{subject.Names{subject.Class: "a"}, subject.Names{subject.Class: "b"}, "class=a over class=b"},
		{subject.Names{subject.Class: "a"}, subject.Names{subject.Class: "c"}, "class=b over class=c"},
		{subject.Names{subject.Class: "c"}, subject.Names{subject.Class: "b"}, ""},
	} {
		got := ""
		if rule := r.Over(c.a, c.b); rule != nil {
			got = rule.String()
		}
		if got != c.want {
			t.Errorf("%+v over %+v by %q, want %q", c.a, c.b, got, c.want)
		}
	}
	for _, texts := range [][]string{
		{"class=a over class=b", "class=b over class=a"},
		{"class=a over class=b", "class=b over class=c", "class=c over class=a"},
		{"class=a over class=a"},
		{"queue=x over class=b"}, // a job in both
		{"queue=x over queue=y", "class=b over class=a"},
	} {
		if _, err := some(t, texts...); !errors.Is(err, ErrRule) || !strings.Contains(err.Error(), "cycle in") {
			t.Errorf("%q: %v", texts, err)
		}
	}
	if r, err := NewRanks(nil); r.Over(subject.Names{}, subject.Names{}) != nil || r.Left(subject.Names{}) ||
		r.Soft() != nil || err != nil {
		t.Error("no rules say something")
	}
}

// TestNoCircle compares the refusal of circles with all possible jobs.
func TestNoCircle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := func(label string) string { return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, label) }
		side := func(label string) string {
			words := []string{}
			for _, kind := range []string{"class", "queue"} {
				if rapid.Bool().Draw(t, label+kind) {
					words = append(words, kind+":"+name(label+kind+"name"))
				}
			}
			return strings.Join(words, ",")
		}
		var rules []*Rule
		for i := range rapid.IntRange(1, 4).Draw(t, "rules") {
			over, under := side(fmt.Sprint("over", i)), side(fmt.Sprint("under", i))
			if over == "" {
				over = "queue=a"
			}
			if under == "" {
				under = "all"
			}
			r, err := Parse(over + " over " + under)
			if err != nil {
				t.Fatal(err)
			}
			rules = append(rules, r)
		}
		var jobs []subject.Names
		for _, class := range []string{"", "a", "b", "c"} {
			for _, queue := range []string{"", "a", "b", "c"} {
				jobs = append(jobs, subject.Names{subject.Class: class, subject.Queue: queue})
			}
		}
		left := func(s subject.Names) bool {
			return slices.ContainsFunc(rules, func(r *Rule) bool { return fits(r.Over, &s) })
		}
		direct := func(a, b subject.Names) bool {
			return slices.ContainsFunc(rules, func(r *Rule) bool {
				return fits(r.Over, &a) && (len(r.Under) > 0 && fits(r.Under, &b) || len(r.Under) == 0 && !left(b))
			})
		}
		n := len(jobs)
		reach := make([][]bool, n)
		for i := range reach {
			reach[i] = make([]bool, n)
			for k := range reach[i] {
				reach[i][k] = direct(jobs[i], jobs[k])
			}
		}
		for m := range n {
			for i := range n {
				for k := range n {
					reach[i][k] = reach[i][k] || reach[i][m] && reach[m][k]
				}
			}
		}
		circle := false
		for i := range n {
			circle = circle || reach[i][i]
		}
		ranks, err := NewRanks(rules)
		if (err != nil) != circle {
			t.Fatalf("%v: %v, and a circle of jobs: %v", rules, err, circle)
		}
		for i := range n {
			for k := range n {
				if circle {
					continue
				}
				rule := ranks.Over(jobs[i], jobs[k])
				if direct(jobs[i], jobs[k]) && rule == nil || rule != nil && !reach[i][k] {
					t.Fatalf("%v: %+v over %+v by %v", rules, jobs[i], jobs[k], rule)
				}
			}
		}
	})
}

// bench is a machine of some processors on several nodes, on which to try sets.
type bench struct {
	list    []Candidate
	on      [][]int // by candidate: what it has of each node
	free    []int
	want    []int // what the job wants, in any order of nodes
	stopped []bool
	natural int64 // when it could start with no job stopped
	now     int64
	trials  int
}

func (b *bench) Stop(i int) error { b.stopped[i] = true; return nil }
func (b *bench) Keep(i int) error { b.stopped[i] = false; return nil }

func (b *bench) Start(latest int64) (int64, bool, error) {
	b.trials++
	at, ok := b.start(b.stopped)
	return at, ok && at <= latest, nil
}

// start returns when the job fits: each grace is an instant at which some jobs release their
// nodes.
func (b *bench) start(stopped []bool) (int64, bool) {
	instants := []int64{b.now}
	for _, c := range b.list {
		instants = append(instants, b.now+c.Grace)
	}
	slices.Sort(instants)
	for _, at := range instants {
		if at >= b.natural {
			break
		}
		free := slices.Clone(b.free)
		for i, c := range b.list {
			if stopped[i] && b.now+c.Grace <= at {
				for n, has := range b.on[i] {
					free[n] += has
				}
			}
		}
		slices.Sort(free)
		fits := true
		for n, want := range b.want {
			fits = fits && free[len(free)-1-n] >= want
		}
		if fits {
			return at, true
		}
	}
	return b.natural, true
}

// TestChoose compares chosen sets with all possible sets.
func TestChoose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, nodes := rapid.IntRange(0, 8).Draw(t, "candidates"), rapid.IntRange(1, 4).Draw(t, "nodes")
		b := &bench{now: 1000, natural: rapid.Int64Range(1000, 1100).Draw(t, "natural"), stopped: make([]bool, n),
			free: make([]int, nodes)}
		for i := range nodes {
			b.free[i] = rapid.IntRange(0, 2).Draw(t, "free")
		}
		for i := range n {
			b.list = append(b.list, Candidate{ID: uint64(i + 1), Start: rapid.Int64Range(0, 3).Draw(t, "start"),
				Lost:  rapid.Int64Range(0, 3).Draw(t, "lost"),
				Grace: rapid.SampledFrom([]int64{0, 0, 10, 30}).Draw(t, "grace")})
			on := make([]int, nodes)
			on[rapid.IntRange(0, nodes-1).Draw(t, "node")] = rapid.IntRange(1, 3).Draw(t, "has")
			b.on = append(b.on, on)
		}
		for range rapid.IntRange(1, nodes).Draw(t, "wants") {
			b.want = append(b.want, rapid.IntRange(1, 5).Draw(t, "want"))
		}
		slices.Sort(b.want)
		slices.Reverse(b.want)
		Order(b.list)
		chosen, start, err := Choose(b.list, b.now, b)
		if err != nil {
			t.Fatal(err)
		}
		for i, stopped := range b.stopped {
			if stopped != slices.Contains(chosen, i) {
				t.Fatalf("candidate %d is stopped: %v, and chosen were %v", i, stopped, chosen)
			}
		}
		helps := func(set []bool) bool {
			latest, some := b.now, false
			for i, in := range set {
				if in {
					latest, some = max(latest, b.now+b.list[i].Grace), true
				}
			}
			at, _ := b.start(set)
			return some && at <= latest && at < b.natural
		}
		if len(chosen) == 0 {
			// No job is stopped only if no set helps, or if waiting costs no more than the
			// grace of those that would go first.
			for bits := range 1 << n {
				set := make([]bool, n)
				for i := range n {
					set[i] = bits>>i&1 == 1
				}
				if alone, _ := b.start(make([]bool, n)); helps(set) && alone > b.now+30 {
					t.Fatalf("%v would help, and no job is stopped: %+v", set, b)
				}
			}
			return
		}
		if !helps(b.stopped) {
			t.Fatalf("%v are stopped, and that does not help: %+v", chosen, b)
		}
		if at, _ := b.start(b.stopped); at != start {
			t.Fatalf("the start is %d, said was %d", at, start)
		}
		for _, i := range chosen {
			set := slices.Clone(b.stopped)
			set[i] = false
			if at, _ := b.start(set); at <= start {
				t.Fatalf("%d of %v could stay: %+v", i, chosen, b)
			}
		}
		// All that come later in the order could have been stopped first: before none of the
		// chosen ones is there one that would alone be enough instead.
		for _, i := range chosen {
			for k := range i {
				set := slices.Clone(b.stopped)
				set[i] = false
				set[k] = true
				last := slices.Max(chosen)
				if at, _ := b.start(set); i == last && !b.stopped[k] && at <= start && b.list[k].Grace <= start-b.now {
					t.Fatalf("%d goes, and %d before it would do: %+v", i, k, b)
				}
			}
		}
	})
}

func TestChooseAsksLittle(t *testing.T) {
	b := &bench{natural: 1 << 40, free: []int{0}, want: []int{3}}
	for i := range 10000 {
		b.list = append(b.list, Candidate{ID: uint64(i)})
		b.on = append(b.on, []int{1})
	}
	b.stopped = make([]bool, len(b.list))
	if chosen, _, _ := Choose(b.list, 0, b); len(chosen) != 3 || b.trials > 10 {
		t.Errorf("%v in %d trials", chosen, b.trials)
	}
}
