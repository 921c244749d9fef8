package fairshare

import (
	"cmp"
	"slices"
)

// A Task is a running task.
type Task struct {
	ID    uint64
	Start int64 // seconds
	Units int   // workers that it holds; 0 means 1
}

func (t Task) units() int { return max(1, t.Units) }

// newest picks tasks that together hold up to n workers, newest first. It passes over a task that holds
// more than is left to stop, because part of it runs on workers that the class is entitled to.
func (p *Planner) newest(tasks []Task, n int) []Task {
	base := len(p.tasks)
	p.tasks = append(p.tasks, tasks...)
	all := p.tasks[base:]
	slices.SortFunc(all, NewestFirst)
	picked := 0
	for i := 0; i < len(all) && n > 0; i++ {
		if all[i].units() <= n {
			n -= all[i].units()
			all[picked] = all[i]
			picked++
		}
	}
	p.tasks = p.tasks[:base+picked]
	return p.tasks[base:len(p.tasks):len(p.tasks)]
}

// NewestFirst orders tasks as they are stopped: the one that started last first, and of equal ones the
// one with the greater id.
func NewestFirst(a, b Task) int {
	return cmp.Or(cmp.Compare(b.Start, a.Start), cmp.Compare(b.ID, a.ID))
}
