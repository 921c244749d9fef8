package store

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/cycle"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/sharing"
)

// Suppose runs fn on a transaction of its own, which sees what this reader sees and may change
// everything: its changes are in memory alone, and are gone when fn returns. Others read
// and write meanwhile. The policy local takes nodes as they were declared.
func (tx *Tx) Suppose(fn func(*Tx) error) error {
	if tx.file.Format() < firstLog {
		return row.Clash("the database", fmt.Sprintf("it has format %d: a play needs %d, and the first command that changes it brings it there", tx.file.Format(), Format))
	}
	rows, err := tx.file.Suppose()
	if err != nil {
		return err
	}
	opt := tx.db.opt
	opt.Actor, opt.Local, opt.Warn, opt.Behind = nil, nil, nil, true
	opt.Now = tx.Now
	supposed, err := (&DB{file: tx.db.file, log: tx.db.log, opt: opt}).begin(rows)
	if err != nil {
		return err
	}
	return ofStore(fn(supposed))
}

// PlaySpec is how the queue is played forward.
type PlaySpec struct {
	Cycle CycleSpec
	Until time.Time   // the zero time: until no more jobs start
	First int         // only so many of those that wait, in their order; 0: all of them
	Done  func() bool // asked between instants whether the play has taken long enough; nil: it never has

	forgets bool // each pass finds everything out anew: for tests

	runs func(j *row.Job, ran int64) (int64, error) // for how long a job runs, which has run for a while; nil: as long as it asked for
}

// Played is what becomes of a waiting job when the queue is played forward.
type Played struct {
	Job    uint64
	User   string
	Class  string // the one that it named, else that of its user
	CPUs   int64  // that it asked for
	Submit time.Time
	Start  time.Time // zero: not before the end of the play
}

// Play plays the queue forward in a transaction that Suppose has begun: each job runs for its
// walltime, and wherever something ends, begins or may begin there is a cycle as spec says.
// Nothing comes to the queue, and nobody has to execute anything. It returns the jobs that
// wait, by number. The transaction is at the last instant then, and worth nothing any more.
func Play(tx *Tx, spec PlaySpec) ([]Played, error) {
	p, err := play(tx, spec)
	if err != nil {
		return nil, err
	}
	list := make([]Played, 0, len(p.waiting))
	for _, j := range p.waiting {
		class := j.Class
		if class == "" {
			if class, err = tx.ClassOf(j.User); err != nil {
				return nil, err
			}
		}
		cpus, err := tx.cpusOf(j)
		if err != nil {
			return nil, err
		}
		list = append(list, Played{Job: j.ID, User: j.User, Class: class, CPUs: cpus, Submit: instant(j.Submit), Start: instant(p.started[j.ID])})
	}
	slices.SortFunc(list, func(a, b Played) int { return cmp.Compare(a.Job, b.Job) })
	return list, nil
}

// playing is a queue that is played forward.
type playing struct {
	tx      *Tx
	spec    PlaySpec
	waiting []*row.Job       // as they were, in their order
	behind  int              // how many wait behind those
	started map[uint64]int64 // when those who waited have started for the first time; 0: not yet
	begins  []int64          // when they may begin, of those who may not yet
	ends    ends             // of those who end before their time, or after it
	overrun map[uint64]int64 // until when those are taken to go on that were past their end
	whole   bool             // it was not ended early

	memory   *cycle.Memory
	line     []*queuedJob              // the jobs that wait, in their order, as far as they waited when it was made
	listed   map[uint64]*queuedJob     // nil: the line must be read again
	kinds    map[uint64]string         // of jobs; nil where reservations tell jobs apart
	requests map[string]*cycle.Request // of kinds
	read     map[uint64]readJob        // of the queue; nil where jobs make way for others
}

// readJob is a job with the row that it was read from.
type readJob struct {
	payload []byte
	job     *row.Job
}

// play plays a queue.
func play(tx *Tx, spec PlaySpec) (*playing, error) {
	if !tx.file.Supposed() {
		return nil, ErrReadOnly
	}
	if err := spec.Cycle.asSet(tx); err != nil {
		return nil, err
	}
	p := &playing{tx: tx, spec: spec, started: make(map[uint64]int64), whole: true}
	if err := p.prepare(); err != nil {
		return nil, err
	}
	tx.cyclesAs(&p.spec.Cycle)
	until := int64(row.LastInstant)
	if !spec.Until.IsZero() {
		until = unix(spec.Until)
	}
	idle := 0
	for left := len(p.waiting); left > 0 && tx.now <= until && idle < mostIdle; idle++ {
		if spec.Done != nil && spec.Done() {
			p.whole = false
			break
		}
		n, err := p.step()
		if err != nil {
			return nil, err
		}
		next, ok, err := p.next()
		if err != nil {
			return nil, err
		}
		if left -= n; !ok {
			break
		}
		if n > 0 {
			idle = 0
		}
		tx.now, tx.loaded.overruns, tx.loaded.order = next, nil, nil
		tx.calendar().SetNow(next)
	}
	return p, nil
}

// mostIdle is at how many instants nothing of the queue may start before nothing more is expected to:
// reservations that repeat would have a play go on for ever.
const mostIdle = 10_000

// prepare lists who waits, and has running jobs end at their walltime whoever executes them.
func (p *playing) prepare() error {
	tx := p.tx
	tx.loaded.playing, tx.db.plays = p, true
	set, err := tx.settings()
	if err != nil {
		return err
	}
	if !set.FinishOverdue {
		if err := p.goesOn(); err != nil {
			return err
		}
	}
	if err := tx.configure("overdue", "finish"); err != nil {
		return err
	}
	if err := p.keepsRequests(); err != nil {
		return err
	}
	line, err := tx.waiting().line()
	if err != nil {
		return err
	}
	for i, j := range line {
		if p.spec.First > 0 && len(p.waiting) == p.spec.First {
			p.behind = len(line) - i
			for _, j := range line[i:] {
				if err := tx.loaded.jobs.Unlist(row.Waiting, row.WaitingKey(j)); err != nil {
					return err
				}
			}
			break
		}
		was := *j
		p.waiting, p.started[j.ID] = append(p.waiting, &was), 0
		if j.Begin > tx.now {
			p.begins = append(p.begins, j.Begin)
		}
		if j.Attended || j.Attendant != nil {
			alone := *j
			alone.Attended, alone.Attendant = false, nil
			if err := tx.putJob(&alone, j.State); err != nil {
				return err
			}
		}
	}
	return tx.eachJob(func(j *row.Job) error {
		j.Claimed, j.Launched = false, true
		if j.EndsByClock() {
			if err := tx.file.Mark(row.Changes, row.TimeKey(j.End, row.JobOwner(j.ID))); err != nil {
				return err
			}
		} else if err := p.runs(j, tx.now-j.Start); err != nil {
			return err
		}
		return tx.putJob(j, j.State)
	}, JobRunning)
}

// goesOn notes until when jobs that are past their end are taken to keep their nodes.
func (p *playing) goesOn() error {
	late, err := p.tx.overdue().jobs()
	p.overrun = make(map[uint64]int64, len(late))
	for _, j := range late {
		until := p.tx.now + p.tx.overdue().overrun(row.JobOwner(j.ID))
		p.overrun[j.ID] = until
		heap.Push(&p.ends, jobEnd{until, j.Start, j.ID})
	}
	return err
}

// keepsRequests decides what is kept of requests from one instant to the next.
func (p *playing) keepsRequests() error {
	letting, err := p.tx.waiting().letting()
	if err != nil {
		return err
	}
	if !letting.some {
		p.kinds, p.requests = make(map[uint64]string), make(map[string]*cycle.Request)
	}
	ranks, err := sharing.Ranks(p.tx.file)
	if ranks == nil {
		p.read = make(map[uint64]readJob)
	}
	return err
}

// remembers is what passes remember from one instant to the next, nil where jobs may change places or
// have other nodes than those that are free.
func (p *playing) remembers(freed *cycle.Freed, ordered bool) (*cycle.Memory, error) {
	if p.counts() == nil || ordered || p.spec.forgets {
		return nil, nil
	}
	if p.memory == nil {
		ix, err := p.tx.index()
		if err != nil {
			return nil, err
		}
		p.memory = cycle.NewMemory(ix, freed)
	}
	return p.memory, nil
}

// queuedJob is a job of a queue that is played.
type queuedJob struct {
	job   *row.Job // nil: it does not wait any more
	turn  cycle.Job
	asWas bool // its turn says what it is, as far as nothing has changed
}

// played lists the queue that is played from memory, nil where it has to be read: jobs change places, or
// lots of them are decided as one.
func (p *pass) played() ([]*queuedJob, error) {
	played := p.tx.loaded.playing
	if played == nil || played.read == nil || played.spec.forgets {
		return nil, nil
	}
	set, err := p.tx.settings()
	if err != nil || set.JobPriority != "" {
		return nil, err
	}
	if in, err := p.inLots(); err != nil || in && played.counts() == nil {
		return nil, err
	}
	if played.listed != nil {
		played.line = slices.DeleteFunc(played.line, func(q *queuedJob) bool { return q.job == nil })
		return slices.Clone(played.line), nil
	}
	list, err := p.tx.waiting().line()
	if err != nil {
		return nil, err
	}
	played.line, played.listed = nil, make(map[uint64]*queuedJob, len(list))
	for _, j := range list {
		q := &queuedJob{job: j}
		played.line, played.listed[j.ID] = append(played.line, q), q
	}
	return slices.Clone(played.line), nil
}

// noted notes a job that has changed.
func (p *playing) noted(j *row.Job) {
	if p == nil || p.listed == nil {
		return
	}
	q, waits := p.listed[j.ID], j.Waits(j.State)
	switch {
	case q == nil && waits, q != nil && waits && q.job.Priority != j.Priority:
		p.listed = nil
	case q == nil:
	case waits:
		q.job, q.asWas = j, false
	default:
		q.job = nil
		delete(p.listed, j.ID)
	}
}

// queued is a job of the line, nil where there is none.
func (p *playing) queued(j *row.Job) *queuedJob {
	if p == nil || p.listed == nil {
		return nil
	}
	return p.listed[j.ID]
}

// counts is what counts the cpus that are free, nil where jobs may have others: those of reservations,
// of jobs that are overdue, or of jobs that make way.
func (p *playing) counts() func() (int64, error) {
	if p == nil || p.kinds == nil || p.read == nil || len(p.overrun) > 0 {
		return nil
	}
	return p.spare
}

// spare is at most how many cpus are free.
func (p *playing) spare() (n int64, err error) {
	ix, err := p.tx.index()
	if err != nil {
		return 0, err
	}
	for _, b := range ix.Buckets() {
		free := int64(b.Count[index.Free]) + int64(b.Count[index.Later])
		if free == 0 {
			continue
		}
		cpus, known := b.Get(index.NCPUs)
		if !known {
			return math.MaxInt64, nil
		}
		n += free * cpus.Num
	}
	for most, nodes := range ix.Rooms(index.NCPUs) {
		n += most * int64(nodes.GetCardinality())
	}
	return n, ix.Err()
}

// job is a job of the queue with a row.
func (p *playing) job(id uint64, payload []byte) (*row.Job, error) {
	if was, known := p.read[id]; known && len(was.payload) == len(payload) && &was.payload[0] == &payload[0] {
		return was.job, nil
	}
	j, err := row.DecodeJob(row.Key64(id), payload)
	if err == nil {
		p.read[id] = readJob{payload, j}
	}
	return j, err
}

// cpusOf is how many cpus a job asks for, 0 where its request is not understood any more.
func (tx *Tx) cpusOf(j *row.Job) (int64, error) {
	defs, err := tx.Resources()
	if err != nil {
		return 0, err
	}
	spec, err := placer.Parse(defs, placer.Request{Select: j.Select, Place: j.Place})
	if err != nil {
		return 0, passOver(err)
	}
	for _, w := range spec.Totals(defs) {
		if w.Res == index.NCPUs {
			return w.Value.Num, nil
		}
	}
	return 0, nil
}

// jobEnd is when a job ends that began at an instant.
type jobEnd struct {
	at, start int64
	job       uint64
}

// ends are ends of jobs, as a heap.
type ends []jobEnd

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, j int) bool { return e[i].at < e[j].at }
func (e ends) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *ends) Push(x any)        { *e = append(*e, x.(jobEnd)) } //nolint:forcetypeassert // ours alone
func (e *ends) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// runs notes when a job that runs ends, where that is before its time.
func (p *playing) runs(j *row.Job, ran int64) error {
	if p.spec.runs == nil {
		return nil
	}
	likely, err := p.spec.runs(j, ran)
	if end := j.Start + likely; err == nil && end < j.End {
		heap.Push(&p.ends, jobEnd{max(end, p.tx.now), j.Start, j.ID})
	}
	return err
}

// finish ends the jobs whose end has come.
func (p *playing) finish() error {
	tx := p.tx
	late, err := tx.overdue().jobs()
	if err != nil {
		return err
	}
	late = slices.DeleteFunc(late, func(j *row.Job) bool { return p.overrun[j.ID] > tx.now })
	for len(p.ends) > 0 && p.ends[0].at <= tx.now {
		e := heap.Pop(&p.ends).(jobEnd) //nolint:forcetypeassert // ours alone
		j, err := tx.job(e.job)
		if err != nil {
			return err
		}
		if j.State == JobRunning && j.Start == e.start && !j.Ending && j.End > tx.now {
			late = append(late, j)
		}
	}
	for _, j := range late {
		if err := tx.overdue().finish(j); err != nil {
			return err
		}
	}
	return nil
}

// step makes what is due at an instant happen, and returns how many jobs have started that
// have not before.
func (p *playing) step() (n int, err error) {
	tx := p.tx
	if err := (&passage{tx: tx}).advance(); err != nil {
		return 0, err
	}
	if err := p.finish(); err != nil {
		return 0, err
	}
	c := newPass(tx, p.spec.Cycle)
	for _, step := range []func() error{c.standings, c.putOffs, c.listQueue, c.unclaim, c.shares, c.schedule, c.keepClaims, c.keepPutOffs, c.ages, c.keep, tx.settle} {
		if err := step(); err != nil {
			return 0, err
		}
	}
	ids, err := tx.toBeLaunched()
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		j, err := tx.job(id)
		if err != nil {
			return 0, err
		}
		if at, waited := p.started[id]; waited && at == 0 {
			p.started[id] = j.Start
			n++
		}
		j.Launched = true
		if err := tx.putJob(j, j.State); err != nil {
			return 0, err
		}
		if err := p.runs(j, 0); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// next is the next instant at which something ends, begins, or may begin.
func (p *playing) next() (at int64, ok bool, err error) {
	soonest := func(t int64) {
		if t > p.tx.now && (!ok || t < at) {
			at, ok = t, true
		}
	}
	for _, table := range []row.Table{row.Releases, row.Changes} {
		err := p.tx.file.EachFrom(table, row.TimeKey(p.tx.now+1, 0), nil, func(key, _ []byte) (bool, error) {
			t, _ := row.SplitTimeKey(key)
			soonest(t)
			return false, nil
		})
		if err != nil {
			return 0, false, err
		}
	}
	if len(p.ends) > 0 {
		soonest(p.ends[0].at)
	}
	for _, t := range p.begins {
		soonest(t)
	}
	err = p.spared(soonest)
	return at, ok, err
}

// spared tells of the instants at which running jobs have run for so long that they may make way
// for one that waits.
func (p *playing) spared(at func(int64)) error {
	ranks, err := sharing.Ranks(p.tx.file)
	if ranks == nil || err != nil {
		return err
	}
	m := &making{pass: &pass{tx: p.tx}}
	asking := make(map[preempt.Subject]bool)
	err = p.tx.eachJob(func(j *row.Job) error {
		who, err := m.subjectOf(j)
		if err == nil && j.Queued && ranks.Left(who) {
			asking[who] = true
		}
		return err
	}, JobQueued, JobReserved)
	if err != nil || len(asking) == 0 && ranks.Soft() == nil {
		return err
	}
	return p.tx.eachJob(func(j *row.Job) error {
		is, err := m.subjectOf(j)
		if err != nil || !j.Queued {
			return err
		}
		if soft := ranks.Soft(); soft != nil {
			at(j.Start + soft.MinRun)
		}
		for who := range asking {
			if rule := ranks.Over(who, is); rule != nil && !rule.Spares(rule.MinRun, len(j.YieldedTo)) {
				at(j.Start + rule.MinRun)
			}
		}
		return nil
	}, JobRunning)
}

// MadeWay is a job that would be stopped for another.
type MadeWay struct {
	Job     uint64
	Becomes JobState  // queued again, or cancelled
	Until   time.Time // when its nodes are the other's at the latest
	Rule    string    // by which
}

// MayStop reports whether others may come to make way for a job: it waits, and goes before some
// by a rule.
func MayStop(tx *Tx, id uint64) (bool, error) {
	j, err := tx.job(id)
	if err != nil || !j.Queued || j.State != JobQueued && j.State != JobReserved {
		return false, err
	}
	ranks, err := sharing.Ranks(tx.file)
	if ranks == nil || err != nil {
		return false, err
	}
	who, err := (&making{pass: &pass{tx: tx}}).subjectOf(j)
	return ranks.Left(who) || ranks.Soft() != nil, err
}

// WouldStop lists whom a cycle would stop now for a waiting job. It makes one: the transaction is
// worth nothing any more, and is one of DryRun.
func WouldStop(tx *Tx, id uint64) ([]MadeWay, error) {
	p, err := tx.cycle(CycleSpec{})
	if err != nil {
		return nil, err
	}
	out := p.madeWay[id]
	slices.SortFunc(out, func(a, b MadeWay) int { return cmp.Compare(a.Job, b.Job) })
	return out, nil
}
