package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/placectl/placectl/placer/cycle"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/shares"
)

// A cycle is one look at the queue: what has become due begins, what has run too
// long ends, and the waiting jobs are started or planned in order. It is one
// transaction, so it happens as a whole or not at all, and a second one at the
// same time finds its work done.
//
// Jobs are taken in order of priority, then as they were submitted, and started or
// planned by package placer/cycle.

// Backfill is how far a cycle plans ahead.
type Backfill uint8

// The kinds of backfilling.
const (
	AsSet        Backfill = iota // what the setting backfill says
	EASY                         // the first that does not fit is planned, the others around it
	FCFS                         // nobody passes one that does not fit
	Conservative                 // all are planned
	Relaxed                      // the first that does not fit is promised a start, the shortest go around it
)

var backfillNames = [...]string{EASY: "easy", FCFS: "fcfs", Conservative: "conservative", Relaxed: "relaxed"}

func (b Backfill) String() string { return backfillNames[b] }

// ParseBackfill reads a kind of backfilling, "" for AsSet.
func ParseBackfill(s string) (Backfill, error) {
	for i, name := range backfillNames {
		if strings.EqualFold(s, name) {
			return Backfill(i), nil
		}
	}
	return 0, fmt.Errorf("no backfill %q: use fcfs, easy, conservative or relaxed%w", s, file.Wordless(ErrInvalid))
}

// CycleSpec is how a cycle goes about it. The zero value is what the settings say.
type CycleSpec struct {
	Backfill Backfill
	// Depth is how many jobs that do not fit now are planned ahead with EASY; 0: as many
	// as the setting depth says.
	Depth int
	// WidestFirst lets, of the jobs that could start around those that are planned,
	// those that ask for most processors go first, whatever their priority.
	WidestFirst bool
	// Silent leaves whom the cycle starts for the next one to tell of, and stops
	// nobody: for a cycle whose report nobody acts on.
	Silent bool
	// By is who is told of those that are started: ByLauncher for the site's own launcher,
	// who is taken to execute what he is told of from then on, under Nonce; ByNobody for a
	// reader of the report. Where the setting launch is set a reader is not told of jobs
	// with a command: who launches there takes them. With BySupervisor nobody is told of
	// anybody: passes find what was started.
	By    Claimant
	Nonce Nonce
	// Enough is asked between jobs whether the cycle has taken long enough; nil: it
	// never has.
	Enough func() bool

	stands bool    // plans stay where they are, as with Relaxed
	slack  float64 // with Relaxed

	singly bool // each job has its turn, also where lots of them are decided alike: for tests
}

// depth is how many jobs are planned ahead at most.
func (s *CycleSpec) depth() int {
	switch {
	case s.Backfill == FCFS:
		return 0
	case s.Backfill == Conservative:
		return cycle.All
	case s.Backfill == Relaxed:
		return 1
	}
	return s.Depth
}

// kind is what the next cycle has to have in common with this one to go on from what it found.
func (s *CycleSpec) kind() row.CycleKind {
	kind := row.CycleKind{Backfill: uint64(s.Backfill), WidestFirst: s.WidestFirst}
	if s.Backfill == EASY {
		kind.Depth = uint64(s.Depth)
	}
	return kind
}

// asSet has the settings say what nobody has said.
func (s *CycleSpec) asSet(tx *Tx) error {
	set, err := tx.settings()
	if err != nil {
		return err
	}
	if s.Backfill == AsSet {
		s.Backfill = set.Backfill
	}
	if s.Depth < 0 || s.Depth > 0 && s.Backfill != EASY {
		return fmt.Errorf("%w: a depth of %d with backfill %s; depth is for easy, and 1 or more", ErrInvalid, s.Depth, s.Backfill)
	}
	s.Depth = cmp.Or(s.Depth, set.Depth)
	s.stands, s.slack = s.Backfill == Relaxed, set.Slack
	return nil
}

// cyclesAs begins a cycle, which goes on from what the one before found out if it is of its kind.
func (tx *Tx) cyclesAs(s *CycleSpec) {
	if kind := s.kind(); tx.state.Cycle != kind {
		tx.state.Cycle = kind
		tx.loaded.freed.Anywhere()
	}
}

// CycleReport is what a cycle did.
type CycleReport struct {
	Started []*Job // in this cycle
	// Stopped is who was launched and is to be stopped, since the last cycle: taken off
	// their nodes for other classes' sake or at the end of their walltime, cancelled or
	// queued again by hand. They come
	// with the nodes that they had.
	Stopped   []*Job
	Finished  []*Job      // they were past their end, and the setting overdue is finish
	Planned   []*Job      // given a start, or another one, which is later where an overdue job is in the way
	Never     []NeverRuns // in this cycle or before: they fit this cluster never, or ask for what is not there
	Cancelled []*Job      // what they depend on will not happen, or their deadline has passed
	// Launch is who has been started since the last cycle, by it, by this one or by
	// the clock, and is to be launched now: nobody is told of them again.
	Launch    []*Job
	Waiting   int // left in the queue, those with a plan counted
	Unreached int // of those, not looked at for want of time
	// Next is when something begins or ends by the clock: until then a cycle does no more,
	// unless somebody changes something. The zero time: never.
	Next time.Time
}

// Cycle makes one pass over the queue. It fails with ErrInvalid for a
// specification that contradicts itself.
func (tx *Tx) Cycle(spec CycleSpec) (*CycleReport, error) {
	p, err := tx.cycle(spec)
	if err != nil {
		return nil, err
	}
	return p.report(), nil
}

func (tx *Tx) cycle(spec CycleSpec) (*pass, error) {
	if !tx.Writable() {
		return nil, ErrReadOnly
	}
	asPasses := spec.By == BySupervisor && spec.Backfill == AsSet && spec.Depth == 0 && !spec.WidestFirst && spec.Enough == nil
	if err := spec.asSet(tx); err != nil {
		return nil, err
	}
	if spec.By == ByLauncher {
		if err := tx.LaunchBy(LaunchExec); err != nil {
			return nil, err
		}
	}
	start, since := tx.db.opt.Now(), tx.written()
	tx.cyclesAs(&spec)
	p := newPass(tx, spec)
	steps := []func() error{p.silent, p.overdue, p.standings, p.putOffs, p.listQueue, p.unclaim, p.shares, p.schedule, p.keepClaims, p.keepPutOffs, p.stillNever, p.ages, p.keep, p.forget, p.soonest, p.stops, p.launches}
	if spec.By == BySupervisor {
		if err := tx.LaunchBy(LaunchWork); err != nil {
			return nil, err
		}
	}
	if spec.Silent {
		steps = steps[:len(steps)-2]
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, tx.spoil(err)
		}
	}
	err := tx.loaded.tallies.Cycled(tx.now, tx.db.opt.Now().Sub(start), tx.changed())
	if asPasses { // one of theirs would see no more: this has seen what came before it in the transaction
		since = tx.starts.clock
	}
	tx.startsLooked(since)
	return p, tx.spoil(err)
}

// newPass is a cycle that has done nothing yet.
func newPass(tx *Tx, spec CycleSpec) *pass {
	return &pass{tx: tx, spec: spec, jobs: make(map[uint64]*row.Job), lifted: make(map[uint64][]span), told: make(map[uint64]bool), absent: make(map[uint64]bool), held: make(map[uint64]heldStart), why: make(map[uint64]row.Reason), alike: make(map[uint64][]uint64), madeWay: make(map[uint64][]MadeWay), began: tx.state.Invalidations}
}

// report is what callers get to know.
func (p *pass) report() *CycleReport {
	list := func(l []*row.Job) []*Job { return converted(l, jobOf) }
	return &CycleReport{Started: list(p.started), Stopped: list(p.stopped), Finished: list(p.finished), Planned: list(p.planned),
		Never:     converted(p.never, func(n neverRuns) NeverRuns { return NeverRuns{jobOf(n.Job), n.why} }),
		Cancelled: list(p.cancelled), Launch: list(p.launch), Waiting: p.waiting, Unreached: p.unreached, Next: instant(p.next)}
}

// pass is a cycle under way. What it decides of the waiting jobs package placer/cycle
// decides, to which it is the host.
type pass struct {
	tally
	tx        *Tx
	spec      CycleSpec
	queue     []*row.Job            // in order, those that may have their nodes
	placed    []placedJob           // that come before them
	late      map[uint64]row.Reason // jobs whose plans cannot be kept, and why
	absent    map[uint64]bool       // jobs that no process would start
	aside     []*row.Job            // those that wait for something else
	jobs      map[uint64]*row.Job   // of both, by number, as far as decided already
	alike     map[uint64][]uint64   // of those of the queue, which directly behind one are like it
	decider   *cycle.Pass           // of the queue
	told      map[uint64]bool       // who is among Never
	lifted    map[uint64][]span     // plans taken off the calendar to be made anew, by job
	delayed   map[uint64]bool       // jobs whose plans an overdue job is in the way of
	rank      map[uint64]int        // where those that wait stand in the line; nil until it is asked for
	following map[uint64][]*row.Job // of aside, who depend on the start of a job
	turn      map[uint64]int        // where jobs of the queue stand, if that is not by their priorities
	claims    map[uint64]*row.Claim // as they were before
	madeWay   map[uint64][]MadeWay  // who did in this cycle, by for whom; 0: for the share of a class
	why       map[uint64]row.Reason // who was stopped in this cycle and queued again, and why
	held      map[uint64]heldStart  // jobs that have the room of a start which is not carried out yet
	allotted  *shares.Allotment     // nil in a store without classes
	letting   *letting              // nil until it is looked up
	began     uint64                // how often room had been made when the cycle began
	looked    uint64                // and when it began to look at the queue
}

// tally is what a CycleReport is made of.
type tally struct {
	started, stopped, finished, planned, cancelled, launch []*row.Job

	never              []neverRuns
	waiting, unreached int
	next               int64 // when something begins or ends by the clock, 0 for never
}

// at notes that something begins or ends at an instant.
func (t *tally) at(instant int64) {
	if t.next == 0 || instant < t.next {
		t.next = instant
	}
}

// standings notes which occurrences of standing reservations were missed.
func (p *pass) standings() error { return p.tx.reservations().retryStandings(true) }

// schedule starts and plans the jobs of the queue.
func (p *pass) schedule() (err error) {
	ordered, err := p.tx.waiting().reordered()
	if err != nil {
		return err
	}
	freed, err := p.tx.loaded.freed.Read()
	if err != nil {
		return err
	}
	p.looked = p.tx.state.Invalidations
	making, err := p.making()
	if err != nil {
		return err
	}
	memory, err := p.tx.loaded.playing.remembers(freed, ordered || p.allotted != nil)
	if err != nil {
		return err
	}
	p.decider = cycle.New(p, freed, cycle.Spec{Memory: memory, Depth: p.spec.depth(), InOrder: p.spec.Backfill == FCFS,
		WidestFirst: p.spec.WidestFirst, Relaxed: p.spec.stands, Slack: p.spec.slack, Enough: p.spec.Enough, Preempter: making, Spare: p.tx.loaded.playing.counts()}, p.tx.now)
	p.tx.loaded.displaced = nil
	p.tx.loaded.releases.Often = true
	for anew := true; anew; {
		queue, err := p.inTurn(ordered)
		if err != nil {
			return err
		}
		if p.unreached, anew, err = p.decider.Run(queue); err == nil && !anew {
			anew, err = p.decider.Begin()
			anew = anew && p.unreached == 0
		}
		if err == nil && anew {
			err = errors.Join(p.listQueue(), p.unclaim(), p.allot(true))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inTurn lists the jobs in the order in which they have their turns.
func (p *pass) inTurn(ordered bool) (queue []*cycle.Job, err error) {
	queue, line := p.awaits(), p.queue
	if p.allotted != nil {
		if line, err = p.allotted.Order(line); err != nil {
			return nil, err
		}
		ordered = true
	}
	p.rank, p.following = nil, nil
	if p.turn = nil; ordered {
		p.turn = make(map[uint64]int, len(line))
	}
	for i, j := range line {
		if ordered {
			p.turn[j.ID] = i
		}
		queue = append(queue, p.waits(j))
	}
	return queue, nil
}

// keep notes which jobs were there to be looked at, and that all plans were. The latter alone is
// worth no commit, which would wake those that wait for one.
func (p *pass) keep() error {
	tx := p.tx
	if tx.state.Looked != tx.state.NextJob {
		tx.state.Looked, tx.dirty = tx.state.NextJob, true
	}
	if p.decider.Whole() && tx.state.Planned != p.looked && tx.changed() {
		tx.state.Planned, tx.dirty = p.looked, true
		tx.loaded.freed.Keep()
	}
	return nil
}

// soonest notes when what is planned begins, or what runs was to end.
func (p *pass) soonest() error {
	next, err := p.tx.NextChange()
	if !next.IsZero() {
		p.at(next.Unix())
	}
	return err
}

// waits is a job as it waits in the queue.
func (p *pass) waits(j *row.Job) *cycle.Job {
	p.jobs[j.ID] = j
	q := p.tx.loaded.playing.queued(j)
	if q != nil && q.asWas && j.State == JobQueued && len(p.late)+len(p.delayed)+len(p.absent) == 0 {
		return &q.turn
	}
	planned := j.State == JobReserved
	late := planned && p.late[j.ID] != (row.Reason{})
	priority := j.Priority
	if p.turn != nil {
		priority = -2 * int64(p.turn[j.ID])
	}
	begin := j.Begin
	if p.absent[j.ID] {
		begin = max(begin, j.Start)
	}
	c := cycle.Job{ID: j.ID, Priority: priority, Owner: row.JobOwner(j.ID), Submit: j.Submit, Begin: begin, Deadline: j.Deadline,
		Planned: planned, Start: j.Start, Promised: j.Promised, Earliest: j.Earliest, Late: late, Delayed: late || p.delayed[j.ID], Never: j.Never, Alike: len(p.alike[j.ID])}
	if p.allotted != nil {
		c.Class, _ = p.allotted.Place(j) // it was found before, to put the queue in order
		if !planned {
			c.Lifts = p.allotted.Lifts(j)
		}
	}
	if q != nil {
		q.turn.Renew(c)
		q.asWas = j.State == JobQueued && len(p.late)+len(p.delayed)+len(p.absent) == 0 && p.turn == nil && p.allotted == nil
		return &q.turn
	}
	return &c
}

// launches tells of those whom nobody has been told to launch.
func (p *pass) launches() error {
	set, err := p.tx.settings()
	if err != nil {
		return err
	}
	ids, err := p.tx.toBeLaunched()
	for _, id := range ids {
		j, errJob := p.tx.job(id)
		if err = errors.Join(err, errJob); err != nil {
			return err
		}
		if p.spec.By == BySupervisor || p.spec.By == ByNobody && set.Launch != "" && j.HasCommand() {
			continue // who launches here takes it
		}
		j.Launched = true
		if p.spec.By == ByLauncher {
			a, err := p.tx.attempts().of(j, j.CurrentAttempt())
			if err != nil {
				return err
			}
			a.State, a.By, a.Nonce, a.Claimed, a.Chunks, a.Along = row.AttemptClaimed, row.ByLauncher, p.spec.Nonce, p.tx.now, nil, nil
			if err := p.tx.attempts().put(a); err != nil {
				return err
			}
		}
		if err := p.tx.putJob(j, j.State); err != nil {
			return err
		}
		p.launch = append(p.launch, j)
	}
	return err
}

// toBeLaunched are the running jobs that nobody has been told to launch.
func (tx *Tx) toBeLaunched() (ids []uint64, err error) {
	err = tx.file.Each(row.Launches, nil, func(key, _ []byte) (bool, error) {
		if len(key) != 8 {
			return false, fmt.Errorf("%w: launch %x", ErrDamaged, key)
		}
		ids = append(ids, binary.BigEndian.Uint64(key))
		return true, nil
	})
	return ids, err
}
