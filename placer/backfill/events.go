package backfill

// An event happens to a job. Events of one kind at one instant come in the order
// of their turns.
type event struct {
	at   int64
	turn int64
	job  int32
}

func (e event) before(f event) bool {
	return e.at < f.at || e.at == f.at && e.turn < f.turn
}

// events is a heap of at most one event a job, the next event first. It knows
// where each job's is, because conservative backfilling decides most starts
// twenty times before they happen: with outdated events left in the heap, their
// removal was a tenth of a replay.
type events struct {
	heap  []event
	place []int32 // in the heap, by job; for jobs that have no event, -1
}

func newEvents(jobs int) *events {
	h := &events{place: make([]int32, jobs)}
	for i := range h.place {
		h.place[i] = -1
	}
	return h
}

func (h *events) len() int { return len(h.heap) }

// set adds an event, or puts it in place of the job's event, which must not be
// before it.
func (h *events) set(e event) {
	i := int(h.place[e.job])
	if i < 0 {
		i = len(h.heap)
		h.heap = append(h.heap, e)
	}
	h.up(i, e)
}

// pop takes the next event away.
func (h *events) pop() event {
	next, last := h.heap[0], len(h.heap)-1
	h.place[next.job] = -1
	e := h.heap[last]
	if h.heap = h.heap[:last]; last > 0 {
		h.down(0, e)
	}
	return next
}

// up puts an event where i is, or above.
func (h *events) up(i int, e event) {
	for i > 0 {
		above := (i - 1) / 2
		if !e.before(h.heap[above]) {
			break
		}
		h.put(i, h.heap[above])
		i = above
	}
	h.put(i, e)
}

// down puts an event where i is, or below.
func (h *events) down(i int, e event) {
	for {
		below := 2*i + 1
		if below >= len(h.heap) {
			break
		}
		if below+1 < len(h.heap) && h.heap[below+1].before(h.heap[below]) {
			below++
		}
		if !h.heap[below].before(e) {
			break
		}
		h.put(i, h.heap[below])
		i = below
	}
	h.put(i, e)
}

func (h *events) put(i int, e event) {
	h.heap[i] = e
	h.place[e.job] = int32(i)
}
