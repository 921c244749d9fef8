package store

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/store/internal/ledger"
	"github.com/placectl/placectl/store/internal/row"
)

// Usage is what jobs have had, of those that there are and of those that were archived:
// month by month, for each user, account, class and queue. It is added up in the commits
// in which attempts and jobs end, and split at the ends of months in UTC.
type Usage struct{ tx *Tx }

// Usage is what jobs have had.
func (tx *Tx) Usage() Usage { return Usage{tx} }

// Since is the instant since which the use of nodes is counted: see Used.
func (u Usage) Since() time.Time { return instant(u.tx.state.UsageSince) }

// Reset begins to count the use of nodes anew.
func (u Usage) Reset() error {
	if !u.tx.Writable() {
		return ErrReadOnly
	}
	u.tx.state.UsageSince = u.tx.now
	return u.tx.file.Clear(row.Usage)
}

// UsageBy is what usage is told apart by.
type UsageBy string

// What usage is told apart by. Days and months are those of UTC.
const (
	UsageByUser    UsageBy = "user"
	UsageByAccount UsageBy = "account"
	UsageByClass   UsageBy = "class"
	UsageByQueue   UsageBy = "queue"
	UsageByDay     UsageBy = "day"
	UsageByMonth   UsageBy = "month"
)

// UsageSpec is which usage is asked for. The zero value is all of it, by user.
type UsageSpec struct {
	By       UsageBy
	From, To time.Time // zero: from the first, up to now
}

// UsageTotal is what somebody had, or all had in a day or month.
type UsageTotal struct {
	Name      string // of whom, "" for those who named none; a day is 2026-11-20, a month 2026-11
	Jobs      int64  // that ended in the time, of those that had begun
	Failed    int64  // of them
	Preempted int64  // how often they had made way for others
	Waits     time.Duration
	Held      map[string]int64 // units x seconds, by consumable, pool, or "nodes"; a unit of a size is 1024 kb
}

// UsageReport is an answer.
type UsageReport struct {
	Totals []UsageTotal // by name
	Left   int64        // jobs that are in no total: they were archived, of which only whole months are known
}

// Total adds up what jobs had in a time, what runs now included.
func (u Usage) Total(spec UsageSpec) (*UsageReport, error) {
	if spec.By == "" {
		spec.By = UsageByUser
	}
	from, to := unix(spec.From), unix(spec.To)
	if !spec.To.IsZero() && from > to {
		return nil, fmt.Errorf("%w: usage from %s to %s", ErrInvalid, stamp(from), stamp(to))
	}
	if spec.To.IsZero() || to > u.tx.now {
		to = u.tx.now
	}
	s := &usageSum{by: spec.By, totals: make(map[string]*row.Total)}
	left, err := s.read(u.tx, from, to)
	if err != nil {
		return nil, err
	}
	out := &UsageReport{Left: left}
	for _, name := range slices.Sorted(maps.Keys(s.totals)) {
		t := s.totals[name]
		held := make(map[string]int64, len(t.Held))
		for _, h := range t.Held {
			held[h.Name] = h.Seconds
		}
		out.Totals = append(out.Totals, UsageTotal{name, t.Jobs, t.Failed, t.Preempted, lasting(t.Waits), held})
	}
	return out, nil
}

// usageSum is usage as it is added up.
type usageSum struct {
	by     UsageBy
	totals map[string]*row.Total
}

func (s *usageSum) add(at int64, p row.Payers, t *row.Total) {
	var name string
	switch s.by {
	case UsageByUser:
		name = p.User
	case UsageByAccount:
		name = p.Account
	case UsageByClass:
		name = p.Class
	case UsageByQueue:
		name = p.Queue
	case UsageByMonth:
		name = row.MonthOf(at).String()
	case UsageByDay:
		name = time.Unix(at, 0).UTC().Format(time.DateOnly)
	}
	if s.totals[name] == nil {
		s.totals[name] = new(row.Total)
	}
	s.totals[name].Add(t, 1)
}

// read adds up what there is. Whole months are known of all jobs, other times only of those
// that are still there: how many others may have ended in them is returned.
func (s *usageSum) read(tx *Tx, from, to int64) (left int64, err error) {
	whole := func(m row.Month) bool { return m.Start() >= from && (m+1).Start() <= to }
	months := s.by != UsageByDay && (from <= 0 || row.MonthOf(from).Start() == from) &&
		(to >= tx.now || row.MonthOf(to).Start() == to)
	if months {
		whole = func(m row.Month) bool { return m.Start() >= from && m.Start() < to }
	}
	err = tx.file.Each(row.Gone, nil, func(key, payload []byte) (bool, error) {
		m, p, t, err := readTotal(key, payload)
		switch {
		case err != nil:
		case s.by != UsageByDay && whole(m):
			s.add(m.Start(), p, t)
		case m.Start() < to && (m+1).Start() > from:
			left += t.Jobs
		}
		return true, err
	})
	if err != nil || !months {
		if err == nil {
			err = tx.eachJob(func(j *row.Job) error { return s.job(tx, j, from, to) })
		}
		return left, err
	}
	err = tx.file.Each(row.Totals, nil, func(key, payload []byte) (bool, error) {
		m, p, t, err := readTotal(key, payload)
		if err == nil && whole(m) {
			s.add(m.Start(), p, t)
		}
		return true, err
	})
	if err != nil {
		return left, err
	}
	return left, tx.eachJob(func(j *row.Job) error { return s.attempts(tx, j, j.CurrentAttempt(), from, to) }, JobRunning)
}

func readTotal(key, payload []byte) (m row.Month, p row.Payers, t *row.Total, err error) {
	if m, p, err = row.SplitTotalKey(key); err == nil {
		t, err = row.DecodeTotal(key, payload)
	}
	return m, p, t, err
}

// job adds what a job had in a time.
func (s *usageSum) job(tx *Tx, j *row.Job, from, to int64) error {
	if err := s.attempts(tx, j, 1, from, to); err != nil {
		return err
	}
	if j.State.Live() || j.End < from || j.End >= to && to < tx.now || j.CurrentAttempt() == 0 {
		return nil
	}
	first, err := tx.attempts().of(j, 1)
	if err != nil {
		return err
	}
	if _, t, counts := ledger.Job(j, first.Began); counts {
		s.add(j.End, j.Payers(), t)
	}
	return nil
}

// attempts adds what a job's attempts had in a time, from one of them on.
func (s *usageSum) attempts(tx *Tx, j *row.Job, first int, from, to int64) error {
	l, err := accounting{tx}.ledger()
	if err != nil {
		return err
	}
	for number := max(first, 1); number <= j.CurrentAttempt(); number++ {
		a, err := tx.attempts().of(j, number)
		if err != nil {
			return err
		}
		until := a.Ended
		if a.State != row.AttemptEnded {
			until = tx.now
		}
		step := int64(math.MaxInt64) // one add for each month
		if s.by == UsageByDay {
			step = 86400
		}
		for at := max(from, a.Began); at < min(to, until); {
			end := to
			if step == 86400 {
				end = min(to, at-at%step+step)
			}
			l.Attempt(j, a, until, at, end, func(m row.Month, t *row.Total) { s.add(max(m.Start(), at), j.Payers(), t) })
			at = end
		}
	}
	return nil
}

// ledger knows what jobs ask for.
func (ts accounting) ledger() (*ledger.Ledger, error) {
	defs, err := ts.Resources()
	if err != nil {
		return nil, err
	}
	if l := ts.loaded.ledger; l == nil || l.Defs != defs {
		ts.loaded.ledger = &ledger.Ledger{Defs: defs}
	}
	return ts.loaded.ledger, nil
}

// accounting is the transaction as far as it adds up what jobs have had.
type accounting struct{ *Tx }

// left counts an attempt that has ended just now, and a job that has.
func (ts accounting) left(j *row.Job, was JobState, number int) error {
	sum := make(totalsByKey)
	if was == JobRunning {
		l, err := ts.ledger()
		if err != nil {
			return err
		}
		a, err := ts.attempts().of(j, number)
		if err != nil {
			return err
		}
		l.Attempt(j, a, a.Ended, 0, math.MaxInt64, sum.adder(j))
		if j.State != JobRunning {
			if err := decaying(ts).turn(j, len(a.AllNodes()), a.Ended, -1); err != nil {
				return err
			}
		}
	}
	if !j.State.Live() && j.CurrentAttempt() > 0 {
		first, err := ts.attempts().of(j, 1)
		if err != nil {
			return err
		}
		if m, t, counts := ledger.Job(j, first.Began); counts {
			sum.adder(j)(m, t)
		}
	}
	return ts.change(row.Totals, sum, 1)
}

// whole adds all that a job that is there has added to the totals.
func (ts accounting) whole(j *row.Job, to totalsByKey) error {
	l, err := ts.ledger()
	if err != nil {
		return err
	}
	return l.Whole(j, ts.attempts().of, to.adder(j))
}

// totalsByKey are totals by the keys of their rows.
type totalsByKey map[string]*row.Total

func (sum totalsByKey) adder(j *row.Job) func(row.Month, *row.Total) {
	return func(m row.Month, t *row.Total) {
		key := string(row.TotalKey(m, j.Payers()))
		if sum[key] == nil {
			sum[key] = new(row.Total)
		}
		sum[key].Add(t, 1)
	}
}

// change adds totals to the rows of a table so many times.
func (ts accounting) change(table row.Table, sum totalsByKey, times int64) error {
	for _, key := range slices.Sorted(maps.Keys(sum)) {
		t := new(row.Total)
		payload, err := ts.file.Get(table, []byte(key))
		if err == nil && payload != nil {
			t, err = row.DecodeTotal([]byte(key), payload)
		}
		if err != nil {
			return err
		}
		t.Add(sum[key], times)
		if t.Empty() {
			if payload != nil {
				err = ts.file.Remove(table, []byte(key))
			}
		} else {
			err = ts.file.Put(table, []byte(key), row.EncodeTotal(t))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// gone moves what jobs had that go to what is known of those that have gone.
func (ts accounting) gone(sum totalsByKey) error {
	if err := ts.change(row.Totals, sum, -1); err != nil {
		return err
	}
	return ts.change(row.Gone, sum, 1)
}

// renamed changes a resource: what jobs asked for that have ended and name it reads
// otherwise from then on, so what they had is kept apart from what the rows say.
func (ts accounting) renamed(name string, change func() error) error {
	var of []*row.Job
	err := ts.eachJob(func(j *row.Job) error {
		if j.CurrentAttempt() > 0 && strings.Contains(j.Select, name) {
			of = append(of, j)
		}
		return nil
	})
	if err != nil {
		return err
	}
	before, after := make(totalsByKey), make(totalsByKey)
	each := func(sum totalsByKey) error {
		for _, j := range of {
			if err := ts.whole(j, sum); err != nil {
				return err
			}
		}
		return nil
	}
	if err := each(before); err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	ts.loaded.ledger = nil
	if err := each(after); err != nil {
		return err
	}
	return ts.gone(before.less(after))
}

// kept keeps what a job has had that was altered with whom it has had it.
func (ts accounting) kept(j *row.Job, had totalsByKey) error {
	has := make(totalsByKey)
	if err := ts.whole(j, has); err != nil {
		return err
	}
	return ts.gone(had.less(has))
}

// less takes other totals off.
func (sum totalsByKey) less(o totalsByKey) totalsByKey {
	for key, t := range o {
		if sum[key] == nil {
			sum[key] = new(row.Total)
		}
		sum[key].Add(t, -1)
	}
	return sum
}

// decaying is the transaction as far as it is about use of which what lies back counts
// less. It is kept where the setting half_life is set, or job_priority speaks of it: a start
// raises a rate, an end lowers it, and nothing is done in between.
type decaying struct{ *Tx }

// turn changes what somebody holds as of an instant: times is 1 for a start, -1 for an end.
func (ds decaying) turn(j *row.Job, nodes int, at, times int64) error {
	set, err := ds.settings()
	if err != nil || !set.Decays {
		return err
	}
	l, err := accounting(ds).ledger()
	if err != nil {
		return err
	}
	key := row.DecayedKey(j.Sharer())
	x := new(row.Decayed)
	payload, err := ds.file.Get(row.Decays, key)
	if err == nil && payload != nil {
		x, err = row.DecodeDecayed(key, payload)
	}
	if err != nil {
		return err
	}
	for _, h := range l.Held(j, nodes) {
		x.Turn(h.Name, times*h.Num, h.One, at, seconds(set.HalfLife))
	}
	return ds.file.Put(row.Decays, key, row.EncodeDecayed(x))
}

// each tells what everybody has had as of an instant, in units of the setting share_unit.
func (ds decaying) each(at int64, fn func(s row.Sharer, use float64) error) error {
	set, err := ds.settings()
	if err != nil {
		return err
	}
	return ds.file.Each(row.Decays, nil, func(key, payload []byte) (bool, error) {
		s, err := row.SplitDecayedKey(key)
		if err != nil {
			return false, err
		}
		x, err := row.DecodeDecayed(key, payload)
		if err != nil {
			return false, err
		}
		x.Move(at, seconds(set.HalfLife))
		return true, fn(s, x.Of(set.ShareUnit))
	})
}

// anew makes all of it anew of the attempts that are there, where it is kept: because the
// half-life has changed, or it was not kept before. What was archived counts no more.
func (ds decaying) anew() error {
	set, err := ds.settings()
	if err != nil {
		return err
	}
	if err := ds.file.Clear(row.Decays); err != nil || !set.Decays {
		return err
	}
	return ds.eachJob(func(j *row.Job) error {
		for number := 1; number <= j.CurrentAttempt(); number++ {
			a, err := ds.attempts().of(j, number)
			nodes := 0
			if err == nil {
				nodes = len(a.AllNodes())
			}
			if err != nil || nodes == 0 || a.Began <= 0 {
				return err
			}
			if err := ds.turn(j, nodes, a.Began, 1); err != nil {
				return err
			}
			if number == j.CurrentAttempt() && j.State == JobRunning {
				continue
			}
			if err := ds.turn(j, nodes, a.Ended, -1); err != nil {
				return err
			}
		}
		return nil
	})
}
