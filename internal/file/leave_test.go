package file

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/row"
	"go.etcd.io/bbolt"
)

// stamp gives every row of a table the same value, a different one each time.
func stamp(t *testing.T, f *File, rows int, says uint64) {
	t.Helper()
	err := f.Update(func(r *Recorder) (bool, error) {
		for i := range rows {
			value := make([]byte, 100)
			binary.BigEndian.PutUint64(value, says)
			if err := r.Put(row.Jobs, row.Key64(uint64(i)), value); err != nil {
				return false, err
			}
		}
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sameStamp fails unless all rows of a table have the same value.
func sameStamp(r *Recorder, rows int) error {
	says, count := uint64(0), 0
	err := r.Each(row.Jobs, nil, func(_, value []byte) (bool, error) {
		if count++; count == 1 {
			says = binary.BigEndian.Uint64(value)
		}
		if got := binary.BigEndian.Uint64(value); got != says {
			return false, fmt.Errorf("row %d says %d, those before it %d", count, got, says)
		}
		return true, nil
	})
	if err == nil && count != rows {
		err = fmt.Errorf("%d rows", count)
	}
	return err
}

// A long read makes writers wait for a short time only. It sees the same rows however often
// the pages that it reads are overwritten meanwhile.
func TestLongRead(t *testing.T) {
	const rows = 20_000
	f := newFile(t)
	stamp(t, f, rows, 1)
	err := f.View(func(r *Recorder) error {
		began := time.Now()
		for i := range 6 {
			stamp(t, f, rows, uint64(i+2))
			if err := sameStamp(r, rows); err != nil {
				return err
			}
		}
		if took := time.Since(began); took > 5*time.Second {
			return fmt.Errorf("writers waited: %v", took)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Readers continue to read while their file is replaced by another, all the time.
func TestLongReads(t *testing.T) {
	const rows = 3000
	f := newFile(t)
	stamp(t, f, rows, 1)
	defer readAlways(t, f, 4, time.Millisecond, func(r *Recorder) error {
		until := time.Now().Add(shortTime + 30*time.Millisecond)
		for time.Now().Before(until) {
			if err := sameStamp(r, rows); err != nil {
				return err
			}
		}
		return nil
	})()
	until := time.Now().Add(2 * time.Second)
	for i := uint64(2); time.Now().Before(until); i++ {
		stamp(t, f, rows, i)
	}
}

// readAlways runs readers that read repeatedly, with pauses up to a limit, until the returned
// function is called.
func readAlways(t *testing.T, f *File, readers int, pause time.Duration, read func(*Recorder) error) (end func()) {
	var over atomic.Bool
	var all sync.WaitGroup
	for range readers {
		all.Go(func() {
			for !over.Load() {
				if err := f.View(read); err != nil {
					t.Error(err)
				}
				time.Sleep(rand.N(pause))
			}
		})
	}
	return func() { over.Store(true); all.Wait() }
}

// Readers whose copies take long, one after the other, do not block a writer: they wait behind
// it.
func TestWriterBesideSlowCopies(t *testing.T) {
	f := newFile(t)
	stamp(t, f, 100, 1)
	f.opt.LockTimeout = 3 * time.Second
	listen(t, func(op Operation) error {
		if op.Kind == "copy" {
			time.Sleep(3 * doorTime)
		}
		return nil
	})
	defer readAlways(t, f, 6, 2*doorTime, func(*Recorder) error {
		time.Sleep(shortTime + doorTime)
		return nil
	})()
	for range 3 {
		time.Sleep(4 * doorTime) // by then the readers come at different times
		began := time.Now()
		if err := change(f); err != nil {
			t.Fatal(err)
		}
		t.Logf("the writer waited for %v", time.Since(began))
	}
}

// If there is no room for a copy, the reader keeps the lock, and says so.
func TestNoRoomForCopy(t *testing.T) {
	f := newFile(t)
	stamp(t, f, 100, 1)
	said := ""
	f.opt.Detail = func(text string) { said += text }
	f.opt.LockTimeout = 20 * time.Millisecond
	listen(t, func(op Operation) error {
		if op.Kind == "copy" {
			return syscall.ENOSPC
		}
		return nil
	})
	err := f.View(func(r *Recorder) error {
		time.Sleep(shortTime + 50*time.Millisecond)
		if err := change(f); err == nil {
			t.Error("the lock was given back")
		}
		return sameStamp(r, 100)
	})
	if err != nil || said == "" {
		t.Errorf("%v, said %q", err, said)
	}
	if _, err := f.Copy(); err == nil {
		t.Error("copied")
	}
}

func TestCopy(t *testing.T) {
	f := newFile(t)
	stamp(t, f, 100, 1)
	copied, err := f.Copy()
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	stamp(t, f, 200, 2)
	for range 2 {
		if err := copied.View(func(r *Recorder) error { return sameStamp(r, 100) }); err != nil {
			t.Error(err)
		}
	}
	if err := change(copied); err == nil {
		t.Error("a copy was written")
	}
}

// A check finds nothing in a sound file to which others write meanwhile. It reads the pages of
// its snapshot, not those that later commits have put in their places.
func TestPagesOfSnapshot(t *testing.T) {
	f := newFile(t)
	stamp(t, f, 3000, 1)
	err := f.run(sharing, func(o *opened) error {
		return f.readPages(o, func(tx *bbolt.Tx, pages *os.File) error {
			for i := range uint64(6) {
				stamp(t, f, 3000, i+2)
			}
			if newest, err := newestMeta(pages); err != nil || newest.transaction != uint64(tx.ID()) {
				t.Errorf("the pages are of transaction %d (%v), the snapshot of %d", newest.transaction, err, tx.ID())
			}
			sound, err := checkPages(pages, func(format string, args ...any) { t.Errorf(format, args...) })
			if !sound {
				t.Error("the pages are not sound")
			}
			return err
		})
	})
	if err != nil {
		t.Error(err)
	}
}
