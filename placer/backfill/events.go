package backfill

import "github.com/placectl/placectl/index/heap"

// An event happens to a job. Events of one kind at one instant come in the order
// of their turns.
type event struct {
	at   int64
	turn int64
	job  int32
}

func (e *event) before(f *event) bool {
	return e.at < f.at || e.at == f.at && e.turn < f.turn
}

// events are at most one event a job, the next event first. They know where each job's
// is, because conservative backfilling decides most starts twenty times before they
// happen: with outdated events left in the heap, their removal was a tenth of a replay.
type events struct {
	*heap.Heap[event]
	place []int32 // in the heap, by job; for jobs that have no event, -1
}

func newEvents(jobs int) *events {
	h := &events{heap.New((*event).before), make([]int32, jobs)}
	for i := range h.place {
		h.place[i] = -1
	}
	h.Moved = func(e *event, at int) { h.place[e.job] = int32(at) }
	return h
}

// set adds an event, or puts it in place of the job's event.
func (h *events) set(e event) {
	if at := h.place[e.job]; at >= 0 {
		h.Set(int(at), e)
	} else {
		h.Push(e)
	}
}

// pop takes the next event away.
func (h *events) pop() event {
	next := h.Pop()
	h.place[next.job] = -1
	return next
}

// drop takes a job's event away, if it has one.
func (h *events) drop(job int32) {
	if at := h.place[job]; at >= 0 {
		h.place[job] = -1
		h.Remove(int(at))
	}
}
