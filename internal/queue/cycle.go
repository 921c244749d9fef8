// Package queue runs the queue: it lets time pass, starts and plans jobs, plays the queue forward,
// and forecasts starts.
package queue

import (
	"cmp"
	"fmt"
	"time"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/cycle"
)

// CycleSpec configures a cycle. The zero value follows the settings.
type CycleSpec struct {
	Backfill kernel.Backfill
	// Depth is the number of jobs that EASY plans ahead; 0 for the setting depth.
	Depth int
	// Slack is how much later than its earliest start Relaxed may promise one, in multiples of the
	// job's walltime; nil for the setting slack.
	Slack *float64
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
		return fmt.Errorf("%w: a depth of %d with backfill %s; depth needs easy, and must be 1 or more", row.ErrInvalid,
			s.Depth, s.Backfill)
	}
	s.Depth = cmp.Or(s.Depth, set.Depth)
	s.stands, s.slack = s.Backfill == kernel.Relaxed, set.Slack
	if s.Slack != nil && (!s.stands || *s.Slack < 0) {
		return fmt.Errorf("%w: a slack of %v with backfill %s; slack needs relaxed, and must be 0 or more",
			row.ErrInvalid, *s.Slack, s.Backfill)
	} else if s.Slack != nil {
		s.slack = *s.Slack
	}
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
	// none. Until then, another cycle starts nothing unless the database has changed.
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
		return nil, file.ErrReadOnly
	}
	asPasses := spec.By == row.BySupervisor && spec.Backfill == kernel.AsSet && spec.Depth == 0 && spec.Slack == nil &&
		!spec.WidestFirst && spec.Enough == nil
	if err := spec.asSet(tx); err != nil {
		return nil, err
	}
	if spec.By == row.ByLauncher || spec.By == row.BySupervisor {
		if err := tx.Executing(); err != nil {
			return nil, err
		}
	}
	if spec.By == row.ByLauncher {
		if err := jobs.AttemptsOf(tx).LaunchBy(kernel.LaunchExec); err != nil {
			return nil, err
		}
	}
	err := (&clockAdvance{tx: tx, decides: true}).happen()
	if err == nil {
		err = PlaceAnew(tx)
	}
	if err != nil {
		return nil, tx.Spoil(err)
	}
	start, since := tx.Opt.Now(), tx.Written()
	cyclesAs(tx, &spec)
	p := newPass(tx, spec)
	steps := []func() error{p.silent, p.overdue, p.standings, p.putOffs, p.listQueue, p.unclaim, p.shares, p.schedule,
		p.keepClaims, p.keepPutOffs, p.stillNever, p.ages, p.keep, p.forget, p.soonest, p.stops, p.launches}
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
	err = tx.Loaded.Tallies.Cycled(tx.Now, tx.Opt.Now().Sub(start), tx.Changed())
	// a cycle of the passes would see no more: this one saw everything before it in the transaction
	if asPasses && !p.alone {
		since = tx.Starts.Clock
	}
	tx.StartsLooked(since)
	return p, tx.Spoil(err)
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
	return &CycleReport{Started: started, Stopped: list(p.stopped), Finished: list(p.finished),
		Planned: list(p.plans()),
		Never: kernel.Converted(p.never, func(n neverRuns) NeverRuns {
			return NeverRuns{kernel.JobOf(n.Job), n.why}
		}),
		Cancelled: list(p.cancelled), Launch: launch, Waiting: p.waiting, Unreached: p.unreached,
		Next: kernel.Instant(p.next)}
}

// plans lists the jobs that got a plan and have it still, each once. If a pass goes through the queue
// again, some of them have got another one, or started.
func (p *pass) plans() (out []*row.Job) {
	seen := make(map[uint64]bool, len(p.planned))
	for _, j := range p.planned {
		if now := p.jobs[j.ID]; !seen[j.ID] && now.State == row.JobReserved {
			seen[j.ID], out = true, append(out, now)
		}
	}
	return out
}
