package check

import (
	"errors"
	"fmt"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/limits"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// recomputed holds what the derived tables should hold, recomputed from the rows that are not
// derived.
type recomputed struct {
	*Findings
	store     *Store
	now       int64 // the store's present instant
	calendar  *timeline.Calendar
	rows      [row.TableCount]map[string][]byte // by table and key
	lists     map[row.Table]jobLists            // instead of the rows of those tables
	tallied   map[row.Table]map[string]uint64   // instead of the rows of those tables
	buckets   uint32                            // the smallest bucket number never used
	rooms     map[uint32]*row.RoomBlock
	moved     []*index.Node        // nodes whose rows name another bucket than their values call for
	holding   map[uint32][]holding // by node: the devices that running jobs have
	naming    map[row.PayloadKey]naming
	executed  map[uint64]bool // jobs whose attempt is claimed, according to their own rows
	recounted []recounted     // payloads whose rows count more or fewer jobs than refer to them
	rules     *limits.Rules
	sums      map[string]int64 // what rules count
	ended     []endedKey
	submitted int64 // when the newest of the jobs so far was submitted

	// contradictions counts what rebuilding cannot mend: a node taken twice, a number that
	// does not exist.
	contradictions int
	at             Row   // the row that is being examined,
	blamed         []Row // and those that contradict others
}

// derive recomputes every derived table. What it reports is about the rows that it derives
// them from.
func (f *Findings) derive(s *Store) (*recomputed, error) {
	d := &recomputed{Findings: f, store: s, now: s.State.AsOf, calendar: timeline.NewCalendar(nil, s.State.AsOf,
		nodes.Grace), lists: map[row.Table]jobLists{row.JobStates: {}, row.JobKinds: {}},
		tallied: make(map[row.Table]map[string]uint64),
		holding: make(map[uint32][]holding), executed: make(map[uint64]bool), naming: make(map[row.PayloadKey]naming),
		rooms: make(map[uint32]*row.RoomBlock), sums: make(map[string]int64)}
	for t := range row.TableCount {
		if t.Derived() {
			d.rows[t] = make(map[string][]byte)
		}
	}
	var err error
	if d.rules, err = s.rules(); err != nil {
		return nil, err
	}
	if err := d.jobs(); err != nil {
		return nil, err
	}
	d.counts()
	if err := d.had(); err != nil {
		return nil, err
	}
	if err := d.payloads(); err != nil {
		return nil, err
	}
	if err := d.attempts(); err != nil {
		return nil, err
	}
	if err := d.reservations(); err != nil {
		return nil, err
	}
	if err := d.batches(); err != nil {
		return nil, err
	}
	if err := errors.Join(d.answers(), d.claims()); err != nil {
		return nil, err
	}
	d.blocks()
	return d, d.index()
}

// answers notes when each answer may be forgotten.
func (d *recomputed) answers() error {
	return d.store.Rows.Each(row.Answers, nil, func(key, payload []byte) (bool, error) {
		a, err := row.AnswerHead.Decode(key, payload)
		if err == nil {
			d.at = Row{row.Answers, string(key)}
			if a.Jobs > 0 && a.First+a.Jobs > d.store.State.NextJob {
				d.contradict("key %q has made jobs %d to %d, and the next job number is %d", key, a.First,
					a.First+a.Jobs-1, d.store.State.NextJob)
			}
			follow(d, &row.AnswerRows, a)
		}
		return true, err
	})
}

// blocks writes down the recomputed calendar.
func (d *recomputed) blocks() {
	groups := make(map[uint32]row.ReachBlock)
	for number, block := range d.calendar.Changed() {
		if payload := row.EncodeBlock(block); payload != nil {
			d.rows[row.Calendar][string(row.Key32(number))] = payload
		}
		r := groups[number/row.ReachBlocks]
		r[number%row.ReachBlocks] = d.calendar.Reach(number)
		groups[number/row.ReachBlocks] = r
	}
	for group, r := range groups {
		if payload := row.EncodeReaches(r); payload != nil {
			d.rows[row.Reaches][string(row.Key32(group))] = payload
		}
	}
}

// contradict reports a contradiction between the rows themselves.
func (d *recomputed) contradict(format string, args ...any) {
	d.contradictions++
	if !slices.Contains(d.blamed[max(0, len(d.blamed)-1):], d.at) {
		d.blamed = append(d.blamed, d.at)
	}
	d.Find(format, args...)
}

func (d *recomputed) jobs() error {
	return d.store.Rows.Each(row.Jobs, nil, func(key, payload []byte) (bool, error) {
		j, err := row.DecodeJob(key, payload)
		if err == nil {
			d.at = Row{row.Jobs, string(key)}
			d.job(j)
			tally(d, &row.JobRows, j, payload)
			err = d.ruled(j)
		}
		return true, err
	})
}

func (d *recomputed) job(j *row.Job) {
	if j.ID >= d.store.State.NextJob {
		d.contradict("job %d: the next job number is %d", j.ID, d.store.State.NextJob)
	}
	if j.State < row.JobHeld || j.State > row.JobCancelled {
		d.contradict("job %d has no legal state: %d", j.ID, j.State)
	}
	if err := d.asks(j); err != nil {
		d.contradict("job %d: %v", j.ID, err)
	}
	follow(d, &row.JobRows, j)
	d.inTurn(j)
	d.named(j)
	d.holds(j)
	if j.Claimed || j.Ending {
		d.executed[j.ID] = true
	}
	switch {
	case j.State == row.JobReserved && j.Start >= d.now: // at this instant if an overdue job is on its nodes
		d.rows[row.Changes][string(row.TimeKey(j.Start, row.JobOwner(j.ID)))] = row.EncodeMark()
	case j.State == row.JobReserved:
		d.contradict("job %d was to start at @%d, and it is @%d", j.ID, j.Start, d.now)
	case j.State != row.JobRunning:
		return
	case j.EndsByClock() && j.End <= d.now:
		d.contradict("job %d was to end at @%d, and it is @%d", j.ID, j.End, d.now)
	case j.EndsByClock():
		d.rows[row.Changes][string(row.TimeKey(j.End, row.JobOwner(j.ID)))] = row.EncodeMark()
	}
	d.rows[row.Releases][string(row.TimeKey(j.End, row.JobOwner(j.ID)))] = row.EncodeMark()
	for i, c := range j.Chunks {
		have := 0
		for _, n := range c.Nodes {
			have += n.Chunks
		}
		if have != c.Count {
			d.contradict("job %d: chunk %d is on nodes %d times, asked for %d", j.ID, i+1, have, c.Count)
		}
	}
	spans, err := d.store.spans(j)
	if err != nil {
		d.contradict("job %d: %v", j.ID, err)
	}
	for _, s := range spans {
		d.span(fmt.Sprintf("job %d", j.ID), s)
	}
	d.counters(j)
}

// countable reports whether a job's attempts can be gone through, one by one. A job that starts every
// minute needs 19 years for ten million.
func countable(j *row.Job) bool { return j.Attempt >= 0 && j.Attempt <= 10_000_000 }

// asks refuses a job that has not ended if its select, place or walltime is unusable. It may
// name a resource that was removed.
func (d *recomputed) asks(j *row.Job) error {
	if !countable(j) {
		return fmt.Errorf("it has had %d attempts", j.Attempt)
	}
	if !j.State.Live() {
		return nil
	}
	if j.Walltime < 1 || j.Walltime > kernel.MaxWalltime {
		return fmt.Errorf("it has a walltime of %d s", j.Walltime)
	}
	defs, err := d.store.Resources()
	if err == nil {
		_, err = placer.ParseSelect(defs, j.Select)
	}
	if err == nil {
		_, err = placer.ParsePlace(defs, j.Place)
	}
	var removed *index.UnknownResource
	if errors.As(err, &removed) {
		return nil
	}
	return err
}

func (d *recomputed) reservations() error {
	return d.store.Rows.Each(row.Reservations, nil, func(key, payload []byte) (bool, error) {
		r, err := row.ReservationRow.Decode(key, payload)
		if err == nil {
			d.at = Row{row.Reservations, string(key)}
			d.reservation(r)
		}
		return true, err
	})
}

func (d *recomputed) reservation(r *row.Reservation) {
	if r.ID >= d.store.State.NextReservation {
		d.contradict("reservation %s: its number is %d, the next one %d", r.Name, r.ID, d.store.State.NextReservation)
	}
	if _, ok := d.rows[row.ReservationIDs][string(row.Key64(r.ID))]; ok {
		d.contradict("two reservations have the number %d", r.ID)
	}
	follow(d, &row.ReservationRows, r)
	if r.End <= d.now {
		return
	}
	owner := row.ReservationOwner(r.ID)
	d.rows[row.Releases][string(row.TimeKey(r.End, owner))] = row.EncodeMark()
	for _, t := range []int64{r.Start, r.End} {
		if t > d.now {
			d.rows[row.Changes][string(row.TimeKey(t, owner))] = row.EncodeMark()
		}
	}
	for i, n := range r.Nodes {
		d.span("reservation "+r.Name, kernel.Span{Node: n, Busy: r.Span(i)})
	}
	for key, h := range r.Held {
		d.held("reservation "+r.Name, key, h)
	}
}

// span puts a span on a node.
func (d *recomputed) span(who string, s kernel.Span) {
	if node, err := d.store.Rows.Get(row.Nodes, row.Key32(s.Node)); err != nil || node == nil {
		d.contradict("%s is on node number %d, which does not exist", who, s.Node)
	}
	if err := d.calendar.Put(s.Node, s.Busy); err != nil {
		d.contradict("%s: %v", who, err)
	}
}

// shared verifies that the jobs on a node may share it: none beside an exclusive one, and none in a
// reservation that does not admit it.
func (d *recomputed) shared(n *index.Node) {
	list := d.calendar.At(n.Number)
	for i := range list {
		b := &list[i]
		if b.Claim {
			continue
		}
		d.at = Row{row.Jobs, string(row.Key64(b.Owner >> 1))}
		who := fmt.Sprintf("job %d", b.Owner>>1)
		for k := range list {
			if o := &list[k]; o.Start < b.End && b.Start < o.End && k != i {
				d.beside(n, who, b, o)
			}
		}
	}
}

// takenTwice verifies that the jobs which share a node never take more of it than it has. A
// node that was reduced while they were on it is left out.
func (d *recomputed) takenTwice(n *index.Node) {
	list := d.calendar.At(n.Number)
	for i := range list {
		if n.Lessened || list[i].Claim || list[i].Use == nil {
			continue
		}
		taken := make(map[uint16]int64)
		for k := range list {
			o := &list[k]
			if o.Claim || o.Use == nil || o.Start > list[i].Start || o.End <= list[i].Start {
				continue
			}
			for _, a := range o.Use.Amounts {
				taken[a.Quantity] += a.N
			}
		}
		for _, a := range list[i].Use.Amounts {
			if v, _ := n.Get(index.ResID(a.Quantity)); taken[a.Quantity] > v.Num {
				d.contradict("node %s: job %d and others take %d of resource %d from @%d on, and it has %d", n.Name,
					list[i].Owner>>1, taken[a.Quantity], a.Quantity, list[i].Start, v.Num)
			}
		}
	}
}

// beside verifies that a job's span may overlap another one on the same node.
func (d *recomputed) beside(n *index.Node, who string, b, o *timeline.Busy) {
	switch {
	case o.Claim:
		if o.Use != nil {
			return
		}
		r := d.reservationOf(o.Owner)
		if r == nil {
			return // reported elsewhere
		}
		as := *b
		as.Held = false // only until its planned end
		if in, err := d.store.letsIn(r, as); err == nil && !in {
			d.contradict("%s is on node %s in the time of reservation %s, which does not let it in", who, n.Name,
				r.Name)
		}
	case o.Owner == b.Owner:
		d.contradict("%s is on node %s twice", who, n.Name)
	case b.Use == nil || o.Use == nil:
		if b.Owner < o.Owner {
			d.contradict("%s and job %d share node %s, which one of them has whole", who, o.Owner>>1, n.Name)
		}
	}
}

// reservationOf returns the reservation that is an owner, or nil if the file does not lead to
// it.
func (d *recomputed) reservationOf(owner uint64) *row.Reservation {
	id, err := d.store.Rows.Get(row.ReservationIDs, row.Key64(owner>>1))
	if err != nil || id == nil {
		return nil
	}
	name := row.DecodeText(id)
	payload, err := d.store.Rows.Get(row.Reservations, []byte(name))
	if err != nil || payload == nil {
		return nil
	}
	r, err := row.ReservationRow.Decode([]byte(name), payload)
	if err != nil {
		return nil
	}
	return r
}
