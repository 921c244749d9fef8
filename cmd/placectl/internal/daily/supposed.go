package daily

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/placectl/placectl/store"
)

// Supposed compares the waits of some waiting jobs as things are and with a change: those of all, of a
// class, or of a user.
type Supposed struct {
	Of, Name              string // all, class or user, and which
	Jobs                  int
	Before, After         time.Duration // the mean waits, to the second
	LateBefore, LateAfter int           // how many have not started by the end
}

// CompareWaits compares two simulations of a queue up to an instant. A job that has not started counts
// as waiting until then.
func CompareWaits(before, after []store.Played, until time.Time) []Supposed {
	groups := make(map[[2]string]*Supposed)
	for i, list := range [2][]store.Played{before, after} {
		for _, j := range list {
			for _, key := range [][2]string{{"all", ""}, {"class", j.Class}, {"user", j.User}} {
				g := groups[key]
				if g == nil {
					g = &Supposed{Of: key[0], Name: key[1]}
					groups[key] = g
				}
				g.take(i, j, until)
			}
		}
	}
	list := make([]Supposed, 0, len(groups))
	classes := false
	for _, g := range groups {
		classes = classes || g.Of == "class" && g.Name != ""
	}
	for g := range maps.Values(groups) {
		if g.Of == "class" && !classes {
			continue // no job is in a class
		}
		g.Before, g.After = g.mean(g.Before), g.mean(g.After)
		list = append(list, *g)
	}
	slices.SortFunc(list, func(a, b Supposed) int {
		return cmp.Or(cmp.Compare(a.Of, b.Of), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// take adds a job of the first or the second simulation.
func (g *Supposed) take(play int, j store.Played, until time.Time) {
	sum, late := &g.Before, &g.LateBefore
	if play == 1 {
		sum, late = &g.After, &g.LateAfter
	} else {
		g.Jobs++
	}
	start := j.Start
	if start.IsZero() {
		start = until
		*late++
	}
	*sum += start.Sub(j.Submit)
}

// mean returns a sum divided by the number of jobs.
func (g *Supposed) mean(sum time.Duration) time.Duration {
	return (sum / time.Duration(max(1, g.Jobs))).Truncate(time.Second)
}

// WaitsUnder holds the mean waits of some waiting jobs under several rules, to the second.
type WaitsUnder struct {
	Of, Name string // all, class, user or size, and which
	Jobs     int
	Means    []time.Duration // by rule
	Late     []int           // how many have not started by the end
}

// WaitsByRule sums up simulations of a queue up to an instant, one for each rule. A job that has not
// started counts as waiting until then.
func WaitsByRule(plays [][]store.Played, until time.Time, size func(cpus int64) string) []WaitsUnder {
	groups := make(map[[2]string]*WaitsUnder)
	for i, list := range plays {
		for _, j := range list {
			for _, key := range [][2]string{{"all", ""}, {"class", j.Class}, {"user", j.User}, {"size", size(j.CPUs)}} {
				g := groups[key]
				if g == nil {
					g = &WaitsUnder{Of: key[0], Name: key[1], Means: make([]time.Duration, len(plays)),
						Late: make([]int, len(plays))}
					groups[key] = g
				}
				if i == 0 {
					g.Jobs++
				}
				start := j.Start
				if start.IsZero() {
					start = until
					g.Late[i]++
				}
				g.Means[i] += start.Sub(j.Submit)
			}
		}
	}
	var list []WaitsUnder
	for _, g := range groups {
		if g.Of == "class" && g.Name == "" {
			continue // jobs in no class
		}
		for i := range g.Means {
			g.Means[i] = (g.Means[i] / time.Duration(max(1, g.Jobs))).Truncate(time.Second)
		}
		list = append(list, *g)
	}
	slices.SortFunc(list, func(a, b WaitsUnder) int {
		return cmp.Or(cmp.Compare(a.Of, b.Of), cmp.Compare(a.Name, b.Name))
	})
	return list
}
