package forecast

import "slices"

// keep is the number of durations kept of each kind of jobs. With fewer than least they say nothing.
const (
	keep  = 20
	least = 3
)

// Job holds the properties of a job that predictions use.
type Job struct {
	User, Name string
	Asked      int64 // seconds, at least 1
	Size       int64 // processors, or another measure of its size
}

// past is the run of an ended job.
type past struct{ ran, asked int64 }

// ring holds the last runs of some jobs.
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

// kind is what jobs have in common: all fields that are not zero.
type kind struct {
	user, name  string
	asked, size int64
	any         bool // any user
}

// History is the durations of ended jobs. The zero value knows none.
type History struct {
	kinds map[kind]*ring
}

// kindsOf lists the kinds of a job, the narrowest first. In the first of these, up to scaled, jobs asked
// for the same duration. In the others the ratio to what they asked for counts.
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

// scaled is the number of kinds whose durations are used as they are.
const scaled = 3

// Learn records the run time of a job that ended by itself or at its limit.
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

// Likely predicts the total run time of a job that has run for a while: at least 1, longer than it has
// run, and no longer than it asked for.
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
