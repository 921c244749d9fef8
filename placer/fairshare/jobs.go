package fairshare

import "slices"

// Within a class the job with the fewest running tasks starts the next one, and that task counts as
// running from then on. So jobs are like vessels: each holds what it runs, has room for what waits, and
// all are filled together from the lowest level. The code searches for the level that n tasks reach. A
// few tasks go on top of it. They are picked in the order in which jobs would have come to that level:
// first those that were there from the start, then those lifted to it, the one from just below before
// the one from the bottom, and at last in order of submission. This is the order of a Line whose tasks
// have no priorities and walltimes; here it takes no time per task.

// share says how many of n tasks each job starts. At most n tasks wait.
func (p *Planner) share(jobs []Job, n int) []int {
	base := len(p.jobs)
	p.jobs = slices.Grow(p.jobs, len(jobs))[:base+len(jobs)]
	starts := p.jobs[base:len(p.jobs):len(p.jobs)]
	if n == 0 {
		clear(starts)
		return starts
	}
	level := levelOf(jobs, n)
	left := n
	for i := range jobs {
		starts[i] = jobs[i].upTo(level)
		left -= starts[i]
	}
	if left > 0 {
		lift(jobs, starts, level, left)
	}
	return starts
}

// upTo returns how many tasks a job starts to have as many running as the level.
func (j *Job) upTo(level int) int { return min(j.Waiting, max(0, level-j.Running)) }

// above reports whether a job starts another task when it is at the level.
func (j *Job) above(level int) bool { return j.Running <= level && j.Waiting > level-j.Running }

// levelOf returns the highest level that n tasks fill.
func levelOf(jobs []Job, n int) int {
	low, high := -1, 0
	for i := range jobs {
		j := &jobs[i]
		if j.Waiting == 0 {
			continue
		}
		if low < 0 || j.Running < low {
			low = j.Running
		}
		high = max(high, j.Running+j.Waiting)
	}
	low = max(low, 0)
	for low < high {
		if mid := low + (high-low+1)/2; filled(jobs, mid, n) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

// filled reports whether n tasks are enough to fill all jobs up to a level.
func filled(jobs []Job, level, n int) bool {
	for i := range jobs {
		if n -= jobs[i].upTo(level); n < 0 {
			return false
		}
	}
	return true
}

// lift starts one more task in n of the jobs that reach above the level: in those that ran the most to
// begin with, and of equal ones in those submitted first.
func lift(jobs []Job, starts []int, level, n int) {
	// The least number of running tasks for which at most n jobs ran more.
	low, high := 0, level
	for low < high {
		if mid := low + (high-low)/2; reaching(jobs, level, mid+1) > n {
			low = mid + 1
		} else {
			high = mid
		}
	}
	n -= reaching(jobs, level, low+1)
	for i := range jobs {
		j := &jobs[i]
		switch {
		case !j.above(level) || j.Running < low:
		case j.Running > low:
			starts[i]++
		case n > 0:
			starts[i]++
			n--
		}
	}
}

// reaching counts the jobs above a level that ran at least so many tasks to begin with.
func reaching(jobs []Job, level, running int) int {
	n := 0
	for i := range jobs {
		if jobs[i].Running >= running && jobs[i].above(level) {
			n++
		}
	}
	return n
}
