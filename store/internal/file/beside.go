package file

import (
	"errors"
	"math"

	"github.com/placectl/placectl/store/internal/row"
	"go.etcd.io/bbolt"
)

// A writer who takes long, or asks others before it commits, reads beside readers: it has
// the reservation, which keeps other writers out, and shares the seat. What it changes it
// keeps in memory, and sees the file through that; it has the file to itself only while it
// writes that down. SQLite's locks RESERVED and EXCLUSIVE are of the kind.
//
// Who brings a replica to where its log is needs no reservation, and neither do older
// versions: they may change the file between what a writer has read and what it writes
// down. A writer like any reader leaves the file to them, and finds out when it comes back.

// Reserved is a file that no other writer writes.
type Reserved struct{ file *File }

// Reserve keeps other writers out for as long as fn takes.
func (f *File) Reserve(fn func(*Reserved) error) error {
	if f.copied != nil {
		return ErrReadOnly
	}
	lock, err := openLock(f.path, true)
	if err != nil {
		return err
	}
	if err := lock.reserve(f.opt.LockTimeout); err != nil {
		return err
	}
	defer lock.release() //nolint:errcheck // what was done is done
	lock.sign()
	return fn(&Reserved{f})
}

// Draft is what a transaction beside readers has changed.
type Draft struct {
	changes *ChangeSet
	of      uint64 // the transaction that the file stood at
}

// errOlder says that a file is of an older format: only a transaction that has it alone migrates
// it.
var errOlder = errors.New("the file is of an older format")

// never is later than anything.
const never = math.MaxInt64

// Try runs fn beside readers. The draft is nil unless fn says to keep what it has changed.
func (h *Reserved) Try(fn func(*Recorder) (keep bool, err error)) (d *Draft, err error) {
	f := h.file
	err = f.run(sharing, func(o *opened) error {
		return f.read(o, shortTime, never, func(tx *bbolt.Tx) error {
			r, err := f.begin(tx)
			if err != nil {
				return err
			}
			if !f.opt.Replica {
				if err := r.alone(); err != nil {
					return err
				}
				if r.format < row.Format {
					return errOlder
				}
			}
			r.beside, r.changes = true, new(ChangeSet)
			if keep, err := fn(r); err != nil || !keep {
				return err
			}
			d = &Draft{r.changes, uint64(tx.ID())}
			return nil
		})
	})
	return d, err
}

// Write writes a draft down, if the file is still what it was made of, or else if still
// says so, which may be nil; it is false if the file is another. It fails as
// File.Update does.
func (h *Reserved) Write(d *Draft, still func(*Recorder) (bool, error)) (done bool, err error) {
	f := h.file
	err = f.run(alone, func(o *opened) error {
		return f.update(o, func(r *Recorder) (bool, error) {
			same := uint64(r.bolt.ID()) == d.of+1 // the number is this transaction's already
			if !same && still != nil {
				if same, err = still(r); err != nil {
					return false, err
				}
			}
			if !same {
				return false, nil
			}
			done = true
			return true, d.changes.into(r)
		})
	})
	return done && err == nil, err
}

// into makes the changes through another recorder.
func (s *ChangeSet) into(r *Recorder) (err error) {
	for t := range row.TableCount {
		if s.Cleared(t) {
			if err := r.Clear(t); err != nil {
				return err
			}
		}
		s.Each(t, func(key, value []byte) {
			switch {
			case err != nil:
			case value == nil:
				err = r.Remove(t, key)
			default:
				err = r.put(t, key, value)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// besideMost is how often a writer tries beside readers, where older versions write, too.
const besideMost = 3

// UpdateBeside is Update beside readers: they wait only while what fn has changed is
// written down. fn has to bear to be run again.
func (f *File) UpdateBeside(fn func(*Recorder) (keep bool, err error)) error {
	if f.opt.Private {
		return f.Update(fn)
	}
	return f.Reserve(func(h *Reserved) error {
		for range besideMost {
			d, err := h.Try(fn)
			if errors.Is(err, errOlder) {
				break
			}
			if err != nil || d == nil {
				return err
			}
			if done, err := h.Write(d, nil); done || err != nil {
				return err
			}
		}
		return h.Alone(fn)
	})
}

// Alone is File.Update for a process that has the reservation.
func (h *Reserved) Alone(fn func(*Recorder) (keep bool, err error)) error {
	return h.file.Follow(fn)
}

// alike reports whether a row already is as a writer beside readers puts it, or is already removed:
// then there is nothing to do. It records whether a changed row was there.
func (r *Recorder) alike(t row.Table, key, value []byte) bool {
	if !r.beside || r.supposed {
		return false
	}
	old, err := r.get(t, key)
	switch {
	case err != nil || !row.Counted(t, key):
		r.changed = true
	case (old == nil) == (value == nil) && string(old) == string(value):
		return true
	default:
		r.differs(t, key, old, value)
	}
	return false
}
