package file

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/placectl/placectl/internal/row"
	"go.etcd.io/bbolt"
)

// Compacted reports what Compact did.
type Compacted struct {
	Before, After int64 // the size of the file, in bytes
}

// compactBytes is the size of the rows in a commit of Compact, which are in memory until then.
const compactBytes = 4 << 20

// Compact rewrites the file without its free pages, and replaces it in one step. It has the
// file to itself meanwhile. The new file is the database itself if settles is set, else a copy.
func (f *File) Compact(dryRun, settles bool, watch Watch) (done Compacted, err error) {
	err = f.run(writing, func(o *opened) error {
		old, err := os.Lstat(f.Path())
		if err != nil {
			return err
		}
		done.Before = old.Size()
		take := func(tmp string) error {
			o.spent = true // the open file is now the old one
			return rename(tmp, f.Path(), 0)
		}
		if dryRun {
			take = os.Remove
		}
		return beside(f.Path(), func(tmp string) error {
			if err := f.compactInto(tmp, o.bolt, watch); err != nil {
				return err
			}
			again := Detach
			if settles {
				again = func(tmp string) error { return Settle(tmp, f.Path()) }
			}
			if err := again(tmp); err != nil {
				return err
			}
			info, err := os.Stat(tmp)
			if err != nil {
				return err
			}
			done.After = info.Size()
			return takeAfter(tmp, old)
		}, take)
	})
	return done, err
}

// compactInto copies the rows of a file into an empty one, and compares.
func (f *File) compactInto(tmp string, from *bbolt.DB, watch Watch) error {
	if _, err := Verify(f.Path(), watch); err != nil {
		return fmt.Errorf("%w; nothing was changed", err)
	}
	data, err := openFile(tmp, os.O_RDWR)
	if err != nil {
		return err
	}
	to, err := openBolt(data, true, scratchRoom)
	if err != nil {
		return err
	}
	to.NoSync, to.NoGrowSync = true, true
	if err = bbolt.Compact(to, from, compactBytes); err == nil {
		err = sameRows(to, from, watch)
	}
	if err == nil {
		err = to.Update(resum)
	}
	if err := errors.Join(err, to.Close()); err != nil {
		return err
	}
	return renewMeta(tmp)
}

// resum sets the transaction in the copied row of the sums to the one of the copy that wrote
// it.
func resum(tx *bbolt.Tx) error {
	r := &Recorder{bolt: tx}
	if err := r.readFormat(); err != nil {
		return err
	}
	payload, err := r.Get(row.Meta, row.KeySums)
	if err != nil {
		return err
	}
	if err := row.SumsRow.Read(&r.sums, row.KeySums, payload); err != nil {
		return err
	}
	return r.writeSums()
}

// sameRows verifies that two files hold the same rows.
func sameRows(a, b *bbolt.DB, watch Watch) error {
	return a.View(func(one *bbolt.Tx) error {
		return b.View(func(other *bbolt.Tx) error {
			for t := range row.TableCount {
				if err := sameTable(one.Bucket([]byte(t.String())), other.Bucket([]byte(t.String())),
					watch); err != nil {
					return fmt.Errorf("table %s: %w", t, err)
				}
			}
			return nil
		})
	})
}

func sameTable(a, b *bbolt.Bucket, watch Watch) error {
	if a == nil || b == nil {
		if a != b {
			return errors.New("it is in one of the two only")
		}
		return nil
	}
	c, d := a.Cursor(), b.Cursor()
	k, v := c.First()
	l, w := d.First()
	for ; k != nil && bytes.Equal(k, l) && bytes.Equal(v, w); k, v = c.Next() {
		if err := watch.more(int64(len(k) + len(v))); err != nil {
			return err
		}
		l, w = d.Next()
	}
	if k != nil || l != nil {
		return fmt.Errorf("what was written is not what was there, at %x", max(string(k), string(l)))
	}
	return nil
}
