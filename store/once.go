package store

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/placectl/placectl/store/internal/answers"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// Once makes a change happen once, however often it is requested: it binds the change to an
// idempotency key. If the outcome of an Update is unknown, because its commit failed on its way to
// disk, or the process died, repeat it with the same key and the same request.
//
// The answer is kept for the time of the setting keep_keys, and until the jobs that the change made
// have ended.
type Once struct {
	Key     string // 1 to MaxKey bytes
	Request []byte // everything the change depends on; another request with the key fails with ErrKey
	// Answer is the function's answer. The first call sets it; later calls with the key find it
	// here.
	Answer []byte
	// Repeated says that the function has not been run: the change had been made before.
	Repeated bool
	// Refused is set by a function whose answer is not to be kept, although the
	// transaction is: asked again, it is run again.
	Refused bool
}

// Valid fails with ErrInvalid when the key is empty or too long.
func (o *Once) Valid() error {
	if o.Key == "" || len(o.Key) > MaxKey {
		return fmt.Errorf("%w key: it has %d bytes, and must have from 1 to %d", ErrInvalid, len(o.Key), MaxKey)
	}
	return nil
}

// MaxKey is how many bytes an idempotency key may have.
const MaxKey = 1000

// ErrKey says that an idempotency key belongs to another request. It is an ErrConflict, too.
var ErrKey = fmt.Errorf("the key belongs to another request%w", file.Wordless(ErrConflict))

// UsedKey is an ErrKey about a key that was used before files kept answers: which jobs
// it made is known, and neither their request nor the answer.
type UsedKey struct {
	Key   string
	First uint64 // the number of the first job that it made
	Jobs  int    // how many there are; their numbers follow each other
}

func (u *UsedKey) Error() string {
	return fmt.Sprintf("key %q was used before the file kept answers: it made job %d", u.Key, u.First)
}

// Unwrap makes errors.Is see ErrKey.
func (u *UsedKey) Unwrap() error { return ErrKey }

// Once runs fn, unless it has been run with the key before: then its answer of that time
// is put into o. It fails with ErrKey when that was for another request, and with
// ErrInvalid when the key is empty or too long. Where fn fails nothing is kept of the key.
func (tx *Tx) Once(o *Once, fn func() error) error {
	if !tx.Writable() {
		return ErrReadOnly
	}
	if err := o.Valid(); err != nil {
		return err
	}
	o.Repeated, o.Refused = false, false
	request := sha256.Sum256(o.Request)
	first, err := tx.answers().Find(o.Key)
	switch {
	case err != nil:
		return err
	case first == nil:
		return tx.onceFirst(o, request, fn)
	case first.Request == [32]byte{}:
		return &UsedKey{Key: o.Key, First: first.First, Jobs: int(first.Jobs)}
	case first.Request != request:
		return fmt.Errorf("%w: %q was given with it at %s", ErrKey, o.Key, stamp(first.At))
	}
	o.Answer, o.Repeated = first.Text, true
	return nil
}

// onceFirst runs fn and keeps its answer.
func (tx *Tx) onceFirst(o *Once, request [32]byte, fn func() error) error {
	outer, next := tx.key, tx.state.NextJob
	tx.key = o.Key
	err := fn()
	tx.key = outer
	if err != nil || o.Refused {
		return err
	}
	return tx.spoil(tx.keepAnswer(&row.Answer{Key: o.Key, Request: request, At: tx.now, First: next, Jobs: tx.state.NextJob - next, Text: o.Answer}))
}

// keepAnswer keeps an answer, and forgets some that are due.
func (tx *Tx) keepAnswer(a *row.Answer) error {
	if there, err := tx.file.Get(row.Answers, []byte(a.Key)); err != nil || there != nil {
		return cmp.Or(err, fmt.Errorf("%w: %q is given twice in one transaction", ErrKey, a.Key))
	}
	set, err := tx.settings()
	if err != nil {
		return err
	}
	keep := int64(set.KeepKeys / time.Second)
	if err := tx.answers().Forget(keep); err != nil {
		return err
	}
	a.Until = tx.now + keep
	return tx.answers().Put(a)
}

// answers are the answers that the file keeps.
func (tx *Tx) answers() answers.Answers {
	return answers.Answers{Rows: tx.file, Table: tx.loaded.answers, Now: tx.now}
}

// Amend changes the stored answer of a key, if there is one: what follows a commit, such as
// launching, may add to it.
func (tx *Tx) Amend(key string, answer []byte) error {
	if !tx.Writable() {
		return ErrReadOnly
	}
	a, err := tx.answers().Find(key)
	if a == nil || err != nil {
		return err
	}
	a.Text = answer
	return tx.spoil(tx.answers().Put(a))
}

// adoptKeys makes answers of the keys of older formats, which led to a job and had none.
func adoptKeys(tx *Tx) error {
	err := tx.file.Each(row.Keys, nil, func(key, payload []byte) (bool, error) {
		id, ok := row.DecodeNumber64(payload)
		if !ok {
			return false, fmt.Errorf("%w: key %q leads nowhere", ErrDamaged, key)
		}
		j, err := tx.job(id)
		if err != nil {
			return false, err
		}
		a := &row.Answer{Key: string(key), At: j.Submit, Until: tx.now + int64(defaultKeepKeys/time.Second), First: id, Jobs: 1}
		if j.Array != 0 {
			list, err := tx.arrayJobs(j.Array)
			if err != nil {
				return false, err
			}
			a.Jobs = uint64(len(list))
		}
		return true, tx.answers().Put(a)
	})
	if err != nil {
		return err
	}
	return tx.file.Clear(row.Keys)
}
