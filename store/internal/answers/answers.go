// Package answers is the answers that a file keeps for idempotency keys: each until its
// time is over and the jobs that were made with the key have ended. It sees rows, and
// knows nothing of what an answer says.
package answers

import (
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/state"
)

// Answers are those of a file, at an instant.
type Answers struct {
	Rows  *file.Recorder
	Table *state.Table[row.Answer]
	Now   int64 // Unix seconds
}

// Find is the answer that is kept for a key, nil when there is none any more.
func (x Answers) Find(key string) (*row.Answer, error) {
	payload, err := x.Rows.Get(row.Answers, []byte(key))
	if payload == nil || err != nil {
		return nil, err
	}
	a, err := row.DecodeAnswerText([]byte(key), payload)
	if err != nil || a.Until > x.Now {
		return a, err
	}
	if live, err := x.anyLive(a.First, a.Jobs); live || err != nil {
		return a, err
	}
	return nil, x.Remove(a)
}

// anyLive reports whether one of some jobs with numbers in a row has not ended yet.
func (x Answers) anyLive(first, jobs uint64) (bool, error) {
	if jobs == 0 {
		return false, nil
	}
	c := x.Rows.Range(row.Jobs, row.Key64(first), row.Key64(first+jobs-1))
	for c.Next() {
		j, err := row.DecodeJob(c.Key, c.Payload)
		if err != nil || j.State.Live() {
			return true, err
		}
	}
	return false, c.Err
}

// Put keeps an answer for as long as it says.
func (x Answers) Put(a *row.Answer) error { return x.Table.Put(a) }

// Remove forgets an answer.
func (x Answers) Remove(a *row.Answer) error { return x.Table.Remove([]byte(a.Key)) }

// forgetAtOnce is how many old answers each new one examines: more than one, so that their number
// falls.
const forgetAtOnce = 8

// Forget removes some answers whose time is over. Those whose jobs go on are looked at
// again when they would be due had they been given now, to be kept so many seconds.
func (x Answers) Forget(keep int64) error {
	var due []*row.Answer
	err := x.Rows.Each(row.AnswerDues, nil, func(k, _ []byte) (bool, error) {
		until, key := row.SplitAnswerDueKey(k)
		if until > x.Now || len(due) == forgetAtOnce {
			return false, nil
		}
		payload, err := x.Rows.Get(row.Answers, key)
		if err != nil {
			return false, err
		}
		a, err := row.DecodeAnswerText(key, payload)
		due = append(due, a)
		return true, err
	})
	if err != nil {
		return err
	}
	for _, a := range due {
		live, err := x.anyLive(a.First, a.Jobs)
		if err != nil {
			return err
		}
		if err := x.Remove(a); err != nil || !live {
			if err != nil {
				return err
			}
			continue
		}
		a.Until = x.Now + max(keep, 3600)
		if err := x.Put(a); err != nil {
			return err
		}
	}
	return nil
}
