package main

import (
	"container/heap"
	"errors"
	"fmt"
	"os"
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
	how  demoHow
	seen func() // is told of every job that is submitted

	clock    int64 // the instant it is, in Unix seconds
	next     int   // of data.Jobs, the next to be submitted
	waiting  []*demoJob
	running  demoEnds
	reserves []demoReserve // still to be made
	reopens  []int64       // when reservations that were made end

	stats   demoStats
	history demoHistory
}

// demoHow is how requests are placed. The zero value is as they were asked, by
// the store's own policy.
type demoHow struct {
	Policy string
	Whole  bool // a job has its nodes to itself
}

// demoStats is what is counted on the way.
type demoStats struct {
	Placed, Released int
	FittedIn         int // placed on nodes that are reserved for later, since they end before
	LetIn            int // placed inside a reservation
	Shared           int // had another job on one of their nodes
	Waits            []int64
	Longest          int64 // the longest wait, that of jobs that still wait included
	MeanWait         float64
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

func newDemoReplay(r *runner, data *demoData, how demoHow, seen func()) *demoReplay {
	return &demoReplay{r: r, data: data, how: how, seen: seen, clock: data.From, history: newDemoHistory(data), reserves: demoReserves(data)}
}

// run makes a database and replays into it. opt gets the replay's clock. When it
// fails the database it made is gone again.
func (d *demoReplay) run(path string, opt *store.Options) (db *store.DB, err error) {
	opt.Now = func() time.Time { return time.Unix(d.clock, 0) }
	opt.Private = true // nobody else knows the file yet
	err = store.Create(path, opt, func(tx *store.Tx) error {
		if d.how.Policy != "" {
			if err := tx.Configure("policy", d.how.Policy); err != nil {
				return err
			}
		}
		return d.data.setUp(tx)
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			os.Remove(path)
		}
	}()
	if db, err = store.Open(path, opt); err != nil {
		return nil, err
	}
	if err := d.replay(db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// replay goes through all instants at which something happens.
func (d *demoReplay) replay(db *store.DB) error {
	began := time.Now()
	for {
		at := d.nextInstant()
		if at > d.data.Until {
			break
		}
		if err := d.r.ctx.Err(); err != nil {
			return err
		}
		d.history.pass(at, len(d.waiting))
		d.clock = at
		if err := db.Update(d.instant); err != nil {
			return err
		}
		d.stats.Transactions++
	}
	d.history.pass(d.data.Until, len(d.waiting))
	d.clock = d.data.Until
	d.stats.Took = time.Since(began)
	d.sumWaits()
	return nil
}

// sumWaits sums up the waits, up to now where they are not over: a policy must
// not look good for what it never started.
func (d *demoReplay) sumWaits() {
	var sum, longest int64
	add := func(w int64) { sum, longest = sum+w, max(longest, w) }
	for _, w := range d.stats.Waits {
		add(w)
	}
	for _, j := range d.waiting {
		add(d.clock - j.Submit)
	}
	d.stats.Longest = longest
	d.stats.MeanWait = float64(sum) / float64(len(d.data.Jobs))
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

// instant does what is due. Only what came free lets a request start that did
// not fit before, so without that only new ones are tried.
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
		d.seen()
	}
	still, err := d.tryAll(tx, d.waiting[tried:])
	d.waiting = append(d.waiting[:tried], still...)
	d.stats.MostWaiting = max(d.stats.MostWaiting, len(d.waiting))
	return err
}

// release ends the jobs that ended by now, and reports whether anything came free.
func (d *demoReplay) release(tx *store.Tx) (freed bool, err error) {
	for i := 0; i < len(d.reopens); i++ {
		if d.reopens[i] <= d.clock {
			d.reopens = append(d.reopens[:i], d.reopens[i+1:]...)
			freed = true
			i--
		}
	}
	for len(d.running) > 0 && d.running[0].at <= d.clock {
		end := heap.Pop(&d.running).(*demoEnd)
		if _, err := tx.Release(end.job); err != nil {
			return freed, err
		}
		d.history.leave(end)
		d.stats.Released++
		freed = true
	}
	return freed, nil
}

// tryAll places what fits of some requests, and returns those that do not. What
// was refused once need not be tried again within an instant; who asks counts,
// because reservations let in some and not others.
func (d *demoReplay) tryAll(tx *store.Tx, jobs []*demoJob) (still []*demoJob, err error) {
	type ask struct {
		sel, user, queue string
		wall             time.Duration
	}
	refused := make(map[ask]bool)
	for _, j := range jobs {
		q := d.request(j)
		a := ask{q.Select, q.User, q.Queue, q.Walltime}
		if refused[a] {
			still = append(still, j)
			continue
		}
		job, err := tx.Place(q)
		switch {
		case errors.Is(err, placer.ErrNotNow):
			refused[a] = true
			still = append(still, j)
		case err != nil:
			return nil, fmt.Errorf("%s (%s): %w", q.Name, j.Asked, err)
		default:
			if err := d.started(tx, j, job); err != nil {
				return nil, err
			}
		}
	}
	return still, nil
}

// request is what a job asks for in this replay.
func (d *demoReplay) request(j *demoJob) placer.Request {
	q := j.Request
	if d.how.Whole {
		q.Select = wholeNodes(q.Select)
	}
	return q
}

func (d *demoReplay) started(tx *store.Tx, j *demoJob, job *store.Job) error {
	takes, err := demoTakings(tx, job)
	if err != nil {
		return err
	}
	end := &demoEnd{at: d.clock + j.Run, job: job.ID, what: j, takes: takes}
	heap.Push(&d.running, end)
	d.stats.Shared += d.history.enter(end)
	d.stats.Placed++
	d.stats.Waits = append(d.stats.Waits, d.clock-j.Submit)
	if isLetIn(job) {
		d.stats.LetIn++
	}
	if slices.ContainsFunc(takes, func(t demoTaking) bool { return reservedLater(tx, t.node) }) {
		d.stats.FittedIn++
	}
	return nil
}

// isLetIn reports whether a job runs inside a reservation.
func isLetIn(job *store.Job) bool {
	return slices.ContainsFunc(job.Chunks, func(c store.JobChunk) bool {
		return slices.ContainsFunc(c.Nodes, func(n store.JobNode) bool { return n.Within != 0 })
	})
}

// reservedLater reports whether a reservation of the node is still to begin.
func reservedLater(tx *store.Tx, node uint32) bool {
	for _, b := range tx.Calendar().At(node) {
		if b.Claim && b.Start > tx.Now() {
			return true
		}
	}
	return false
}
