package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// A commit that failed, or was cut off, may have written its meta page without syncing it.
// Then the next process to open the file finds a state in memory that is not on disk. It must
// neither answer from it nor build on it. So a writer marks the lock file before it commits,
// and removes the mark once the commit is on disk, before it answers. A process that opens a
// file with a marked lock writes the newest valid meta page again, because a failed sync
// counts pages as written, and syncs it. The pages that the meta page leads to are on disk,
// because bbolt syncs them before it writes that page.
//
// The mark is the first line of the lock file, and is not synced: after a power loss, memory
// holds nothing that is not on disk. A lock file without the line that says that all is well
// counts as marked. So does one that had to be made, because the mark may have been lost with
// the former one.
const markLine = 32 // bytes, with the line break

// These are on disk and must not change.
var (
	unmarked  = fmt.Appendf(nil, "%-*s\n", markLine-1, "no commit is under way")
	markWords = "committing %d"
)

// mark records that a transaction is being committed.
func (l *fileLock) mark(transaction uint64) error {
	return l.writeAt(fmt.Appendf(nil, "%-*s\n", markLine-1, fmt.Sprintf(markWords, transaction)), 0)
}

// unmark records that the commit is on disk.
func (l *fileLock) unmark() error { return l.writeAt(unmarked, 0) }

func (l *fileLock) writeAt(b []byte, at int64) error {
	if err := writeAt(l.f, b, at); err != nil {
		return fmt.Errorf("lock file: %w", err)
	}
	return nil
}

// marked reports whether the newest state of the file may not be on disk.
func (l *fileLock) marked() (bool, error) {
	if l.f == nil {
		return false, nil
	}
	var line [markLine]byte
	if err := readAt(l.f, line[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("lock file: %w", err)
	}
	return !bytes.Equal(line[:], unmarked), nil
}

// mended returns the lock of a file whose state is on disk. If it may not be, it is written there first.
func (l *fileLock) mended(db string, want lockMode, timeout time.Duration) (lock *fileLock, err error) {
	lock = l
	marked, err := lock.marked()
	if err == nil && marked {
		lock, err = lock.mend(db, want, timeout)
	}
	if err != nil {
		lock.release() //nolint:errcheck // the other error says more
		return nil, err
	}
	return lock, nil
}

// mend takes the lock exclusively, checks again, and mends the file. It then holds the lock in
// the mode want.
func (l *fileLock) mend(db string, want lockMode, timeout time.Duration) (lock *fileLock, err error) {
	if l.readOnly {
		return l, unmended(db, fmt.Errorf("%s: %w", l.path, fs.ErrPermission))
	}
	if want == sharing {
		l.release() //nolint:errcheck // it is taken again
		if l, err = acquire(context.Background(), db, alone, timeout); err != nil {
			return nil, err
		}
	}
	if marked, err := l.marked(); err != nil {
		return l, err
	} else if marked {
		if err := mendFile(db); err != nil {
			return l, err
		}
		// If the mark stays, the next process mends again. A reader may continue, and a writer
		// fails when it sets its own mark.
		_ = l.unmark()
	}
	if want == sharing {
		err = tryByte(l.f, forReading, lockSeat)
	}
	return l, err
}

func unmended(db string, err error) error {
	return fmt.Errorf("the last commit to %s was cut off and may not be on disk; writing it there failed: %w", db, err)
}

// mendFile writes the newest state of a file to disk. The caller has the only lock.
func mendFile(db string) error {
	if _, err := preflight(db); err != nil {
		return err
	}
	f, err := openData(db, true)
	if err != nil {
		return unmended(db, err)
	}
	defer f.Close()
	if err := flockWithin(f, forWriting, openTimeout); err != nil {
		return unmended(db, err)
	}
	m, err := newestMeta(f)
	if err != nil {
		return err
	}
	if err := m.sync(f); err != nil {
		return unmended(db, err)
	}
	return nil
}

// flockWithin takes bbolt's lock, for programs other than placectl, and for processes whose
// lock file was deleted.
func flockWithin(f *os.File, how lockHow, timeout time.Duration) error {
	until := time.Now().Add(timeout)
	for {
		err := calls.Do(Operation{Kind: "lock", Path: f.Name()}, func() error { return lockWhole(f, how) })
		if !isLocked(err) {
			return err
		}
		if time.Now().After(until) {
			return fmt.Errorf("%w%s", ErrLocked, holders(f.Name()))
		}
		time.Sleep(time.Millisecond)
	}
}

// newestMeta returns the meta page that counts.
func newestMeta(f *os.File) (newest metaPage, err error) {
	found, err := validMetas(f)
	if err != nil {
		return newest, err
	}
	if len(found) == 0 {
		return newest, noMeta(f)
	}
	return found.newest(), nil
}

// sync writes the page where it is, and syncs the file.
func (m *metaPage) sync(f *os.File) error {
	page := make([]byte, m.pageSize)
	if err := readAt(f, page, m.at); err != nil {
		return err
	}
	if err := writeAt(f, page, m.at); err != nil {
		return err
	}
	return calls.Do(Operation{Kind: "sync", Path: f.Name()}, func() error { return syncData(f) })
}
