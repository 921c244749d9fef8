package backfill

import "github.com/placectl/placectl/index/heap"

// An event happens to a job. Events of one kind at one instant are in the order of their turns.
type event struct {
	at   int64
	turn int64
	job  int32
}

func (e *event) before(f *event) bool {
	return e.at < f.at || e.at == f.at && e.turn < f.turn
}

// events is a heap with at most one event for each job, the next one first. It knows the place of each
// job's event, because conservative backfilling decides most starts twenty times before they happen.
// Leaving outdated events in the heap took a tenth of a replay's time to remove them.
type events struct {
	*heap.Heap[event]
	place []int32 // in the heap, by job; -1 for jobs without an event
}

func newEvents(jobs int) *events {
	h := &events{heap.New((*event).before), make([]int32, jobs)}
	for i := range h.place {
		h.place[i] = -1
	}
	h.Moved = func(e *event, at int) { h.place[e.job] = int32(at) }
	return h
}

// set adds an event, or replaces the job's event.
func (h *events) set(e event) {
	if at := h.place[e.job]; at >= 0 {
		h.Set(int(at), e)
	} else {
		h.Push(e)
	}
}

// pop removes and returns the next event.
func (h *events) pop() event {
	next := h.Pop()
	h.place[next.job] = -1
	return next
}

// drop removes a job's event, if it has one.
func (h *events) drop(job int32) {
	if at := h.place[job]; at >= 0 {
		h.place[job] = -1
		h.Remove(int(at))
	}
}
