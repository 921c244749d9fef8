package recovery

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/placectl/placectl/store/internal/check"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// archiveBase lists the tables that an archive needs to show its jobs.
var archiveBase = []row.Table{row.Config, row.Resources, row.Queues, row.Nodes, row.Hosts, row.Usage}

// writeArchiveDB makes a database of the archived rows, and of the rows of an existing
// archive.
func writeArchiveDB(of *check.Store, to string, old *Expired, opt ArchiveOptions) error {
	r := of.Rows
	id, err := r.Identity()
	if err != nil {
		return err
	}
	was, err := openArchive(to, id.String(), opt.LockTimeout)
	if err != nil {
		return err
	}
	return file.Renew(to, func(tmp string) error {
		db, err := opt.Open(tmp)
		if err != nil {
			return err
		}
		err = db.File().Bulk(func(b *file.Bulk) error {
			put := telling(opt.Watch, func(t row.Table, key, payload []byte) error {
				return b.Put(t, clone(key), clone(payload))
			})
			state := *of.State
			state.NodesSince = state.AsOf // the history of nodes is not archived
			if err := put(row.Meta, row.KeyArchive, row.EncodeText(id.String())); err != nil {
				return err
			}
			if err := put(row.Meta, row.KeyState, state.Encode()); err != nil {
				return err
			}
			for _, t := range archiveBase {
				if err := r.Each(t, nil, func(key, payload []byte) (bool, error) {
					return true,
						put(t, key, payload)
				}); err != nil {
					return err
				}
			}
			if was != nil {
				if err := keepArchived(was, r, b, put); err != nil {
					return err
				}
			}
			return old.each(r, (&renamed{b: b}).put(put))
		})
		if err == nil {
			err = complete(db, "the archive")
		}
		return errors.Join(err, db.Close())
	})
}

// renamed gives batches other numbers, and other names if the archive already has a batch with
// the name, because nightly batches often have the same name.
type renamed struct {
	b      *file.Bulk
	number uint32 // of the current batch, in the archive
}

func (x *renamed) put(put func(t row.Table, key, payload []byte) error) func(t row.Table, key, payload []byte) error {
	return func(t row.Table, key, payload []byte) error {
		switch {
		case t == row.Batches:
			batch, err := row.DecodeBatch(key, payload)
			if err != nil {
				return err
			}
			if batch.Name, batch.Number, err = x.vacant(batch.Name); err != nil {
				return err
			}
			x.number = batch.Number
			return put(t, []byte(batch.Name), row.EncodeBatch(batch))
		case slices.Contains(batchTables, t):
			return put(t, append(row.Key32(x.number), key[4:]...), payload)
		}
		return put(t, key, payload)
	}
}

// vacant finds an unused name and number for a batch.
func (x *renamed) vacant(name string) (string, uint32, error) {
	is := name
	for n := 2; ; n++ {
		there, err := x.b.Has(row.Batches, []byte(is))
		if err != nil || !there {
			break
		}
		is = fmt.Sprintf("%s.%d", name, n)
	}
	number := uint32(0)
	err := x.b.Each(row.Batches, func(key, payload []byte) error {
		b, err := row.DecodeBatch(key, payload)
		number = max(number, b.Number+1)
		return err
	})
	return is, number, err
}

func clone(b []byte) []byte { return append([]byte{}, b...) }

// openArchive opens an existing archive, or returns nil if there is none.
func openArchive(path, id string, timeout time.Duration) (*file.File, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	f, err := file.Open(path, file.Options{LockTimeout: timeout})
	if err != nil {
		return nil, err
	}
	return f, f.View(func(r *file.Recorder) error {
		of, err := r.Get(row.Meta, row.KeyArchive)
		switch {
		case err != nil:
			return err
		case of == nil:
			return fmt.Errorf("%s exists and is not an archive: %w", path, row.ErrConflict)
		case row.DecodeText(of) != id:
			return fmt.Errorf("%s is an archive of another database: %w", path, row.ErrConflict)
		}
		return nil
	})
}

// keepArchived copies the rows of an archive into the one that replaces it. It includes nodes
// that no longer exist, unless another node has the name.
func keepArchived(was *file.File, into *file.Recorder, b *file.Bulk,
	put func(t row.Table, key, payload []byte) error) error {
	return was.View(func(r *file.Recorder) error {
		err := r.Each(row.Nodes, nil, func(key, payload []byte) (bool, error) {
			there, err := b.Has(row.Nodes, key)
			if err != nil || there {
				return true, err
			}
			n, err := row.DecodeNode(key, payload)
			if err != nil {
				return false, err
			}
			if named, err := into.Get(row.NodeNames, []byte(n.Name)); err != nil || named != nil {
				return true, err
			}
			return true, put(row.Nodes, key, payload)
		})
		if err != nil {
			return err
		}
		for _, t := range append([]row.Table{row.Jobs, row.Attempts, row.Events, row.Payloads, row.Batches},
			batchTables...) {
			if err := r.Each(t, nil, func(key, payload []byte) (bool, error) {
				return true,
					put(t, key, payload)
			}); err != nil {
				return err
			}
		}
		return nil
	})
}
