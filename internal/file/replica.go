package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/placectl/placectl/internal/row"
	"go.etcd.io/bbolt"
)

// A replica is a file whose durable content is elsewhere, in a log. Package replica keeps it
// up to date, with the methods in this file. Commits of a replica are not synced, and their
// changes can be read before they are committed.

// Follow is File.Update without a reservation, for bringing the file up to date with the log.
// It may come between the reads and the writes of a writer beside readers.
func (f *File) Follow(fn func(*Recorder) (keep bool, err error)) error {
	return f.run(alone, func(o *opened) error { return f.update(o, fn) })
}

// Changes returns what the transaction has changed so far, if that is recorded.
func (r *Recorder) Changes() *ChangeSet { return r.changes }

// Unrecorded stops recording what the transaction changes.
func (r *Recorder) Unrecorded() { r.changes = nil }

// Previous lets fn find rows as they are stored, and as they were before the transaction of a
// writer; nil if there was none. They are valid while fn runs.
func (r *Recorder) Previous(fn func(find func(t row.Table, key []byte) []byte) error) error {
	old := r.bolt
	if !r.beside {
		var err error
		if old, err = r.bolt.DB().Begin(false); err != nil {
			return err
		}
		defer old.Rollback() //nolint:errcheck // it only reads
	}
	var tables [row.TableCount]*bbolt.Bucket
	return fn(func(t row.Table, key []byte) []byte {
		if tables[t] == nil {
			if tables[t] = old.Bucket([]byte(t.String())); tables[t] == nil {
				return nil
			}
		}
		return tables[t].Get(key)
	})
}

// Stored returns a row as it is stored, or nil if there is none.
func (r *Recorder) Stored(t row.Table, key []byte) ([]byte, error) { return r.get(t, key) }

// PutStored puts a row as it is stored, or removes it if value is nil. A row that sets the file's
// format takes effect: it makes the tables of that format.
func (r *Recorder) PutStored(t row.Table, key, value []byte) error {
	switch {
	case value == nil:
		return r.Remove(t, key)
	case !isFormat(t, key):
		return r.put(t, key, value)
	}
	format, _ := row.DecodeFormat(value)
	if err := refused(format); err != nil {
		return err
	}
	for from := r.format; from < format; from++ {
		if err := r.introduce(from + 1); err != nil {
			return err
		}
	}
	return r.writeFormat(format)
}

// lower gives a new file an older format.
func (r *Recorder) lower(format uint32) error {
	if err := refused(format); err != nil {
		return err
	}
	for later := format + 1; later <= Newest; later++ {
		for _, t := range Introduced[later] {
			if err := r.drop(t); err != nil {
				return err
			}
		}
	}
	return r.writeFormat(format)
}

// EachStored calls fn for all rows of a table as stored, except those that belong to this file
// only. It verifies each, and at the end that no row is missing.
func (r *Recorder) EachStored(t row.Table, fn func(key, value []byte) error) error {
	b := r.bucket(t)
	if b == nil {
		return nil
	}
	var sum row.Sum
	err := b.ForEach(func(key, value []byte) error {
		if err := whole(t, key, value); err != nil {
			return err
		}
		if row.Counted(t, key) {
			sum.Add(value)
		}
		if row.Local(t, key) {
			return nil
		}
		return fn(key, value)
	})
	if err != nil {
		return err
	}
	want, known, err := r.sumOf(t, nil)
	if err == nil && known && sum != want {
		err = otherRows(t.String(), sum, want)
	}
	return err
}

// Upgrade migrates a replica of an older format. Its changes are recorded, and the caller
// rebuilds what is derived.
func (r *Recorder) Upgrade() error {
	if r.format == Newest {
		return nil
	}
	return r.migrate()
}

// Replica describes the log that the file is a replica of; it is nil if it is none.
func (r *Recorder) Replica() (*row.Replica, error) {
	payload, err := r.Get(row.Meta, row.KeyReplica)
	if payload == nil || err != nil {
		return nil, err
	}
	at := new(row.Replica)
	return at, row.ReplicaRow.Read(at, row.KeyReplica, payload)
}

// PutReplica sets the file's position in the log.
func (r *Recorder) PutReplica(at *row.Replica) error {
	return r.PutOrRemove(row.Meta, row.KeyReplica, row.ReplicaRow.Encode(at))
}

// alone refuses to write to the replica of a log as if it were a file by itself.
func (r *Recorder) alone() error {
	if r.bucket(row.Meta).Get(row.KeyReplica) == nil {
		return nil
	}
	return fmt.Errorf("the file is the replica of a log, and only the log may change it%w", Wordless(row.ErrConflict))
}

// Detach turns a copy that is not in use yet into a file that is neither the replica of a log nor
// the database itself.
func Detach(path string) error {
	f := &File{path: path, opt: Options{Scratch: true, Replica: true}}
	return errors.Join(f.Update(func(r *Recorder) (bool, error) {
		r.Unrecorded()
		meta := r.bucket(row.Meta)
		if meta.Get(row.KeyReplica) == nil && meta.Get(row.KeyItself) == nil {
			return false, nil
		}
		if err := r.Remove(row.Meta, row.KeyReplica); err != nil {
			return true, err
		}
		return true, r.Unsettle()
	}), f.Close())
}

// PutStored writes a row as it is stored.
func (b *Bulk) PutStored(t row.Table, key, value []byte) error {
	if err := b.room(); err != nil {
		return err
	}
	if isFormat(t, key) {
		format, _ := row.DecodeFormat(value)
		return b.r.lower(format)
	}
	return b.r.put(t, key, value)
}

// Join makes a replica, and replaces the existing one, if any, which is locked until the new
// one is done. If there was none and another process makes one meanwhile, that one stays.
// Nothing is synced.
func Join(path string, timeout time.Duration, fill func(*Bulk) error) error {
	sweep(path)
	_, err := os.Lstat(path)
	there := err == nil
	if there {
		lock, err := acquire(context.Background(), path, alone, timeout)
		if err != nil {
			return err
		}
		defer lock.release() //nolint:errcheck // what was done is done
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), litterOf(path))
	if err != nil {
		return notMade(path, err)
	}
	defer tmp.Close()
	defer os.Remove(tmp.Name())
	if err := layOut(tmp.Name()); err != nil {
		return noRoom(path, err)
	}
	f := &File{path: tmp.Name(), opt: Options{Scratch: true, Replica: true}}
	if err := errors.Join(Guard(func() error { return f.Bulk(fill) }), f.Close()); err != nil {
		return noRoom(path, err)
	}
	if there {
		return rename(tmp.Name(), path, replace)
	}
	if err = rename(tmp.Name(), path, noReplace); cannot(err) {
		err = os.Link(tmp.Name(), path)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
