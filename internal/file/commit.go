package file

import "fmt"

// commit makes a transaction durable. Its result is exact: nil means that it is on disk,
// ErrUnknown that the outcome is unknown, and any other error that nothing was changed.
func (f *File) commit(o *opened, r *Recorder) error {
	if !f.opt.Scratch && !f.opt.Replica {
		if err := r.keepPath(); err != nil {
			return err
		}
	}
	if err := r.writeSums(); err != nil {
		return err
	}
	o.last = seen{}
	if o.bolt.NoSync {
		err := r.bolt.Commit()
		o.spent = err != nil
		return err
	}
	transaction := uint64(r.bolt.ID())
	if err := o.lock.mark(transaction); err != nil {
		return notChanged(err)
	}
	if err := r.bolt.Commit(); err != nil {
		o.spent = true
		if err = o.settle(transaction, err); err != nil {
			return err
		}
	}
	// A mark that stays does no harm: the next process to open the file syncs it again.
	if err := o.lock.unmark(); err != nil {
		f.warn(fmt.Sprintf("%s: %v", f.Path(), err))
	}
	if err := o.sameFile(); err != nil {
		return fmt.Errorf("%w: %s was removed or replaced while it was written, and the change went with it: %v",
			ErrUnknown, f.Path(), err)
	}
	f.last.Store(transaction)
	if f.Committed != nil {
		f.Committed(r.changes)
	}
	return nil
}

func notChanged(err error) error { return fmt.Errorf("nothing was changed: %w", err) }

// settle finds the outcome of a failed commit from the file. Without a valid meta page of the
// transaction, nothing was changed. With one, the change may only be missing on disk: settle
// writes and syncs that page again.
func (o *opened) settle(transaction uint64, cause error) error {
	newest, err := newestMeta(o.data)
	if err != nil {
		return unknown(cause, fmt.Errorf("then the file could not be read: %w", err))
	}
	if newest.transaction != transaction {
		_ = o.lock.unmark()
		return notChanged(cause)
	}
	if err := newest.sync(o.data); err != nil {
		return unknown(cause, fmt.Errorf("and again when it was tried once more: %w", err))
	}
	return nil
}

func unknown(cause, then error) error {
	return fmt.Errorf("%w: the commit failed: %v; %v; check whether it was done before you try again", ErrUnknown,
		cause, then)
}
