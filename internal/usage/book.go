package usage

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// Transaction is the transaction that adds up use.
type Transaction interface {
	Resources() (*index.Defs, error)
	EachJob(fn func(*row.Job) error, in ...row.JobState) error
	Decay() (Decay, error)
}

// Attempts reads the attempts of its jobs.
type Attempts interface {
	Of(j *row.Job, number int) (*row.Attempt, error)
}

// Book adds up use in a transaction.
type Book struct {
	Transaction
	Attempts Attempts
	Rows     *file.Recorder
	ledger   *Ledger
}

// Ledger returns the ledger for the present resources.
func (b *Book) Ledger() (*Ledger, error) {
	defs, err := b.Resources()
	if err != nil {
		return nil, err
	}
	if b.ledger == nil || b.ledger.Defs != defs {
		b.ledger = &Ledger{Defs: defs}
	}
	return b.ledger, nil
}

// Left counts an attempt that has just ended, and a job that has just ended.
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
		if m, t, counts := EndedJob(j, first.Began); counts {
			sum.adder(j)(m, t)
		}
	}
	return b.change(row.Totals, sum, 1)
}

// Whole adds to totals everything that an existing job has added to the stored ones.
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
		key := string(row.TotalKey(m, j.Whose()))
		if sum[key] == nil {
			sum[key] = new(row.Total)
		}
		sum[key].Add(t, 1)
	}
}

// change adds totals to the rows of a table, a number of times, which may be negative.
func (b *Book) change(table row.Table, sum Totals, times int64) error {
	for _, key := range slices.Sorted(maps.Keys(sum)) {
		t := new(row.Total)
		payload, err := b.Rows.Get(table, []byte(key))
		if err == nil && payload != nil {
			t, err = row.TotalRow.Decode([]byte(key), payload)
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
			err = b.Rows.Put(table, []byte(key), row.TotalRow.Encode(t))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Gone moves the totals of jobs that are being deleted to those of deleted jobs.
func (b *Book) Gone(sum Totals) error {
	if err := b.change(row.Totals, sum, -1); err != nil {
		return err
	}
	return b.change(row.Gone, sum, 1)
}

// Renamed changes a resource. The requests of ended jobs that name it then read differently.
// So their use is kept as totals of deleted jobs, apart from what their rows say.
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

// Kept keeps the former use of an altered job with its former subject.
func (b *Book) Kept(j *row.Job, had Totals) error {
	has := make(Totals)
	if err := b.Whole(j, has); err != nil {
		return err
	}
	return b.Gone(had.less(has))
}

// less subtracts other totals.
func (sum Totals) less(o Totals) Totals {
	for key, t := range o {
		if sum[key] == nil {
			sum[key] = new(row.Total)
		}
		sum[key].Add(t, -1)
	}
	return sum
}
