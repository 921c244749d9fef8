package main

import (
	"container/heap"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
)

// demoReplay lets the recorded time pass, instant by instant: at each one jobs
// that ended are released, new requests arrive, and what waits is tried, first
// come first served, except that those behind one that does not fit may go
// ahead. An instant is a transaction, on disk before the next begins.
//
// The queue is the demo's own: the database holds what runs, what has run and
// what is reserved.
type demoReplay struct {
	r    *runner
	data *demoData
	bar  *progress

	clock    int64 // the instant it is, in Unix seconds
	next     int   // of data.Jobs, the next to be submitted
	waiting  []*demoJob
	running  demoEnds
	reserves []demoReserve // still to be made
	reopens  []int64       // when reservations that were made end

	stats   demoStats
	history demoHistory
}

// demoStats is what is counted on the way.
type demoStats struct {
	Placed, Released int
	FittedIn         int // placed on nodes that are reserved for later, since they end before
	Waits            []int64
	MostWaiting      int
	Transactions     int
	Took             time.Duration
}

// waits sums up how long jobs waited: how many did, half of them at least the
// median, in seconds.
func (s *demoStats) waits() (waited int, median, longest int64) {
	long := slices.DeleteFunc(slices.Clone(s.Waits), func(w int64) bool { return w == 0 })
	if len(long) == 0 {
		return 0, 0, 0
	}
	slices.Sort(long)
	return len(long), long[len(long)/2], long[len(long)-1]
}

// rate is placements a second, all the work around them included.
func (s *demoStats) rate() float64 { return float64(s.Placed) / max(s.Took.Seconds(), 1e-9) }

// demoReserve is a reservation and when it is made.
type demoReserve struct {
	Made  int64
	Name  string
	Nodes string // a select
	Start int64  // or as soon after it as so many nodes are free
	Lasts time.Duration
}

func newDemoReplay(r *runner, data *demoData) *demoReplay {
	const hour = 3600
	middle := data.From + (data.Until-data.From)/2
	return &demoReplay{r: r, data: data, clock: data.From, history: newDemoHistory(data), reserves: []demoReserve{
		{middle, "maintenance", "4:ncpus=80:feature=cl_zewura+8:ncpus=12:feature=cl_zegox", middle + 24*hour, 8 * time.Hour},
		{data.Until - 12*hour, "upgrade", "8:ncpus=12:feature=cl_zegox", data.Until + 12*hour, 6 * time.Hour},
	}}
}

// replay goes through all instants at which something happens.
func (d *demoReplay) replay(db *store.DB) error {
	d.bar = d.r.progress("replaying six days: jobs", int64(len(d.data.Jobs)))
	defer d.bar.done()
	began := time.Now()
	for {
		at := d.nextInstant()
		if at > d.data.Until {
			break
		}
		if err := d.r.ctx.Err(); err != nil {
			return err
		}
		d.history.pass(d, at)
		d.clock = at
		if err := db.Update(d.instant); err != nil {
			return err
		}
		d.stats.Transactions++
	}
	d.history.pass(d, d.data.Until)
	d.clock = d.data.Until
	d.stats.Took = time.Since(began)
	return nil
}

// nextInstant is when something happens next.
func (d *demoReplay) nextInstant() int64 {
	at := d.data.Until + 1
	if d.next < len(d.data.Jobs) {
		at = min(at, d.data.Jobs[d.next].Submit)
	}
	if len(d.running) > 0 {
		at = min(at, d.running[0].at)
	}
	if len(d.reserves) > 0 {
		at = min(at, d.reserves[0].Made)
	}
	for _, t := range d.reopens {
		at = min(at, t)
	}
	return at
}

// instant does what is due. Only nodes that came free let a request start that
// did not fit before, so without them only new ones are tried.
func (d *demoReplay) instant(tx *store.Tx) error {
	freed, err := d.release(tx)
	if err != nil {
		return err
	}
	if err := d.reserve(tx); err != nil {
		return err
	}
	tried := len(d.waiting)
	if freed {
		tried = 0
	}
	for ; d.next < len(d.data.Jobs) && d.data.Jobs[d.next].Submit <= d.clock; d.next++ {
		d.waiting = append(d.waiting, d.data.Jobs[d.next])
		d.bar.add(1)
	}
	still, err := d.tryAll(tx, d.waiting[tried:])
	d.waiting = append(d.waiting[:tried], still...)
	d.stats.MostWaiting = max(d.stats.MostWaiting, len(d.waiting))
	return err
}

// release ends the jobs that ended by now, and reports whether nodes came free.
func (d *demoReplay) release(tx *store.Tx) (freed bool, err error) {
	for i := 0; i < len(d.reopens); i++ {
		if d.reopens[i] <= d.clock {
			d.reopens = append(d.reopens[:i], d.reopens[i+1:]...)
			freed = true
			i--
		}
	}
	for len(d.running) > 0 && d.running[0].at <= d.clock {
		end := heap.Pop(&d.running).(demoEnd)
		job, err := tx.Release(end.job)
		if err != nil {
			return freed, err
		}
		d.history.count(job.NodeNumbers(), -1)
		d.stats.Released++
		freed = true
	}
	return freed, nil
}

// reserve makes the reservations that are due to be made.
func (d *demoReplay) reserve(tx *store.Tx) error {
	for len(d.reserves) > 0 && d.reserves[0].Made <= d.clock {
		v := d.reserves[0]
		d.reserves = d.reserves[1:]
		plans, err := tx.When(placer.Request{Select: v.Nodes, Place: "scatter:excl", Walltime: v.Lasts}, v.Start, 1)
		if err != nil {
			return fmt.Errorf("reservation %s: %w", v.Name, err)
		}
		if _, err := tx.ReserveNodes(v.Name, plans[0].NodeNumbers(), plans[0].Start, plans[0].End); err != nil {
			return err
		}
		d.reopens = append(d.reopens, plans[0].End)
		d.history.reserved(plans[0].Start, plans[0].End)
	}
	return nil
}

// tryAll places what fits of some requests, and returns those that do not. What
// was refused once need not be tried again within an instant.
func (d *demoReplay) tryAll(tx *store.Tx, jobs []*demoJob) (still []*demoJob, err error) {
	type ask struct {
		sel  string
		wall time.Duration
	}
	refused := make(map[ask]bool)
	for _, j := range jobs {
		a := ask{j.Request.Select, j.Request.Walltime}
		if refused[a] {
			still = append(still, j)
			continue
		}
		job, err := tx.Place(j.Request)
		switch {
		case errors.Is(err, placer.ErrNotNow):
			refused[a] = true
			still = append(still, j)
		case errors.Is(err, placer.ErrNever):
			d.data.LeftOut["ask for more than any node here has"]++
		case err != nil:
			return nil, fmt.Errorf("%s (%s): %w", j.Request.Name, j.Asked, err)
		default:
			d.started(tx, j, job)
		}
	}
	return still, nil
}

func (d *demoReplay) started(tx *store.Tx, j *demoJob, job *store.Job) {
	nodes := job.NodeNumbers()
	heap.Push(&d.running, demoEnd{d.clock + j.Run, job.ID, j})
	d.history.count(nodes, 1)
	d.stats.Placed++
	d.stats.Waits = append(d.stats.Waits, d.clock-j.Submit)
	for _, n := range nodes {
		if len(tx.Calendar().At(n)) > 1 { // the job, and what is planned behind it
			d.stats.FittedIn++
			break
		}
	}
}

// demoEnds is a heap of running jobs, the one that ends first in front.
type demoEnds []demoEnd

type demoEnd struct {
	at   int64
	job  uint64
	what *demoJob
}

func (e demoEnds) Len() int { return len(e) }
func (e demoEnds) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].job < e[j].job
}
func (e demoEnds) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *demoEnds) Push(x any)   { *e = append(*e, x.(demoEnd)) }
func (e *demoEnds) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}
