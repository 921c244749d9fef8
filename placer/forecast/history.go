package forecast

import "slices"

// keep is how many durations are kept of each kind of jobs, and least from how many on they say
// something.
const (
	keep  = 20
	least = 3
)

// Job is a job, as far as its duration is foretold.
type Job struct {
	User, Name string
	Asked      int64 // seconds, at least 1
	Size       int64 // processors, or whatever else says how large it is
}

// past is the duration of a job that has ended.
type past struct{ ran, asked int64 }

// ring is the last of some jobs that have ended.
type ring struct {
	list []past
	next int
}

func (r *ring) add(p past) {
	if len(r.list) < keep {
		r.list = append(r.list, p)
		return
	}
	r.list[r.next] = p
	r.next = (r.next + 1) % keep
}

// kind is what jobs have in common: all that is not zero.
type kind struct {
	user, name  string
	asked, size int64
	any         bool // whoever the user is
}

// History is how long jobs have run. The zero value knows nothing.
type History struct {
	kinds map[kind]*ring
}

// kindsOf are the kinds of a job, the narrowest first. Of the first scaled ones durations are
// those of jobs that asked for the same; of the others the ratio to what was asked counts.
func kindsOf(j Job) (list [6]kind) {
	return [6]kind{
		{user: j.User, name: j.Name, asked: j.Asked, size: j.Size},
		{user: j.User, asked: j.Asked, size: j.Size},
		{user: j.User, asked: j.Asked},
		{user: j.User},
		{any: true, asked: j.Asked},
		{any: true},
	}
}

// scaled is from which of the kinds of a job on durations are scaled.
const scaled = 3

// Learn takes down how long a job ran, which has ended by itself or at what it asked for.
func (h *History) Learn(j Job, ran int64) {
	if h.kinds == nil {
		h.kinds = make(map[kind]*ring)
	}
	kinds := kindsOf(j)
	for i, k := range kinds {
		if i > 0 && k == kinds[i-1] {
			continue // the job has no name
		}
		r := h.kinds[k]
		if r == nil {
			r = new(ring)
			h.kinds[k] = r
		}
		r.add(past{min(ran, j.Asked), j.Asked})
	}
}

// Likely is for how long a job is likely to run in all, when it has run for a while: at least 1,
// longer than it has run, and no longer than it asked for.
func (h *History) Likely(j Job, ran int64) int64 {
	likely := j.Asked
	var durations [keep]int64
	for i, k := range kindsOf(j) {
		r := h.kinds[k]
		if r == nil || len(r.list) < least {
			continue
		}
		list := durations[:0]
		for _, p := range r.list {
			d := p.ran
			if i >= scaled {
				d = int64(float64(p.ran) / float64(p.asked) * float64(j.Asked))
			}
			if d = min(d, j.Asked); d > ran || ran == 0 {
				list = append(list, d)
			}
		}
		if likely = ran + (j.Asked-ran)/2; len(list) > 0 {
			slices.Sort(list)
			likely = list[(len(list)-1)/2]
		}
		break
	}
	return min(max(likely, ran+1, 1), max(j.Asked, 1))
}
