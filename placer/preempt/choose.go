package preempt

import (
	"cmp"
	"slices"
)

// Candidate is a job that may be stopped for another.
type Candidate struct {
	ID    uint64
	Owner uint64 // as in the calendar
	Start int64  // when it began to run
	Lost  int64  // processor-seconds of work lost if it is stopped
	Grace int64  // seconds that it keeps its nodes after being told; 0: none
	Rule  *Rule  // the rule by which it makes way
}

// Order puts the jobs to stop first: those that lose the least work, and of equal ones the newest.
func Order(list []Candidate) {
	slices.SortFunc(list, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Lost, b.Lost), cmp.Compare(b.Start, a.Start), cmp.Compare(b.ID, a.ID))
	})
}

// MadeWayFor returns the set of jobs that a job has made way for, directly or through others; nil if there
// are none. yielded lists the jobs that one has made way for; 0 is an unnamed one.
func MadeWayFor(job uint64, yielded func(job uint64) ([]uint64, error)) (map[uint64]bool, error) {
	var seen map[uint64]bool
	for next := []uint64{job}; len(next) > 0; next = next[1:] {
		list, err := yielded(next[0])
		if err != nil {
			return nil, err
		}
		for _, id := range list {
			if id == 0 || seen[id] {
				continue
			}
			if seen == nil {
				seen = make(map[uint64]bool)
			}
			seen[id] = true
			next = append(next, id)
		}
	}
	return seen, nil
}

// Trial is the nodes, for trying what happens if jobs are stopped.
type Trial interface {
	// Stop stops a candidate in the trial, and Keep undoes that.
	Stop(i int) error
	Keep(i int) error
	// Start returns when the job that they are stopped for could start, if that is no later
	// than latest.
	Start(latest int64) (start int64, ok bool, err error)
}

// Choose chooses jobs to stop, out of candidates in order, so that a job can start once they have
// given back: now, or after the longest grace of those stopped. It returns their indexes,
// ascending, and the start, assuming that they stop then and all others stay. It chooses none if
// that would not help, or if the job can start as soon when all stay. None of a chosen set could
// stay without the job starting later.
//
// It makes as few trials as possible: sets of the first one, two, four ... candidates until one
// helps, then bisection, then one trial for each candidate of that set.
func Choose(list []Candidate, now int64, t Trial) (chosen []int, start int64, err error) {
	c := choice{list: list, now: now, trial: t}
	n, err := c.enough()
	if err != nil || n == 0 {
		return nil, 0, err
	}
	start = c.start
	for i := n - 1; i >= 0; i-- {
		if err := t.Keep(i); err != nil {
			return nil, 0, err
		}
		_, ok, err := t.Start(start)
		if err != nil {
			return nil, 0, err
		}
		if ok {
			continue
		}
		if err := t.Stop(i); err != nil {
			return nil, 0, err
		}
		chosen = append(chosen, i)
	}
	slices.Reverse(chosen)
	return chosen, start, nil
}

// choice is a choice in progress.
type choice struct {
	list    []Candidate
	now     int64
	trial   Trial
	stopped int   // the first stopped candidates are stopped
	start   int64 // the last start found
}

// helps stops exactly the first n candidates, and reports whether that helps.
func (c *choice) helps(n int) (bool, error) {
	for ; c.stopped < n; c.stopped++ {
		if err := c.trial.Stop(c.stopped); err != nil {
			return false, err
		}
	}
	for ; c.stopped > n; c.stopped-- {
		if err := c.trial.Keep(c.stopped - 1); err != nil {
			return false, err
		}
	}
	latest := c.now
	for i := range n {
		latest = max(latest, c.now+c.list[i].Grace)
	}
	start, ok, err := c.trial.Start(latest)
	if ok {
		c.start = start
	}
	return ok, err
}

// enough stops as few of the first candidates as help, and returns how many, or 0 if even all
// of them do not help.
func (c *choice) enough() (int, error) {
	low, high := 0, 1 // low does not help
	for {
		high = min(high, len(c.list))
		if high == low {
			_, err := c.helps(0)
			return 0, err
		}
		ok, err := c.helps(high)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		low, high = high, high*2
	}
	for high-low > 1 {
		mid := low + (high-low)/2
		ok, err := c.helps(mid)
		if err != nil {
			return 0, err
		}
		if ok {
			high = mid
		} else {
			low = mid
		}
	}
	_, err := c.helps(high)
	return high, err
}
