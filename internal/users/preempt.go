package users

import (
	"errors"
	"fmt"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/preempt"
)

// EachRule calls fn for the preemption rules in the order of their texts, until fn fails.
func EachRule(rows *file.Recorder, fn func(*preempt.Rule) error) error {
	return rows.Each(row.Preempts, nil, func(key, payload []byte) (bool, error) {
		r, err := row.PreemptRow.Decode(key, payload)
		if err == nil {
			err = fn(r)
		}
		return true, err
	})
}

// Rule finds a rule by its text. It fails with row.ErrNotFound if the rule is not set.
func Rule(rows *file.Recorder, text string) (*preempt.Rule, error) {
	asked, err := preempt.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%w %w", row.ErrInvalid, err)
	}
	payload, err := rows.Get(row.Preempts, []byte(asked.String()))
	if err != nil {
		return nil, err
	}
	if payload == nil {
		var names []string
		err := EachRule(rows, func(r *preempt.Rule) error { names = append(names, r.String()); return nil })
		if err == nil {
			err = fmt.Errorf("no preemption rule %q%s: %w", asked, index.DidYouMean(asked.String(), names),
				row.ErrNotFound)
		}
		return nil, err
	}
	return row.PreemptRow.Decode([]byte(asked.String()), payload)
}

// SetRule creates a rule, or replaces the one with the same text. Times are at most longest
// seconds. It fails with row.ErrInvalid if the rules would form a circle.
func SetRule(rows *file.Recorder, r *preempt.Rule, longest int64) error {
	if r.MinRun < 0 || r.MinRun > longest || r.AtMost < 0 || r.AtMost > maxStops || r.Grace < preempt.OwnGrace ||
		r.Grace > longest {
		return fmt.Errorf("%w: rule %q: times are from 0 to %d s, and a job is stopped at most %d times, or 0 for as "+
			"often as need be",
			row.ErrInvalid, r, longest, maxStops)
	}
	if n := len(r.String()); n > maxRule {
		return fmt.Errorf("%w: a rule of %d bytes; at most %d are kept", row.ErrInvalid, n, maxRule)
	}
	if said, err := preempt.Parse(r.String()); err != nil {
		return fmt.Errorf("%w %w", row.ErrInvalid, err)
	} else if said.String() != r.String() {
		return fmt.Errorf("%w: rule %q is written %q", row.ErrInvalid, r, said)
	}
	rules := []*preempt.Rule{r}
	err := EachRule(rows, func(old *preempt.Rule) error {
		if old.String() != r.String() {
			rules = append(rules, old)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := preempt.NewRanks(rules); err != nil {
		return fmt.Errorf("%w %w", row.ErrInvalid, err)
	}
	return rows.Put(row.Preempts, []byte(r.String()), row.PreemptRow.Encode(r))
}

// maxStops is the maximum of a rule's number of stops.
const maxStops = 1000

// maxRule is the longest text of a rule, in bytes. The text is the key of its row.
const maxRule = 4096

// Ranks returns all rules combined, or nil if there are none.
func Ranks(rows *file.Recorder) (*preempt.Ranks, error) {
	var rules []*preempt.Rule
	if err := EachRule(rows, func(r *preempt.Rule) error { rules = append(rules, r); return nil }); err != nil ||
		rules == nil {
		return nil, err
	}
	ranks, err := preempt.NewRanks(rules)
	if errors.Is(err, preempt.ErrRule) {
		err = fmt.Errorf("%w: %v", row.ErrDamaged, err)
	}
	return ranks, err
}
