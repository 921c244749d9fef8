// Package answers keeps a file's answers for idempotency keys. It keeps each until its time is
// over and the jobs that were made with the key have ended. It does not know what an answer
// means.
package answers

import (
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/state"
)

// Answers are the answers of a file, at an instant.
type Answers struct {
	Rows  *file.Recorder
	Table *state.Table[row.Answer]
	Now   int64 // Unix seconds
}

// Find returns the answer of a key, or nil if there is none or it has expired.
func (x Answers) Find(key string) (*row.Answer, error) {
	payload, err := x.Rows.Get(row.Answers, []byte(key))
	if payload == nil || err != nil {
		return nil, err
	}
	a, err := row.AnswerRow.Decode([]byte(key), payload)
	if err != nil || a.Until > x.Now {
		return a, err
	}
	if live, err := x.anyLive(a.First, a.Jobs); live || err != nil {
		return a, err
	}
	return nil, x.Remove(a)
}

// anyLive reports whether one of several jobs with consecutive numbers has not ended.
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

// Put stores an answer for the time that it names.
func (x Answers) Put(a *row.Answer) error { return x.Table.Put(a) }

// Remove deletes an answer.
func (x Answers) Remove(a *row.Answer) error { return x.Table.Remove([]byte(a.Key)) }

// forgetAtOnce is how many old answers each new one examines: more than one, so that their number
// falls.
const forgetAtOnce = 8

// Forget removes some expired answers. It keeps those whose jobs have not ended for another
// keep seconds.
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
		a, err := row.AnswerRow.Decode(key, payload)
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
