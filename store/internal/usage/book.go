// Package usage adds up what jobs have had: month by month for each user, account, class and
// queue, in the commits in which attempts and jobs end (see package ledger); with what lies
// back counting less; and node by node. It sees rows, and asks a transaction for jobs and
// attempts.
package usage

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/ledger"
	"github.com/placectl/placectl/store/internal/row"
)

// Transaction is the one that adds up.
type Transaction interface {
	Resources() (*index.Defs, error)
	EachJob(fn func(*row.Job) error, in ...row.JobState) error
	Decay() (Decay, error)
}

// Attempts are those of its jobs.
type Attempts interface {
	Of(j *row.Job, number int) (*row.Attempt, error)
}

// Book is what a transaction adds up.
type Book struct {
	Transaction
	Attempts Attempts
	Rows     *file.Recorder
	ledger   *ledger.Ledger
}

// Ledger knows what jobs ask for.
func (b *Book) Ledger() (*ledger.Ledger, error) {
	defs, err := b.Resources()
	if err != nil {
		return nil, err
	}
	if b.ledger == nil || b.ledger.Defs != defs {
		b.ledger = &ledger.Ledger{Defs: defs}
	}
	return b.ledger, nil
}

// Left counts an attempt that has ended just now, and a job that has.
func (b *Book) Left(j *row.Job, was row.JobState, number int) error {
	sum := make(Totals)
	if was == row.JobRunning {
		l, err := b.Ledger()
		if err != nil {
			return err
		}
		a, err := b.Attempts.Of(j, number)
		if err != nil {
			return err
		}
		l.Attempt(j, a, a.Ended, 0, math.MaxInt64, sum.adder(j))
		if j.State != row.JobRunning {
			if err := b.Turn(j, len(a.AllNodes()), a.Ended, -1); err != nil {
				return err
			}
		}
	}
	if !j.State.Live() && j.CurrentAttempt() > 0 {
		first, err := b.Attempts.Of(j, 1)
		if err != nil {
			return err
		}
		if m, t, counts := ledger.Job(j, first.Began); counts {
			sum.adder(j)(m, t)
		}
	}
	return b.change(row.Totals, sum, 1)
}

// Whole adds all that a job that is there has added to the totals.
func (b *Book) Whole(j *row.Job, to Totals) error {
	l, err := b.Ledger()
	if err != nil {
		return err
	}
	return l.Whole(j, b.Attempts.Of, to.adder(j))
}

// Totals are totals by the keys of their rows.
type Totals map[string]*row.Total

func (sum Totals) adder(j *row.Job) func(row.Month, *row.Total) {
	return func(m row.Month, t *row.Total) {
		key := string(row.TotalKey(m, j.Payers()))
		if sum[key] == nil {
			sum[key] = new(row.Total)
		}
		sum[key].Add(t, 1)
	}
}

// change adds totals to the rows of a table so many times.
func (b *Book) change(table row.Table, sum Totals, times int64) error {
	for _, key := range slices.Sorted(maps.Keys(sum)) {
		t := new(row.Total)
		payload, err := b.Rows.Get(table, []byte(key))
		if err == nil && payload != nil {
			t, err = row.DecodeTotal([]byte(key), payload)
		}
		if err != nil {
			return err
		}
		t.Add(sum[key], times)
		if t.Empty() {
			if payload != nil {
				err = b.Rows.Remove(table, []byte(key))
			}
		} else {
			err = b.Rows.Put(table, []byte(key), row.EncodeTotal(t))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Gone moves what jobs had that go to what is known of those that have gone.
func (b *Book) Gone(sum Totals) error {
	if err := b.change(row.Totals, sum, -1); err != nil {
		return err
	}
	return b.change(row.Gone, sum, 1)
}

// Renamed changes a resource: what jobs asked for that have ended and name it reads
// otherwise from then on, so what they had is kept apart from what the rows say.
func (b *Book) Renamed(name string, change func() error) error {
	var of []*row.Job
	err := b.EachJob(func(j *row.Job) error {
		if j.CurrentAttempt() > 0 && strings.Contains(j.Select, name) {
			of = append(of, j)
		}
		return nil
	})
	if err != nil {
		return err
	}
	before, after := make(Totals), make(Totals)
	each := func(sum Totals) error {
		for _, j := range of {
			if err := b.Whole(j, sum); err != nil {
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
	b.ledger = nil
	if err := each(after); err != nil {
		return err
	}
	return b.Gone(before.less(after))
}

// Kept keeps what a job has had that was altered with whom it has had it.
func (b *Book) Kept(j *row.Job, had Totals) error {
	has := make(Totals)
	if err := b.Whole(j, has); err != nil {
		return err
	}
	return b.Gone(had.less(has))
}

// less takes other totals off.
func (sum Totals) less(o Totals) Totals {
	for key, t := range o {
		if sum[key] == nil {
			sum[key] = new(row.Total)
		}
		sum[key].Add(t, -1)
	}
	return sum
}
