package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/placectl/placectl/internal/row"
)

// Content tells what a file holds.
type Content struct {
	Bytes int64
	Rows  [row.TableCount]int64 // of each table
}

// Backup makes a copy of the file at one instant, and verifies it before it gets its name.
func (f *File) Backup(path string, watch Watch) (content Content, err error) {
	err = Fresh(path, func(tmp string) error {
		content, err = f.CopyTo(tmp, watch)
		return err
	})
	return content, err
}

// BackupTo writes such a copy. It first makes and verifies the whole copy in a folder for
// temporary files. So a slow reader blocks no other process, and gets a sound copy or none.
func (f *File) BackupTo(to io.Writer, dir string, watch Watch) (content Content, err error) {
	spool, err := os.CreateTemp(dir, "placectl-*")
	if err != nil {
		return content, err
	}
	defer spool.Close()
	name := spool.Name()
	content, err = f.CopyTo(name, watch)
	if err := errors.Join(noRoom(name, err), os.Remove(name)); err != nil {
		return content, err
	}
	_, err = io.Copy(to, spool)
	return content, err
}

// CopyTo copies the file into an empty one that no process uses, and verifies the copy. If
// there is room, it reads from a private copy, and writers wait only while that is made.
func (f *File) CopyTo(path string, watch Watch) (Content, error) {
	to, err := openFile(path, os.O_WRONLY)
	if err != nil {
		return Content{}, err
	}
	if err := errors.Join(f.copyInto(to, watch), to.Close()); err != nil {
		return Content{}, err
	}
	if err := renewMeta(path); err != nil {
		return Content{}, err
	}
	if err := Detach(path); err != nil {
		return Content{}, err
	}
	content, err := Verify(path, watch)
	if errors.Is(err, row.ErrDamaged) {
		err = fmt.Errorf("%s cannot be copied: %w; placectl check says more, placectl salvage recovers the "+
			"readable rows", f.Path(), err)
	}
	return content, err
}

// copyInto copies the file into another.
func (f *File) copyInto(to *os.File, watch Watch) error {
	from := f
	if f.copied == nil && !f.opt.Scratch {
		copied, err := f.Copy()
		if err == nil {
			defer copied.Close()
			from = copied
		} else {
			f.detail(fmt.Sprintf("%s: writers wait until the copy is made: %v", f.Path(), err))
		}
	}
	return from.run(sharing, func(o *opened) error {
		if clone(to, o.data) {
			return nil
		}
		size, err := o.data.Seek(0, io.SeekEnd)
		if err != nil {
			return err
		}
		for at := int64(0); at < size; {
			var n int64
			err := calls.Do(Operation{Kind: "copy", Path: f.Path(), At: at}, func() (err error) {
				n, err = copyRange(to, o.data, at, min(copyChunk, size-at))
				return err
			})
			if err == nil {
				err = watch.more(n)
			}
			if err != nil {
				return err
			}
			at += n
		}
		return nil
	})
}

// renewMeta makes both meta pages of a file valid, with consecutive transactions. A commit
// that was cut off, or bbolt's own copy, leaves a whole file with one invalid meta page.
func renewMeta(path string) error {
	return Guard(func() error {
		warning, err := preflight(path)
		if err != nil {
			return err
		}
		for range 2 { // a commit writes one of the pages
			if warning == "" && metasFollow(path) {
				return nil
			}
			f := &File{path: path, opt: Options{Scratch: true}}
			if err := errors.Join(f.run(writing, f.commitNothing), f.Close()); err != nil {
				return err
			}
			if warning, err = preflight(path); err != nil {
				return err
			}
		}
		return nil
	})
}

// commitNothing makes a transaction that changes no row.
func (f *File) commitNothing(o *opened) error {
	tx, err := o.bolt.Begin(true)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it only says so
	r := &Recorder{bolt: tx}
	if err := r.readFormat(); err != nil {
		return err
	}
	if err := r.readSums(); err != nil {
		return err
	}
	return f.commit(o, r)
}

// metasFollow reports whether the transactions of the two meta pages are consecutive.
func metasFollow(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false
	}
	metas := readMetas(f, info.Size())
	return len(metas) == 2 && metas[0].transaction == metas[1].transaction+1
}

// Verify reads all of a file that no process changes, below bbolt: every page is reached once or
// free, keys are in order, every row has its checksum. Otherwise it fails with ErrDamaged.
func Verify(path string, watch Watch) (Content, error) {
	var content Content
	f, err := os.Open(path)
	if err != nil {
		return content, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return content, err
	}
	content.Bytes = info.Size()
	metas := readMetas(f, info.Size())
	if len(metas) == 0 {
		return content, fmt.Errorf("%w: %s has no valid meta page", ErrNotOurs, path)
	}
	losses, first := 0, ""
	lost := func(why string) {
		if losses++; losses == 1 {
			first = why
		}
	}
	var sums row.Sums
	var stored []byte
	ours := false
	check := func(t row.Table, key, value []byte) error {
		if isFormat(t, key) {
			_, ours = row.DecodeFormat(value)
		} else {
			if _, err := row.Unseal(t, key, value); err != nil {
				lost(err.Error())
			}
		}
		switch {
		case row.Counted(t, key):
			sums.Tables[t].Add(value)
		case !isFormat(t, key):
			stored = bytes.Clone(value)
		}
		content.Rows[t]++
		return watch.more(0)
	}
	_, err = scanFile(f, metas[0], check, func(l Loss) { lost(l.String()) })
	if stored != nil {
		sums.Transaction = metas[0].transaction
		if want := row.Seal(row.KeySums, row.SumsRow.Encode(&sums)); !bytes.Equal(stored, want) {
			lost("the rows are not those that the last transaction left: a page is lost or stale")
		}
	}
	if err == nil && losses == 0 && !ours {
		err = fmt.Errorf("%w: %s has no format row", ErrNotOurs, path)
	}
	if err == nil && losses > 0 {
		err = fmt.Errorf("%w: %s", row.ErrDamaged, first)
		if losses > 1 {
			err = fmt.Errorf("%w; and %d more", err, losses-1)
		}
	}
	return content, err
}

// isFormat reports whether a key is that of the one row without a checksum.
func isFormat(t row.Table, key []byte) bool {
	return t == row.Meta && string(key) == string(row.KeyFormat)
}
