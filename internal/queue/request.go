package queue

import (
	"errors"
	"strconv"
	"strings"

	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/cycle"
	"github.com/placectl/placectl/placer/subject"
)

// RequestKind returns the key of jobs with equal requests; apart lists what else distinguishes
// them. Facts about a request are cached by this key.
func RequestKind(j *row.Job, apart []string) string {
	var b strings.Builder
	words := []string{j.Select, j.Place, j.Queue, j.User, j.Request().Policy, j.Access.String(), j.Reservation,
		strconv.FormatInt(j.Walltime, 10)}
	if len(j.Pools) > 0 {
		words = append(words, "pools", placer.FormatPools(j.Pools))
	}
	if j.Exclude != "" {
		words = append(words, "exclude", j.Exclude)
	}
	words = append(words, apart...)
	for _, w := range append(words, j.Prefer...) {
		b.WriteString(strconv.Itoa(len(w)))
		b.WriteByte(':')
		b.WriteString(w)
	}
	return b.String()
}

// Letting tells whether any reservation admits users, and whether one admits jobs by number or
// name.
type Letting struct{ some, jobs bool }

func LettingOf(tx *kernel.Tx) (l Letting, err error) {
	err = tx.File.Each(row.Access, nil, func(_, _ []byte) (bool, error) { l.some = true; return false, nil })
	if err == nil && l.some {
		err = tx.File.Each(row.Access, []byte{byte(subject.Job)}, func(_, _ []byte) (bool, error) {
			l.jobs = true
			return false, nil
		})
	}
	return l, err
}

// TellsApart lists what decides about a job besides its request: its submission time if it may
// come to span placement sets, its limits, and the nodes that it avoids. If reservations admit
// only some users, it adds the job's group, account, class and name, and its number if one
// admits jobs by number.
func TellsApart(tx *kernel.Tx, j *row.Job, l Letting) (apart []string, err error) {
	set, err := tx.Settings()
	if err != nil {
		return nil, err
	}
	if set.SetDelay > 0 {
		apart = append(apart, "since", strconv.FormatInt(j.Submit, 10))
	}
	if c, err := tx.Counters().Throttle(j.Array); err != nil {
		return nil, err
	} else if c != nil {
		apart = append(apart, c.Name)
	}
	ruled, err := tx.Counters().Rules.Apart(j)
	if err != nil {
		return nil, err
	}
	apart = append(apart, ruled...)
	for _, node := range j.Excluded {
		apart = append(apart, "not on", strconv.FormatUint(uint64(node), 10))
	}
	if l.some {
		apart = append(apart, j.Group, j.Account, j.Class, j.Name)
	}
	if l.jobs {
		byNumber := false
		err = tx.Reservations().LettingIn(placer.Entrant{Job: j.ID, Array: j.Array, Index: j.Index},
			func(uint64) error {
				byNumber = true
				return nil
			})
		if byNumber {
			apart = append(apart, "number", strconv.FormatUint(j.ID, 10))
		}
	}
	return apart, err
}

// Kind implements cycle.Host, as Request and Snapshot do.
func (p *pass) Kind(c *cycle.Job) (string, error) {
	if p.letting == nil {
		l, err := LettingOf(p.tx)
		if err != nil {
			return "", err
		}
		p.letting = &l
	}
	j, played := p.jobs[c.ID], p.playing
	if played != nil && played.kinds[j.ID] != "" {
		return played.kinds[j.ID], nil
	}
	apart, err := TellsApart(p.tx, j, *p.letting)
	kind := RequestKind(j, apart)
	if played != nil && played.kinds != nil {
		played.kinds[j.ID] = kind
	}
	return kind, err
}

func (p *pass) Request(c *cycle.Job) (*cycle.Request, error) {
	played := p.playing
	if played == nil || played.requests == nil {
		return p.request(c)
	}
	kind, err := p.Kind(c)
	if err == nil && played.requests[kind] == nil {
		played.requests[kind], err = p.request(c)
	}
	return played.requests[kind], err
}

func (p *pass) request(c *cycle.Job) (*cycle.Request, error) {
	j := p.jobs[c.ID]
	a, err := plan.AskOfJob(p.tx, j)
	var snap *placer.Snapshot
	if err == nil {
		snap, err = plan.Snapshot(p.tx, j.Queue)
	}
	if kernel.IsRefusal(err) {
		return &cycle.Request{Refused: err}, nil
	}
	if err != nil {
		return nil, err
	}
	return cycle.NewRequest(snap, a)
}

func (p *pass) Snapshot(c *cycle.Job) (*placer.Snapshot, error) {
	return plan.Snapshot(p.tx, p.jobs[c.ID].Queue)
}

// Some jobs can never run on the present cluster. The submission reports that, or the cycle
// that finds out, and each later cycle. Such jobs block no other job, and are checked again
// when something has changed.

// NeverRuns is a job that can never run on the present cluster.
type NeverRuns struct {
	*kernel.Job
	Why string // the shortage alone
}

type neverRuns struct {
	*row.Job
	why string
}

// Never implements cycle.Host: it reports a job that can never run, and marks it. A job that waits for
// nodes out of service is not marked.
func (p *pass) Never(c *cycle.Job, why error) error {
	j := p.jobs[c.ID]
	if p.told[j.ID] {
		return nil // it was reported before, in this cycle
	}
	if p.playing != nil && j.State != row.JobReserved {
		p.playing.never[j.ID] = true
	}
	if j.Never && p.playing != nil {
		return nil
	}
	p.told[j.ID] = true
	if !j.Queued && j.State == row.JobReserved { // it keeps its plan, because it may be able to run by then
		return nil
	}
	if !j.Queued { // it has failed
		j.Reason = j.Reason.And(why.Error())
		return jobs.PutJob(p.tx, j, j.State)
	}
	if errors.Is(why, placer.ErrAbsent) {
		return p.unmark(j)
	}
	p.never = append(p.never, neverRuns{j, placer.Shortage(why)})
	if j.Never {
		return nil
	}
	if err := jobs.NeverRuns(p.tx, j, why.Error()); err != nil {
		return err
	}
	if j.Reason.Cause == row.CauseNone { // old rows have the mark as their reason
		j.Reason = row.Reason{}
	}
	return jobs.PutJob(p.tx, j, j.State)
}

// stillNever reports the jobs that can never run and had no turn. It examines the marked ones
// and, if something has changed since the last cycle, those that wait for something other than
// room. It unmarks those that could run by now.
func (p *pass) stillNever() error {
	changed := p.began != p.tx.State.Planned
	look := func(list []*row.Job, all bool) error {
		for _, j := range list {
			if p.told[j.ID] || !j.State.Live() || !j.Never && (!all || j.State != row.JobQueued) {
				continue
			}
			if err := p.lookAgain(j); err != nil {
				return err
			}
		}
		return nil
	}
	if err := look(p.queue, false); err != nil {
		return err
	}
	return look(p.aside, changed)
}

// lookAgain checks whether a job without a turn could run.
func (p *pass) lookAgain(j *row.Job) error {
	c := p.waits(j)
	why, err := p.decider.Possible(c)
	switch {
	case err != nil:
		return err
	case why != nil && j.State == row.JobReserved: // it keeps its plan
		return nil
	case why != nil:
		return p.Never(c, why)
	}
	return p.unmark(j)
}

// unmark takes the mark of jobs that can never run off a job.
func (p *pass) unmark(j *row.Job) error {
	if !j.Never {
		return nil
	}
	j.Never = false
	return jobs.PutJob(p.tx, j, j.State)
}
