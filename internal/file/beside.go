package file

import (
	"context"
	"errors"
	"maps"
	"math"

	"github.com/placectl/placectl/internal/row"
	"go.etcd.io/bbolt"
)

// A writer that takes long, or asks other machines before it commits, works beside readers: it
// holds the reservation, which keeps other writers out, and shares the seat. It keeps its
// changes in memory, and sees the file through them. It takes the file for itself only while
// it writes them. SQLite's locks RESERVED and EXCLUSIVE are similar.
//
// Processes that bring a replica up to date with its log need no reservation, and neither do
// older versions. They may change the file between a writer's reads and its writes. Like any
// reader, a writer leaves the file to them, and finds out when it comes back.

// Reserved is a file with no other writer.
type Reserved struct{ file *File }

// Reserve keeps other writers out while fn runs.
func (f *File) Reserve(fn func(*Reserved) error) error { return f.reserve(context.Background(), fn) }

func (f *File) reserve(ctx context.Context, fn func(*Reserved) error) error {
	if f.copied != nil {
		return ErrReadOnly
	}
	lock, err := openLock(f.Path(), true)
	if err != nil {
		return err
	}
	if err := lock.take(ctx, lockReserved, f.opt.LockTimeout); err != nil {
		return err
	}
	defer lock.release() //nolint:errcheck // what was done is done
	lock.sign()
	return fn(&Reserved{f})
}

// Draft holds the changes of a transaction beside readers.
type Draft struct {
	changes *ChangeSet
	of      uint64 // the transaction of the file that it is based on
}

// errOlder means that a file has an older format. Only a transaction that has the file to
// itself migrates it.
var errOlder = errors.New("the file is of an older format")

// never is later than anything.
const never = math.MaxInt64

// Try runs fn beside readers. The draft is nil unless fn returns keep.
func (h *Reserved) Try(fn func(*Recorder) (keep bool, err error)) (d *Draft, err error) {
	f := h.file
	err = f.run(sharing, func(o *opened) error {
		return f.read(o, shortTime, never, func(tx *bbolt.Tx) error {
			r, err := f.begin(o, tx)
			if err != nil {
				return err
			}
			if !f.opt.Replica {
				if err := r.alone(); err != nil {
					return err
				}
				if r.format < Newest {
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

// Write writes a draft to the file, if the file is unchanged since, or if still, which may be
// nil, returns true. done is false if the file has changed. It fails as File.Update does.
func (h *Reserved) Write(d *Draft, still func(*Recorder) (bool, error)) (done bool, err error) {
	f := h.file
	err = f.run(alone, func(o *opened) error {
		return f.update(o, func(r *Recorder) (bool, error) {
			same := uint64(r.bolt.ID()) == d.of+1 // the number is already that of this transaction
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

// besideMost is the number of tries beside readers, in case older versions write, too.
const besideMost = 3

// UpdateBeside is Update beside readers: they wait only while the changes of fn are written.
// It may run fn again.
func (f *File) UpdateBeside(fn func(*Recorder) (keep bool, err error)) error {
	return f.updateBeside(context.Background(), fn)
}

func (f *File) updateBeside(ctx context.Context, fn func(*Recorder) (keep bool, err error)) error {
	if f.opt.Scratch {
		return f.UpdateContext(ctx, false, fn)
	}
	return f.reserve(ctx, func(h *Reserved) error {
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

// alike reports whether a row that a writer beside readers puts or removes is already so, and
// there is nothing to do. It records whether a changed row existed.
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

// Part runs fn. If it fails, what it changed is dropped, and what was changed before stays. has is false, and fn does
// not run, unless the transaction is one beside readers: only that keeps its changes in memory.
func (r *Recorder) Part(fn func() error) (has bool, err error) {
	if !r.beside {
		return false, nil
	}
	before := *r
	before.changes, before.was = r.changes.clone(), maps.Clone(r.was)
	if err = fn(); err != nil {
		*r = before
	}
	return true, err
}

// errSupposes means that only a reader can suppose changes.
var errSupposes = errors.New("a writer changes the file, and supposes nothing")

// Suppose returns a recorder of the same rows whose changes stay in memory and are never
// written. It is only for readers.
func (r *Recorder) Suppose() (*Recorder, error) {
	if r.bolt.Writable() {
		return nil, errSupposes
	}
	return &Recorder{bolt: r.bolt, where: r.where, data: r.data, judged: r.judged, format: r.format, beside: true,
		supposed: true, changed: true, changes: new(ChangeSet)}, nil
}

// Supposed reports whether Suppose made the recorder.
func (r *Recorder) Supposed() bool { return r.supposed }
