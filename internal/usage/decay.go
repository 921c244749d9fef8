package usage

import (
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/subject"
)

// Decay is the accounting of use in which older use counts less. It is active if the setting
// half_life is set, or job_priority refers to it. A start raises a rate, an end lowers it, and
// nothing is done in between.
type Decay struct {
	Kept     bool
	HalfLife int64  // seconds
	Unit     string // the counted unit: the setting share_unit
}

// Turn changes what a subject holds from an instant on: times is 1 for a start, -1 for an end.
func (b *Book) Turn(j *row.Job, nodes int, at, times int64) error {
	set, err := b.Decay()
	if err != nil || !set.Kept {
		return err
	}
	l, err := b.Ledger()
	if err != nil {
		return err
	}
	key := row.DecayedKey(j.Whose())
	x := new(row.Decayed)
	payload, err := b.Rows.Get(row.Decays, key)
	if err == nil && payload != nil {
		x, err = row.DecayedRow.Decode(key, payload)
	}
	if err != nil {
		return err
	}
	for _, h := range l.Held(j, nodes) {
		x.Turn(h.Name, times*h.Num, h.One, at, set.HalfLife)
	}
	return b.Rows.Put(row.Decays, key, row.DecayedRow.Encode(x))
}

// EachDecayed calls fn with the decayed use of each subject at an instant, in the configured
// unit.
func (b *Book) EachDecayed(at int64, fn func(who subject.Names, use float64) error) error {
	set, err := b.Decay()
	if err != nil {
		return err
	}
	return b.Rows.Each(row.Decays, nil, func(key, payload []byte) (bool, error) {
		who, err := row.SplitDecayedKey(key)
		if err != nil {
			return false, err
		}
		x, err := row.DecayedRow.Decode(key, payload)
		if err != nil {
			return false, err
		}
		x.Move(at, set.HalfLife)
		return true, fn(who, x.Of(set.Unit))
	})
}

// DecayAnew recomputes decaying use from the existing attempts, if it is kept, because the
// half-life has changed or it was not kept before. Archived use no longer counts.
func (b *Book) DecayAnew() error {
	set, err := b.Decay()
	if err != nil {
		return err
	}
	if err := b.Rows.Clear(row.Decays); err != nil || !set.Kept {
		return err
	}
	return b.EachJob(func(j *row.Job) error {
		for number := 1; number <= j.CurrentAttempt(); number++ {
			a, err := b.Attempts.Of(j, number)
			nodes := 0
			if err == nil {
				nodes = len(a.AllNodes())
			}
			if err != nil || nodes == 0 || a.Began <= 0 {
				return err
			}
			if err := b.Turn(j, nodes, a.Began, 1); err != nil {
				return err
			}
			if number == j.CurrentAttempt() && j.State == row.JobRunning {
				continue
			}
			if err := b.Turn(j, nodes, a.Ended, -1); err != nil {
				return err
			}
		}
		return nil
	})
}
