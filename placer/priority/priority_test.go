package priority

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/priorityf"
	"github.com/placectl/placectl/placer/subject"
	"pgregory.net/rapid"
)

// world holds what an order was told, in a simple form.
type world struct {
	numbers map[subject.Subject]int64
	had     map[subject.Names]float64
	targets map[string]float64 // of classes
	begun   []uint64
	jobs    []*Job
}

func drawWorld(t *rapid.T) *world {
	name := rapid.SampledFrom([]string{"", "a", "b", "c"})
	who := rapid.Custom(func(t *rapid.T) subject.Names {
		return subject.Names{subject.User: name.Draw(t, "user"), subject.Group: name.Draw(t, "group"),
			subject.Account: name.Draw(t, "account"), subject.Class: name.Draw(t, "class"),
			subject.Queue: name.Draw(t, "queue")}
	})
	w := &world{numbers: make(map[subject.Subject]int64), had: make(map[subject.Names]float64),
		targets: make(map[string]float64)}
	for range rapid.IntRange(0, 8).Draw(t, "numbers") {
		w.numbers[rapid.SampledFrom(subject.Shared).Draw(t, "kind").Of(name.Draw(t, "name"))] = rapid.Int64Range(0,
			9).Draw(t, "number")
	}
	for range rapid.IntRange(0, 8).Draw(t, "uses") {
		w.had[who.Draw(t, "who")] += rapid.Float64Range(0, 100).Draw(t, "use")
	}
	for range rapid.IntRange(0, 3).Draw(t, "targets") {
		w.targets[name.Draw(t, "class")] = rapid.Float64Range(0, 1).Draw(t, "target")
	}
	w.begun = rapid.SliceOfNDistinct(rapid.Uint64Range(1, 30), 0, 6, rapid.ID).Draw(t, "begun")
	slices.Sort(w.begun)
	for i := range rapid.IntRange(1, 6).Draw(t, "jobs") {
		w.jobs = append(w.jobs, &Job{ID: uint64(5*i + 1), Names: who.Draw(t, "who"), Asks: func(string) int64 {
			return int64(i)
		},
			JobFacts: priorityf.JobFacts{Priority: rapid.Int64Range(-5, 5).Draw(t, "priority"), Nodes: int64(i)}})
	}
	return w
}

// order returns an order that was told what is in the world.
func (w *world) order(t *rapid.T, text string) *Order {
	expr, err := priorityf.ParseJob(index.NewDefs(), text)
	if err != nil {
		t.Fatal(err)
	}
	o := &Order{Expr: expr, CPUs: 64, Nodes: 8, Numbers: make(Numbers), Use: NewUse(), Begun: w.begun}
	for of, n := range w.numbers {
		o.Numbers[of] = float64(n)
	}
	for _, who := range w.users() {
		o.Use.Had(who, w.had[who])
	}
	for name, part := range w.targets {
		o.Use.Class(name, part)
	}
	for _, j := range w.jobs {
		o.Use.Waits(j.Names[subject.Account], j.Names[subject.User])
	}
	o.Use.Rank()
	o.Prepare()
	return o
}

// users returns those who have had something, in an order of their own.
func (w *world) users() (list []subject.Names) {
	for who := range w.had {
		list = append(list, who)
	}
	slices.SortFunc(list, func(a, b subject.Names) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return list
}

// terms are the values of each term of a job, computed from the world alone.
var terms = map[string]func(w *world, j *Job) float64{
	"PRIORITY":   func(_ *world, j *Job) float64 { return float64(j.Priority) },
	"NODES":      func(_ *world, j *Job) float64 { return float64(j.Nodes) },
	"ASK.ncpus":  func(_ *world, j *Job) float64 { return float64(j.Nodes) },
	"TOTALCPUS":  func(*world, *Job) float64 { return 64 },
	"TOTALNODES": func(*world, *Job) float64 { return 8 },
	"USER":       func(w *world, j *Job) float64 { return w.number(subject.User, j) },
	"QUEUE":      func(w *world, j *Job) float64 { return w.number(subject.Queue, j) },
	"MAXQUEUE":   func(w *world, _ *Job) float64 { return w.most(subject.Queue) },
	"MAXCLASS":   func(w *world, _ *Job) float64 { return w.most(subject.Class) },
	"USAGE.account": func(w *world, j *Job) float64 {
		return w.part(func(who subject.Names) bool { return who[subject.Account] == j.Names[subject.Account] })
	},
	"USAGE.class": func(w *world, j *Job) float64 {
		return w.part(func(who subject.Names) bool { return who[subject.Class] == j.Names[subject.Class] })
	},
	"TARGET.class": func(w *world, j *Job) float64 {
		return 100 * (w.targets[j.Names[subject.Class]] - w.part(func(who subject.Names) bool {
			return who[subject.Class] == j.Names[subject.Class]
		}))
	},
	"BYPASS": func(w *world, j *Job) (n float64) {
		for _, id := range w.begun {
			if id > j.ID {
				n++
			}
		}
		return n
	},
}

func (w *world) number(kind subject.Kind, j *Job) float64 {
	return float64(w.numbers[kind.Of(j.Names[kind])])
}

func (w *world) most(kind subject.Kind) (n float64) {
	for of, number := range w.numbers {
		if of.Kind == kind {
			n = max(n, float64(number))
		}
	}
	return n
}

func (w *world) part(of func(subject.Names) bool) float64 {
	var some, all float64
	for who, use := range w.had {
		all += use
		if of(who) {
			some += use
		}
	}
	if all == 0 {
		return 0
	}
	return some / all
}

// Each term is what was told, whatever else the order was told. FAIRSHARE and TARGET.user,
// which package fairshare computes, are the same each time.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for text, of := range terms {
			o := w.order(t, text)
			for _, j := range w.jobs {
				if got, want := o.Value(j), of(w, j); math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) {
					t.Fatalf("%s of %+v is %v, want %v", text, j.Names, got, want)
				}
			}
		}
		const shared = "FAIRSHARE + 3*TARGET.user + TARGET.account"
		first := w.order(t, shared)
		for range 3 {
			again := w.order(t, shared)
			for _, j := range w.jobs {
				if a, b := first.Value(j), again.Value(j); a != b {
					t.Fatalf("%s of %+v is %v, and then %v", shared, j.Names, a, b)
				}
			}
		}
	})
}

// The highest value comes first; of equal ones, the job that was submitted first.
func TestSort(t *testing.T) {
	list := []Valued[string]{{"c", 3, 1}, {"a", 1, 1}, {"z", 9, 2}, {"y", 8, math.Inf(-1)}}
	Sort(list)
	var got []string
	for _, v := range list {
		got = append(got, v.Is)
	}
	if diff := cmp.Diff([]string{"z", "a", "c", "y"}, got); diff != "" {
		t.Error(diff)
	}
}
