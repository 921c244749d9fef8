// Package cycle runs the queue: it lets time pass, starts and plans jobs, plays the queue forward,
// and forecasts starts.
package cycle

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/placer/cycle"
	"github.com/placectl/placectl/store/internal/booking"
	"github.com/placectl/placectl/store/internal/jobs"
	"github.com/placectl/placectl/store/internal/kernel"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/shares"
)

// CycleSpec configures a cycle. The zero value follows the settings.
type CycleSpec struct {
	Backfill kernel.Backfill
	// Depth is the number of jobs that EASY plans ahead; 0 for the setting depth.
	Depth int
	// WidestFirst lets the jobs with the most processors go first among those that could start
	// around the planned ones, whatever their priority.
	WidestFirst bool
	// Silent is for a cycle whose report the caller does not act on. The next cycle reports
	// the jobs that this one starts, and no job is stopped.
	Silent bool
	// By says who gets the started jobs in Launch. ByLauncher is the site's own launcher,
	// which counts as executing them from then on, under Nonce. ByNobody only reads the
	// report: if the setting launch is set, it gets no jobs with a command, because their
	// launcher takes them. With BySupervisor, Launch is empty, because passes find the started
	// jobs.
	By    row.Claimant
	Nonce row.Nonce
	// Enough is called between jobs, and ends the cycle if it returns true; nil for no limit.
	Enough func() bool

	stands bool    // plans do not move, as with Relaxed
	slack  float64 // with Relaxed

	Singly bool // decides each job alone, even in a lot of equal jobs: for tests
}

// depth returns the most jobs to plan ahead.
func (s *CycleSpec) depth() int {
	switch {
	case s.Backfill == kernel.FCFS:
		return 0
	case s.Backfill == kernel.Conservative:
		return cycle.All
	case s.Backfill == kernel.Relaxed:
		return 1
	}
	return s.Depth
}

// kind returns what the next cycle must have in common with this one to use its findings.
func (s *CycleSpec) kind() row.CycleKind {
	kind := row.CycleKind{Backfill: uint64(s.Backfill), WidestFirst: s.WidestFirst}
	if s.Backfill == kernel.EASY {
		kind.Depth = uint64(s.Depth)
	}
	return kind
}

// asSet fills in the settings for what the caller left open.
func (s *CycleSpec) asSet(tx *kernel.Tx) error {
	set, err := tx.Settings()
	if err != nil {
		return err
	}
	if s.Backfill == kernel.AsSet {
		s.Backfill = set.Backfill
	}
	if s.Depth < 0 || s.Depth > 0 && s.Backfill != kernel.EASY {
		return fmt.Errorf("%w: a depth of %d with backfill %s; depth needs easy, and must be 1 or more", kernel.ErrInvalid, s.Depth, s.Backfill)
	}
	s.Depth = cmp.Or(s.Depth, set.Depth)
	s.stands, s.slack = s.Backfill == kernel.Relaxed, set.Slack
	return nil
}

// cyclesAs begins a cycle. It uses the findings of the last one if both are of one kind.
func cyclesAs(tx *kernel.Tx, s *CycleSpec) {
	if kind := s.kind(); tx.State.Cycle != kind {
		tx.State.Cycle = kind
		tx.Loaded.Freed.Anywhere()
	}
}

// CycleReport lists what a cycle did.
type CycleReport struct {
	Started []*kernel.Job // in this cycle
	// Stopped lists the launched jobs that must be stopped since the last cycle: preempted, at
	// the end of their walltime, cancelled, or requeued by a user. They have the nodes that
	// they ran on.
	Stopped   []*kernel.Job
	Finished  []*kernel.Job // past their end, with the setting overdue = finish
	Planned   []*kernel.Job // jobs that got a start, or another one; it is later if an overdue job is in the way
	Never     []NeverRuns   // jobs that no nodes of the cluster could ever serve, found now or before
	Cancelled []*kernel.Job // jobs whose dependencies cannot be met, or whose deadline has passed
	// Launch lists the jobs to launch now: those started by the clock or by a cycle and not
	// reported before. They are reported once.
	Launch    []*kernel.Job
	Waiting   int // left in the queue, planned jobs included
	Unreached int // of those, not reached before Enough
	// Next is the next instant at which the clock begins or ends something; zero if there is
	// none. Until then, another cycle changes nothing unless the database has changed.
	Next time.Time
}

// Run makes one pass over the queue. It fails with ErrInvalid for a
// specification that contradicts itself.
func (cy Cycle) Run(spec CycleSpec) (*CycleReport, error) {
	p, err := RunPass(cy.tx, spec)
	if err != nil {
		return nil, err
	}
	return p.Report(), nil
}

func RunPass(tx *kernel.Tx, spec CycleSpec) (*pass, error) {
	if !tx.Writable() {
		return nil, kernel.ErrReadOnly
	}
	asPasses := spec.By == row.BySupervisor && spec.Backfill == kernel.AsSet && spec.Depth == 0 && !spec.WidestFirst && spec.Enough == nil
	if err := spec.asSet(tx); err != nil {
		return nil, err
	}
	if spec.By == row.ByLauncher {
		if err := jobs.AttemptsOf(tx).LaunchBy(kernel.LaunchExec); err != nil {
			return nil, err
		}
	}
	if err := PlaceAnew(tx); err != nil {
		return nil, tx.Spoil(err)
	}
	start, since := tx.Opt.Now(), tx.Written()
	cyclesAs(tx, &spec)
	p := newPass(tx, spec)
	steps := []func() error{p.silent, p.overdue, p.standings, p.putOffs, p.listQueue, p.unclaim, p.shares, p.schedule, p.keepClaims, p.keepPutOffs, p.stillNever, p.ages, p.keep, p.forget, p.soonest, p.stops, p.launches}
	if spec.By == row.BySupervisor {
		if err := jobs.AttemptsOf(tx).LaunchBy(kernel.LaunchWork); err != nil {
			return nil, err
		}
	}
	if spec.Silent {
		steps = steps[:len(steps)-2]
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, tx.Spoil(err)
		}
	}
	err := tx.Loaded.Tallies.Cycled(tx.Now, tx.Opt.Now().Sub(start), tx.Changed())
	if asPasses && !p.alone { // a cycle of the passes would see no more: this one saw everything before it in the transaction
		since = tx.Starts.Clock
	}
	tx.StartsLooked(since)
	return p, tx.Spoil(err)
}

// newPass begins a cycle.
func newPass(tx *kernel.Tx, spec CycleSpec) *pass {
	p := &pass{tx: tx, playing: *plays.In(tx), spec: spec, lifted: make(map[uint64][]kernel.Span), told: make(map[uint64]bool), absent: make(map[uint64]bool), held: make(map[uint64]jobs.HeldStart), why: make(map[uint64]row.Reason), EqualTo: make(map[uint64][]uint64), madeWay: make(map[uint64][]MadeWay), began: tx.State.Invalidations}
	if p.lists = new(lists); p.playing != nil {
		p.lists = &p.playing.lists
	}
	if p.lists.jobs == nil {
		p.lists.jobs = make(map[uint64]*row.Job)
	}
	p.jobs = p.lists.jobs
	clear(p.jobs)
	return p
}

// lists is a pass's memory for the queue. In a play, the next pass reuses it.
type lists struct {
	queue []*row.Job
	turns []*cycle.Job
	jobs  map[uint64]*row.Job
}

// Report returns the report for the caller.
func (p *pass) Report() *CycleReport {
	list := func(l []*row.Job) []*kernel.Job { return kernel.Converted(l, kernel.JobOf) }
	launch := list(p.launch)
	copies := make(map[*row.Job]*kernel.Job, len(launch))
	for i, j := range p.launch {
		copies[j] = launch[i]
	}
	started := kernel.Converted(p.started, func(j *row.Job) *kernel.Job { // most are in both lists
		if is := copies[j]; is != nil {
			return is
		}
		return kernel.JobOf(j)
	})
	return &CycleReport{Started: started, Stopped: list(p.stopped), Finished: list(p.finished), Planned: list(p.planned),
		Never:     kernel.Converted(p.never, func(n neverRuns) NeverRuns { return NeverRuns{kernel.JobOf(n.Job), n.why} }),
		Cancelled: list(p.cancelled), Launch: launch, Waiting: p.waiting, Unreached: p.unreached, Next: kernel.Instant(p.next)}
}

// pass is a cycle under way, and the host of package placer/cycle, which decides about the waiting
// jobs.
type pass struct {
	tally
	tx        *kernel.Tx
	playing   *Playing // nil outside of a play
	spec      CycleSpec
	lists     *lists
	queue     []*row.Job                // the jobs that may start, in order
	placed    []placedJob               // the jobs placed before them
	late      map[uint64]row.Reason     // jobs whose plans cannot be kept, and why
	absent    map[uint64]bool           // jobs without a process to start them
	aside     []*row.Job                // jobs that wait for something other than nodes
	jobs      map[uint64]*row.Job       // jobs of queue and aside, by number, with the decisions so far
	EqualTo   map[uint64][]uint64       // the equal jobs directly after one of the queue
	decider   *cycle.Pass               // of the queue
	told      map[uint64]bool           // the jobs in Never
	lifted    map[uint64][]kernel.Span  // plans taken off the calendar to be made anew, by job
	delayed   map[uint64]bool           // jobs whose plans are blocked by an overdue job
	rank      map[uint64]int            // places of the waiting jobs in the queue; nil until needed
	following map[uint64][]*row.Job     // the jobs of aside that depend on the start of a job
	turn      map[uint64]int            // places of jobs in the queue, if not by priority
	claims    map[uint64]*row.Claim     // claims as they were before
	madeWay   map[uint64][]MadeWay      // the jobs preempted in this cycle, by the job that takes their room, 0 for the share of a class
	why       map[uint64]row.Reason     // why a job was stopped in this cycle and requeued
	held      map[uint64]jobs.HeldStart // jobs whose start is decided but not carried out yet
	allotted  *shares.Allotment         // nil without classes
	letting   *Letting                  // nil until needed
	began     uint64                    // the count of freed room when the cycle began
	looked    uint64                    // and when it came to the queue
}

// tally collects a CycleReport.
type tally struct {
	started, stopped, finished, planned, cancelled, launch []*row.Job

	never              []neverRuns
	waiting, unreached int
	next               int64 // the next instant at which the clock begins or ends something; 0 for never
	alone              bool  // only a cycle handles that instant: a begin time or a deadline
}

// at adds an instant at which something begins or ends.
func (t *tally) at(instant int64) {
	if t.next == 0 || instant < t.next {
		t.next = instant
	}
}

// standings records missed occurrences of standing reservations.
func (p *pass) standings() error { return booking.RetryStandings(p.tx, true) }

// schedule starts and plans the jobs of the queue.
func (p *pass) schedule() (err error) {
	ordered, err := reordered(p.tx)
	if err != nil {
		return err
	}
	freed, err := p.tx.Loaded.Freed.Read()
	if err != nil {
		return err
	}
	p.looked = p.tx.State.Invalidations
	making, err := p.making()
	if err != nil {
		return err
	}
	memory, err := p.playing.remembers(freed, ordered || p.allotted != nil)
	if err != nil {
		return err
	}
	p.decider = cycle.New(p, freed, cycle.Spec{Memory: memory, Depth: p.spec.depth(), InOrder: p.spec.Backfill == kernel.FCFS,
		WidestFirst: p.spec.WidestFirst, Relaxed: p.spec.stands, Slack: p.spec.slack, Enough: p.spec.Enough, Preempter: making, Spare: p.playing.counts()}, p.tx.Now)
	p.tx.Loaded.Displaced = nil
	p.tx.Loaded.Releases.Often = true
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
	queue, line := append(p.lists.turns[:0], p.awaits()...), p.queue
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
	p.lists.turns = queue
	return queue, nil
}

// keep records which jobs the cycle has seen, and that it has seen all plans. The latter alone
// is not worth a commit, which would wake every process that waits for one.
func (p *pass) keep() error {
	tx := p.tx
	if tx.State.Looked != tx.State.NextJob {
		tx.State.Looked, tx.Dirty = tx.State.NextJob, true
	}
	if p.decider.Whole() && tx.State.Planned != p.looked && tx.Changed() {
		tx.State.Planned, tx.Dirty = p.looked, true
		tx.Loaded.Freed.Keep()
	}
	return nil
}

// soonest adds the starts of planned jobs and the ends of running ones.
func (p *pass) soonest() error {
	next, err := CycleOf(p.tx).NextChange()
	p.alone = p.next > 0 && (next.IsZero() || p.next < next.Unix())
	if !next.IsZero() {
		p.at(next.Unix())
	}
	return err
}

// waits describes a waiting job to package placer/cycle.
func (p *pass) waits(j *row.Job) *cycle.Job {
	p.jobs[j.ID] = j
	q := p.tx.Loaded.Queue.Queued(j)
	if q != nil && q.AsWas && j.State == row.JobQueued && len(p.late)+len(p.delayed)+len(p.absent) == 0 {
		return &q.Turn
	}
	planned := j.State == row.JobReserved
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
		Planned: planned, Start: j.Start, Promised: j.Promised, Earliest: j.Earliest, Late: late, Delayed: late || p.delayed[j.ID], Never: j.Never, Alike: len(p.EqualTo[j.ID])}
	if p.allotted != nil {
		c.Class, _ = p.allotted.Place(j) // known since the queue was ordered
		if !planned {
			c.Lifts = p.allotted.Lifts(j)
		}
	}
	if q != nil {
		q.Turn.Renew(c)
		q.AsWas = j.State == row.JobQueued && len(p.late)+len(p.delayed)+len(p.absent) == 0 && p.turn == nil && p.allotted == nil
		return &q.Turn
	}
	return &c
}

// announces reports whether this cycle reports a job for launching when it starts: not if its
// report is not acted on, or what launches the jobs of this site takes it. In a play all are launched.
func (p *pass) announces(j *row.Job) (bool, error) {
	set, err := p.tx.Settings()
	switch {
	case err != nil || p.spec.Silent:
		return false, err
	case p.playing != nil:
		return true, nil
	case p.spec.By == row.BySupervisor:
		return false, nil
	}
	return p.spec.By != row.ByNobody || set.Launch == "" || !j.HasCommand(), nil
}

// starts notes a job that this cycle has started, and reports it for launching if it was announced.
func (p *pass) starts(j *row.Job) {
	p.started = append(p.started, j)
	if j.Launched {
		p.launch = append(p.launch, j)
	}
}

// launches reports the jobs that have not been reported for launching, among them those that
// earlier cycles or their own plans started.
func (p *pass) launches() error {
	ids, err := p.tx.ToBeLaunched()
	if err != nil {
		return err
	}
	for _, id := range ids {
		j, err := p.tx.ListedJob(id)
		if err != nil {
			return err
		}
		announced, err := p.announces(j)
		if err != nil {
			return err
		}
		if !announced {
			continue
		}
		j.Launched = true
		if err := jobs.PutJob(p.tx, j, j.State); err != nil {
			return err
		}
		p.launch = append(p.launch, j)
	}
	slices.SortFunc(p.launch, func(a, b *row.Job) int { return cmp.Compare(a.ID, b.ID) })
	if p.spec.By != row.ByLauncher || p.playing != nil {
		return nil
	}
	for _, j := range p.launch {
		a, err := p.tx.Attempts().Of(j, j.CurrentAttempt())
		if err != nil {
			return err
		}
		a.State, a.By, a.Nonce, a.Claimed, a.Chunks, a.Along = row.AttemptClaimed, row.ByLauncher, p.spec.Nonce, p.tx.Now, nil, nil
		if err := p.tx.Attempts().Put(a); err != nil {
			return err
		}
	}
	return nil
}
