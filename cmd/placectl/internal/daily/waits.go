package daily

import (
	"cmp"
	"slices"
	"time"

	"github.com/placectl/placectl/internal/engine"
)

// WaitsUnder holds the mean waits of some waiting jobs under several rules, to the second.
type WaitsUnder struct {
	Of, Name string // all, class, user or size, and which
	Jobs     int
	Means    []time.Duration // by rule
	Late     []int           // by rule: how many have not started by the end
}

// WaitsByRule sums up simulations of a queue up to an instant, one for each rule: all jobs, and those of
// each class, if there is one, of each user, and of each size unless that is nil. A job that has not
// started counts as waiting until then.
func WaitsByRule(plays [][]engine.Played, until time.Time, size func(cpus int64) string) []WaitsUnder {
	groups := make(map[[2]string]*WaitsUnder)
	classes := false
	for i, list := range plays {
		for _, j := range list {
			keys := [][2]string{{"all", ""}, {"class", j.Class}, {"user", j.User}}
			if size != nil {
				keys = append(keys, [2]string{"size", size(j.CPUs)})
			}
			for _, key := range keys {
				g := groups[key]
				if g == nil {
					g = &WaitsUnder{Of: key[0], Name: key[1], Means: make([]time.Duration, len(plays)),
						Late: make([]int, len(plays))}
					groups[key] = g
				}
				g.take(i, j, until)
			}
			classes = classes || j.Class != ""
		}
	}
	var list []WaitsUnder
	for _, g := range groups {
		if g.Of == "class" && !classes {
			continue
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

// take adds a job as it is under a rule.
func (g *WaitsUnder) take(rule int, j engine.Played, until time.Time) {
	if rule == 0 {
		g.Jobs++
	}
	start := j.Start
	if start.IsZero() {
		start = until
		g.Late[rule]++
	}
	g.Means[rule] += start.Sub(j.Submit)
}
