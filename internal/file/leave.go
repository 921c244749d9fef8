package file

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
)

// A long read releases the file while it runs, so that writers need not wait. It does so after
// a short time if a process holds the door, and in any case a little later, because its own
// process may be stopped after that. Still under its lock, a goroutine copies the file and
// maps the copy in place of the file, at the same addresses. The bytes are the same, so the
// transaction continues undisturbed. Then the locks are released.
//
// The kernel replaces one mapping by another in one step: a read of a page waits for it meanwhile
// (mmap(2), MAP_FIXED).

// A read may keep writers waiting for shortTime, plus the time for the copy. It has left by
// longTime, whether or not any process waits.
const (
	shortTime = 50 * time.Millisecond
	longTime  = 250 * time.Millisecond
	lookEvery = 5 * time.Millisecond
)

// departure is a reader that leaves the file after a time.
type departure struct {
	file  *File
	from  *opened
	at    uintptr // where the file is mapped
	size  int64   // of the part that the transaction may read
	timer *time.Timer
	over  atomic.Bool   // the read is over, so there is nothing left to release
	ended chan struct{} // closed when the read is over
	done  chan struct{} // closed when it has left, or could not
	// copied is the copy with which it continues. It is nil until done is closed, and if it
	// could not leave.
	copied *os.File
}

// leave makes a reader release the file after a time, or after latest if no one waits. End the
// departure with the transaction.
func (f *File) leave(o *opened, tx *bbolt.Tx, after, latest time.Duration) *departure {
	d := &departure{file: f, from: o, at: o.bolt.Info().Data, size: tx.Size(), ended: make(chan struct{}),
		done: make(chan struct{})}
	d.timer = time.AfterFunc(after, func() {
		defer close(d.done)
		if !d.called(latest - after) {
			return
		}
		if err := d.leave(); err != nil && !d.over.Load() {
			f.detail(fmt.Sprintf("%s: writers wait until this read is over: it could not go on with a copy: %v",
				f.Path(), err))
		}
	})
	return d
}

// called waits, for at most a time, until a process waits for the file. It returns false if
// the read ends before.
func (d *departure) called(most time.Duration) bool {
	late := time.NewTimer(most)
	defer late.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for !d.from.lock.awaited() {
		select {
		case <-d.ended:
			return false
		case <-late.C:
			return true
		case <-look.C:
		}
	}
	return true
}

func (d *departure) leave() error {
	copied, err := copyFile(d.from.data, d.size, &d.over)
	if err != nil {
		return err
	}
	d.from.left = true
	if err := mapOver(d.at, d.size, copied); err != nil {
		copied.Close()
		return err
	}
	d.copied = copied
	return d.from.unlock()
}

// end ends the departure. After that, the transaction may end.
func (d *departure) end() {
	if !d.timer.Stop() {
		d.over.Store(true)
		close(d.ended)
		<-d.done
	}
	if d.copied != nil {
		d.copied.Close()
	}
}

// mapOver maps the beginning of a file to the address at which another is mapped.
func mapOver(at uintptr, size int64, f *os.File) error {
	page := int64(os.Getpagesize())
	if err := mapFixed(at, (size+page-1)/page*page, f); err != nil {
		return fmt.Errorf("mapping it: %w", err)
	}
	return nil
}
