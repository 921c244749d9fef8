package fairshare

import (
	"cmp"
	"container/heap"
	"slices"
)

// A Line is the waiting tasks of a class, each with a priority and a walltime of its own. It gives
// them their turns one by one. The highest priority comes first; then the job with the fewest running
// tasks, where a task counts as running from its turn on; then the longest walltime; then the task
// that was submitted first. Of jobs that run equally many, those with fewer turns at this instant come
// first, as in a Planner: for tasks that differ only in their jobs, both start the same.
type Line struct {
	jobs   map[LineJob]*lineJob
	waits  lineHeap
	turned []*lineJob // jobs that had a turn at this instant
	tasks  int
	ready  bool // the tasks are sorted, and waits is a heap
}

// A LineJob names a job, whose tasks are equal to its class: an array or, for tasks of no array, all
// that a user has.
type LineJob struct {
	Array uint64
	User  string // of a task of no array
}

// A LineTask is a waiting task.
type LineTask struct {
	At       int // the caller's number for it
	Priority float64
	Walltime int64 // seconds

	order int // of submission
}

type lineJob struct {
	running, turns int
	tasks          []LineTask // the next one first
	at             int        // in the heap
}

func (l *Line) job(name LineJob) *lineJob {
	j := l.jobs[name]
	if j == nil {
		if l.jobs == nil {
			l.jobs = make(map[LineJob]*lineJob)
		}
		j = &lineJob{at: -1}
		l.jobs[name] = j
	}
	return j
}

// Run counts more running tasks of a job, or with a negative n fewer.
func (l *Line) Run(name LineJob, n int) {
	j := l.job(name)
	j.running += n
	l.moved(j)
}

// Wait adds a waiting task, which was submitted after those before it. All must be added before the
// first turn.
func (l *Line) Wait(name LineJob, t LineTask) {
	j := l.job(name)
	if len(j.tasks) == 0 {
		l.waits = append(l.waits, j)
	}
	t.order = l.tasks
	l.tasks++
	j.tasks = append(j.tasks, t)
}

// Len returns how many tasks wait for their turn.
func (l *Line) Len() int { return l.tasks }

// First returns the task whose turn is next. There must be one.
func (l *Line) First() int {
	if !l.ready {
		for _, j := range l.waits {
			slices.SortFunc(j.tasks, func(a, b LineTask) int { return a.compare(&b) })
		}
		for i, j := range l.waits {
			j.at = i
		}
		heap.Init(&l.waits)
		l.ready = true
	}
	return l.waits[0].tasks[0].At
}

// Turn gives the first task its turn. It counts as running from then on if starts is true.
func (l *Line) Turn(starts bool) {
	l.First()
	j := l.waits[0]
	l.tasks--
	if j.tasks = j.tasks[1:]; starts {
		if j.running++; j.turns == 0 {
			l.turned = append(l.turned, j)
		}
		j.turns++
	}
	if len(j.tasks) == 0 {
		heap.Pop(&l.waits)
		return
	}
	heap.Fix(&l.waits, 0)
}

// Later goes on to a later instant.
func (l *Line) Later() {
	for _, j := range l.turned {
		j.turns = 0
		l.moved(j)
	}
	l.turned = l.turned[:0]
}

// moved puts a job that has changed where it belongs.
func (l *Line) moved(j *lineJob) {
	if l.ready && j.at >= 0 {
		heap.Fix(&l.waits, j.at)
	}
}

// compare orders the tasks of a job.
func (t *LineTask) compare(o *LineTask) int {
	return cmp.Or(cmp.Compare(o.Priority, t.Priority), cmp.Compare(o.Walltime, t.Walltime),
		cmp.Compare(t.order, o.order))
}

// lineHeap is the jobs with waiting tasks, the one whose turn is next first.
type lineHeap []*lineJob

func (h lineHeap) Len() int { return len(h) }

func (h lineHeap) Less(i, k int) bool {
	a, b := h[i], h[k]
	return cmp.Or(cmp.Compare(b.tasks[0].Priority, a.tasks[0].Priority), cmp.Compare(a.running, b.running),
		cmp.Compare(a.turns, b.turns), a.tasks[0].compare(&b.tasks[0])) < 0
}

func (h lineHeap) Swap(i, k int) {
	h[i], h[k] = h[k], h[i]
	h[i].at, h[k].at = i, k
}

func (h *lineHeap) Push(j any) { *h = append(*h, j.(*lineJob)) }

func (h *lineHeap) Pop() any {
	last := len(*h) - 1
	j := (*h)[last]
	*h, j.at = (*h)[:last], -1
	return j
}
