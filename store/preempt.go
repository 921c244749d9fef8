package store

import (
	"errors"
	"fmt"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/store/internal/row"
)

// Preemption is the rules in a transaction by which jobs make way for others. Cycles carry
// them out: see Tx.Cycle.
type Preemption struct{ tx *Tx }

// Preemption is the rules about whose jobs make way for whose.
func (tx *Tx) Preemption() Preemption { return Preemption{tx} }

// Each goes through the rules in the order of their texts, until fn fails.
func (ps Preemption) Each(fn func(*preempt.Rule) error) error {
	return ps.tx.file.Each(row.Preempts, nil, func(key, payload []byte) (bool, error) {
		r, err := row.DecodePreempt(key, payload)
		if err == nil {
			err = fn(r)
		}
		return true, err
	})
}

// Get finds a rule by its text, ErrNotFound where nobody has set it.
func (ps Preemption) Get(text string) (*preempt.Rule, error) {
	asked, err := preempt.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%w %w", ErrInvalid, err)
	}
	payload, err := ps.tx.file.Get(row.Preempts, []byte(asked.String()))
	if err != nil {
		return nil, err
	}
	if payload == nil {
		var names []string
		err := ps.Each(func(r *preempt.Rule) error { names = append(names, r.String()); return nil })
		if err == nil {
			err = fmt.Errorf("no preemption rule %q%s: %w", asked, index.DidYouMean(asked.String(), names), ErrNotFound)
		}
		return nil, err
	}
	return row.DecodePreempt([]byte(asked.String()), payload)
}

// Set makes a rule, or replaces the one of the same text. It fails with ErrInvalid where
// the rules would lead in a circle.
func (ps Preemption) Set(r *preempt.Rule) error {
	if !ps.tx.Writable() {
		return ErrReadOnly
	}
	if r.MinRun < 0 || r.MinRun > maxWalltime || r.AtMost < 0 || r.AtMost > maxStops || r.Grace < preempt.OwnGrace || r.Grace > maxWalltime {
		return fmt.Errorf("%w: rule %q: times are from 0 to %d s, and a job is stopped at most %d times, or 0 for as often as need be",
			ErrInvalid, r, maxWalltime, maxStops)
	}
	rules := []*preempt.Rule{r}
	err := ps.Each(func(old *preempt.Rule) error {
		if old.String() != r.String() {
			rules = append(rules, old)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := preempt.NewRanks(rules); err != nil {
		return fmt.Errorf("%w %w", ErrInvalid, err)
	}
	return ps.tx.file.Put(row.Preempts, []byte(r.String()), row.EncodePreempt(r))
}

// maxStops bounds how often a job may be said to make way.
const maxStops = 1000

// Remove forgets a rule. It fails with ErrNotFound where there is none.
func (ps Preemption) Remove(text string) error {
	if !ps.tx.Writable() {
		return ErrReadOnly
	}
	r, err := ps.Get(text)
	if err != nil {
		return err
	}
	return ps.tx.file.Remove(row.Preempts, []byte(r.String()))
}

// ranks are the rules together, nil where there are none.
func (ps Preemption) ranks() (*preempt.Ranks, error) {
	var rules []*preempt.Rule
	if err := ps.Each(func(r *preempt.Rule) error { rules = append(rules, r); return nil }); err != nil || rules == nil {
		return nil, err
	}
	ranks, err := preempt.NewRanks(rules)
	if errors.Is(err, preempt.ErrRule) {
		err = fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	return ranks, err
}
