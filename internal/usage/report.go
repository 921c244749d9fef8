package usage

import (
	"math"
	"time"

	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/subject"
)

// By is what use is grouped by.
type By string

// The groupings of use. Days and months are in UTC.
const (
	ByUser    By = "user"
	ByGroup   By = "group"
	ByAccount By = "account"
	ByClass   By = "class"
	ByQueue   By = "queue"
	ByDay     By = "day"
	ByMonth   By = "month"
)

// Report adds up the use between two instants, including running jobs. left is the number of
// jobs in no total, because they were archived and only their whole months are known.
func (b *Book) Report(by By, from, to, now int64) (totals map[string]*row.Total, left int64, err error) {
	s := &sum{Book: b, now: now, by: by, totals: make(map[string]*row.Total)}
	left, err = s.read(from, to)
	return s.totals, left, err
}

// sum is a sum of usage in progress.
type sum struct {
	*Book
	now    int64
	by     By
	totals map[string]*row.Total
}

func (s *sum) add(at int64, who subject.Names, t *row.Total) {
	name := who[row.Payers.Named(string(s.by))]
	switch s.by {
	case ByMonth:
		name = row.MonthOf(at).String()
	case ByDay:
		name = time.Unix(at, 0).UTC().Format(time.DateOnly)
	}
	if s.totals[name] == nil {
		s.totals[name] = new(row.Total)
	}
	s.totals[name].Add(t, 1)
}

// read adds up the use. Whole months include all jobs, other periods only those not archived.
// It returns how many others may have ended in those.
func (s *sum) read(from, to int64) (left int64, err error) {
	whole := func(m row.Month) bool { return m.Start() >= from && (m+1).Start() <= to }
	months := s.by != ByDay && (from <= 0 || row.MonthOf(from).Start() == from) &&
		(to >= s.now || row.MonthOf(to).Start() == to)
	if months {
		whole = func(m row.Month) bool { return m.Start() >= from && m.Start() < to }
	}
	err = s.Rows.Each(row.Gone, nil, func(key, payload []byte) (bool, error) {
		m, p, t, err := readTotal(key, payload)
		switch {
		case err != nil:
		case s.by != ByDay && whole(m):
			s.add(m.Start(), p, t)
		case m.Start() < to && (m+1).Start() > from:
			left += t.Jobs
		}
		return true, err
	})
	if err != nil || !months {
		if err == nil {
			err = s.EachJob(func(j *row.Job) error { return s.job(j, from, to) })
		}
		return left, err
	}
	err = s.Rows.Each(row.Totals, nil, func(key, payload []byte) (bool, error) {
		m, p, t, err := readTotal(key, payload)
		if err == nil && whole(m) {
			s.add(m.Start(), p, t)
		}
		return true, err
	})
	if err != nil {
		return left, err
	}
	return left, s.EachJob(func(j *row.Job) error { return s.attempts(j, j.CurrentAttempt(), from, to) },
		row.JobRunning)
}

func readTotal(key, payload []byte) (m row.Month, who subject.Names, t *row.Total, err error) {
	if m, who, err = row.SplitTotalKey(key); err == nil {
		t, err = row.TotalRow.Decode(key, payload)
	}
	return m, who, t, err
}

// job adds a job's use in a period.
func (s *sum) job(j *row.Job, from, to int64) error {
	if err := s.attempts(j, 1, from, to); err != nil {
		return err
	}
	if j.State.Live() || j.End < from || j.End >= to && to < s.now || j.CurrentAttempt() == 0 {
		return nil
	}
	first, err := s.Attempts.Of(j, 1)
	if err != nil {
		return err
	}
	if _, t, counts := EndedJob(j, first.Began); counts {
		s.add(j.End, j.Whose(), t)
	}
	return nil
}

// attempts adds the use by a job's attempts in a period, from one of them on.
func (s *sum) attempts(j *row.Job, first int, from, to int64) error {
	l, err := s.Ledger()
	if err != nil {
		return err
	}
	for number := max(first, 1); number <= j.CurrentAttempt(); number++ {
		a, err := s.Attempts.Of(j, number)
		if err != nil {
			return err
		}
		until := a.Ended
		if a.State != row.AttemptEnded {
			until = s.now
		}
		step := int64(math.MaxInt64) // one call for each month
		if s.by == ByDay {
			step = 86400
		}
		for at := max(from, a.Began); at < min(to, until); {
			end := to
			if step == 86400 {
				end = min(to, at-at%step+step)
			}
			l.Attempt(j, a, until, at, end, func(m row.Month, t *row.Total) {
				s.add(max(m.Start(), at), j.Whose(), t)
			})
			at = end
		}
	}
	return nil
}
