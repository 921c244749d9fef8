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

// A cycle is one pass over the queue: due jobs begin, overdue jobs end, and waiting jobs are
// started or planned in order. It is one transaction: all of it happens, or nothing, and a second
// cycle at the same instant changes nothing.
//
// Jobs are taken by priority, then by number. Package placer/cycle decides which of them start.

// Backfill says which jobs a cycle plans ahead, and which may pass them.
type Backfill uint8

// The kinds of backfilling.
const (
	AsSet        Backfill = iota // what the setting backfill says
	EASY                         // the first that does not fit is planned, the others around it
	FCFS                         // no job passes one that does not fit
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

// CycleSpec configures a cycle. The zero value follows the settings.
type CycleSpec struct {
	Backfill Backfill
	// Depth is the number of jobs that EASY plans ahead; 0: the setting depth.
	Depth int
	// WidestFirst lets the jobs with the most processors go first among those that could start
	// around the planned ones, whatever their priority.
	WidestFirst bool
	// Silent is for a cycle whose report is not acted on: the next one reports the jobs that this
	// one starts, and no job is stopped.
	Silent bool
	// By says who gets the started jobs in Launch. ByLauncher is the site's own launcher: it
	// counts as executing them from then on, under Nonce. ByNobody is a reader of the report; if
	// the setting launch is set, it gets no jobs with a command, because their launcher takes
	// them. With BySupervisor Launch is empty: passes find the started jobs.
	By    Claimant
	Nonce Nonce
	// Enough is called between jobs and ends the cycle by returning true; nil: no limit.
	Enough func() bool

	stands bool    // plans do not move, as with Relaxed
	slack  float64 // with Relaxed

	singly bool // each job is decided alone, even in a lot of equal jobs: for tests
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

// kind returns what the next cycle must have in common with this one to use its findings.
func (s *CycleSpec) kind() row.CycleKind {
	kind := row.CycleKind{Backfill: uint64(s.Backfill), WidestFirst: s.WidestFirst}
	if s.Backfill == EASY {
		kind.Depth = uint64(s.Depth)
	}
	return kind
}

// asSet fills in the settings for what the caller left open.
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

// cyclesAs begins a cycle. It uses the findings of the last one if both are of one kind.
func (tx *Tx) cyclesAs(s *CycleSpec) {
	if kind := s.kind(); tx.state.Cycle != kind {
		tx.state.Cycle = kind
		tx.loaded.freed.Anywhere()
	}
}

// CycleReport lists what a cycle did.
type CycleReport struct {
	Started []*Job // in this cycle
	// Stopped are the launched jobs that must be stopped since the last cycle: preempted, at
	// the end of their walltime, cancelled, or queued again by a user. They have the nodes that
	// they ran on.
	Stopped   []*Job
	Finished  []*Job      // past their end, with the setting overdue = finish
	Planned   []*Job      // given a start or another one, which is later if an overdue job is in the way
	Never     []NeverRuns // in this cycle or before: no nodes of the cluster could ever serve them
	Cancelled []*Job      // what they depend on will not happen, or their deadline has passed
	// Launch are the jobs to launch now: started since the last cycle, by it, by this one or by
	// the clock. They are reported once.
	Launch    []*Job
	Waiting   int // left in the queue, planned jobs included
	Unreached int // of those, not reached before Enough
	// Next is the next instant at which the clock begins or ends something. Until then another
	// cycle changes nothing unless the database has changed. The zero time: never.
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
	if err := tx.placeAnew(); err != nil {
		return nil, tx.spoil(err)
	}
	start, since := tx.opt.Now(), tx.written()
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
	err := tx.loaded.tallies.Cycled(tx.now, tx.opt.Now().Sub(start), tx.changed())
	if asPasses { // one of theirs would see no more: this has seen what came before it in the transaction
		since = tx.starts.clock
	}
	tx.startsLooked(since)
	return p, tx.spoil(err)
}

// newPass begins a cycle.
func newPass(tx *Tx, spec CycleSpec) *pass {
	return &pass{tx: tx, playing: *plays.In(&tx.loaded.kept), spec: spec, jobs: make(map[uint64]*row.Job), lifted: make(map[uint64][]span), told: make(map[uint64]bool), absent: make(map[uint64]bool), held: make(map[uint64]heldStart), why: make(map[uint64]row.Reason), alike: make(map[uint64][]uint64), madeWay: make(map[uint64][]MadeWay), began: tx.state.Invalidations}
}

// report returns what the caller is told.
func (p *pass) report() *CycleReport {
	list := func(l []*row.Job) []*Job { return converted(l, jobOf) }
	return &CycleReport{Started: list(p.started), Stopped: list(p.stopped), Finished: list(p.finished), Planned: list(p.planned),
		Never:     converted(p.never, func(n neverRuns) NeverRuns { return NeverRuns{jobOf(n.Job), n.why} }),
		Cancelled: list(p.cancelled), Launch: list(p.launch), Waiting: p.waiting, Unreached: p.unreached, Next: instant(p.next)}
}

// pass is a cycle under way, and the host of package placer/cycle, which decides about the waiting
// jobs.
type pass struct {
	tally
	tx        *Tx
	playing   *playing // nil outside of a play
	spec      CycleSpec
	queue     []*row.Job            // the jobs that may start, in order
	placed    []placedJob           // that come before them
	late      map[uint64]row.Reason // jobs whose plans cannot be kept, and why
	absent    map[uint64]bool       // jobs without a process to start them
	aside     []*row.Job            // jobs that wait for something else than nodes
	jobs      map[uint64]*row.Job   // of both, by number, with the decisions so far
	alike     map[uint64][]uint64   // the equal jobs directly after one of the queue
	decider   *cycle.Pass           // of the queue
	told      map[uint64]bool       // the jobs in Never
	lifted    map[uint64][]span     // plans taken off the calendar to be made anew, by job
	delayed   map[uint64]bool       // jobs whose plans are blocked by an overdue job
	rank      map[uint64]int        // places of the waiting jobs in the queue; nil until needed
	following map[uint64][]*row.Job // the jobs of aside that depend on the start of a job
	turn      map[uint64]int        // places of jobs in the queue, if not by priority
	claims    map[uint64]*row.Claim // as they were before
	madeWay   map[uint64][]MadeWay  // the jobs preempted in this cycle, by the job that takes their room; 0: for the share of a class
	why       map[uint64]row.Reason // why a job was stopped in this cycle and queued again
	held      map[uint64]heldStart  // jobs whose start is decided and not carried out yet
	allotted  *shares.Allotment     // nil without classes
	letting   *letting              // nil until needed
	began     uint64                // the count of freed room when the cycle began
	looked    uint64                // and when it came to the queue
}

// tally collects a CycleReport.
type tally struct {
	started, stopped, finished, planned, cancelled, launch []*row.Job

	never              []neverRuns
	waiting, unreached int
	next               int64 // the next instant at which the clock begins or ends something, 0 for never
}

// at adds an instant at which something begins or ends.
func (t *tally) at(instant int64) {
	if t.next == 0 || instant < t.next {
		t.next = instant
	}
}

// standings records missed occurrences of standing reservations.
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
	memory, err := p.playing.remembers(freed, ordered || p.allotted != nil)
	if err != nil {
		return err
	}
	p.decider = cycle.New(p, freed, cycle.Spec{Memory: memory, Depth: p.spec.depth(), InOrder: p.spec.Backfill == FCFS,
		WidestFirst: p.spec.WidestFirst, Relaxed: p.spec.stands, Slack: p.spec.slack, Enough: p.spec.Enough, Preempter: making, Spare: p.playing.counts()}, p.tx.now)
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

// inTurn lists the jobs in the order of their turns.
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

// keep records which jobs the cycle has seen, and that it has seen all plans. The second alone is
// not worth a commit, which would wake every process that waits for one.
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

// soonest adds the starts of planned jobs and the ends of running ones.
func (p *pass) soonest() error {
	next, err := p.tx.NextChange()
	if !next.IsZero() {
		p.at(next.Unix())
	}
	return err
}

// waits describes a waiting job to package placer/cycle.
func (p *pass) waits(j *row.Job) *cycle.Job {
	p.jobs[j.ID] = j
	q := p.tx.loaded.queue.queued(j)
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
		c.Class, _ = p.allotted.Place(j) // known since the queue was ordered
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

// launches reports the running jobs that have not been reported for launching.
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
			continue // the launcher of this site takes it
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

// toBeLaunched lists the running jobs that have not been reported for launching.
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
