package store

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// archiveHead is the first line of an archive of lines.
type archiveHead struct {
	Placectl string `json:"placectl"` // archiveKind
	Format   uint32 `json:"format"`   // of the rows
	DB       string `json:"db"`       // the id of the database that they are of
}

const archiveKind = "archive"

// archiveWriter is how an archive of a name is written: as a whole, in the place of the one
// that is there.
func archiveWriter(name string) (func(tx *Tx, to string, old *expired, watch Watch) error, error) {
	switch {
	case strings.HasSuffix(name, ".db"):
		return writeArchiveDB, nil
	case strings.HasSuffix(name, ".jsonl"), strings.HasSuffix(name, ".jsonl.gz"):
		return writeArchiveLines, nil
	}
	return nil, fmt.Errorf("%w archive %s: its name is to end in .db, .jsonl or .jsonl.gz", ErrInvalid, name)
}

// each goes through the rows that an archive takes, as they are stored in payloads.
func (x *expired) each(tx *Tx, fn func(t row.Table, key, payload []byte) error) error {
	numbered := func(t row.Table, has func(uint64) bool) error {
		return tx.file.Each(t, nil, func(key, payload []byte) (bool, error) {
			if len(key) != 8 || !has(row.Number64(key)) {
				return true, nil
			}
			return true, fn(t, key, payload)
		})
	}
	if err := errors.Join(x.payloads(tx, fn), numbered(row.Jobs, x.jobs.Contains), numbered(row.Events, x.events.Contains)); err != nil {
		return err
	}
	for _, name := range x.batches {
		payload, err := tx.file.Get(row.Batches, []byte(name))
		if err != nil {
			return err
		}
		b, err := row.DecodeBatch([]byte(name), payload)
		if err == nil {
			err = fn(row.Batches, []byte(name), payload)
		}
		for _, t := range batchTables {
			err = errors.Join(err, tx.file.Each(t, row.Key32(b.Number), func(key, payload []byte) (bool, error) { return true, fn(t, key, payload) }))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// payloads goes through the rows of what the jobs carry that an archive takes. They count
// these jobs.
func (x *expired) payloads(tx *Tx, fn func(t row.Table, key, payload []byte) error) error {
	named := make(map[row.PayloadKey]uint64)
	for it := x.jobs.Iterator(); it.HasNext(); {
		j, err := tx.job(it.Next())
		if err != nil {
			return err
		}
		named[j.Payload]++
	}
	return eachPayload(named, func(key row.PayloadKey, jobs uint64) error {
		payload, err := tx.payloadRow(key)
		if err == nil {
			payload, err = row.RecountPayload(payload, jobs)
		}
		if err != nil {
			return err
		}
		return fn(row.Payloads, key[:], payload)
	})
}

// batchTables have the rows of batches by number, but for those that are derived.
var batchTables = []row.Table{row.BatchFiles, row.BatchJobs, row.BatchTasks, row.BatchHosts, row.BatchRanges}

// telling tells of each row.
func telling(watch Watch, fn func(t row.Table, key, payload []byte) error) func(t row.Table, key, payload []byte) error {
	return func(t row.Table, key, payload []byte) error {
		if watch != nil {
			if err := watch(1); err != nil {
				return err
			}
		}
		return fn(t, key, payload)
	}
}

// writeArchiveLines writes the lines of an archive behind those that are there.
func writeArchiveLines(tx *Tx, to string, old *expired, watch Watch) error {
	id, err := tx.file.Identity()
	if err != nil {
		return err
	}
	return file.Rewrite(to, func(was *os.File, tmp *os.File) error {
		var out io.WriteCloser = tmp
		if was != nil {
			if err := sameArchive(was, id.String()); err != nil {
				return err
			}
			if _, err := io.Copy(tmp, was); err != nil {
				return err
			}
		}
		if strings.HasSuffix(to, ".gz") {
			out = gzip.NewWriter(tmp)
		}
		lines := bufio.NewWriterSize(out, 1<<16)
		if was == nil {
			head, err := json.Marshal(archiveHead{archiveKind, Format, id.String()})
			if err != nil {
				return err
			}
			lines.Write(append(head, '\n')) //nolint:errcheck // Flush says it
		}
		var line []byte
		err := old.each(tx, telling(watch, func(t row.Table, key, payload []byte) (err error) {
			if line, err = row.AppendDocument(line[:0], t, key, payload); err == nil {
				_, err = lines.Write(line)
			}
			return err
		}))
		err = errors.Join(err, lines.Flush())
		if out != io.WriteCloser(tmp) {
			err = errors.Join(err, out.Close())
		}
		return err
	})
}

// sameArchive verifies that a file is an archive of a database, and goes back to its
// beginning.
func sameArchive(f *os.File, id string) error {
	text, err := plain(f)
	if err != nil {
		return err
	}
	line, err := bufio.NewReader(text).ReadSlice('\n')
	var head archiveHead
	if err != nil || json.Unmarshal(line, &head) != nil || head.Placectl != archiveKind {
		return fmt.Errorf("%s is there, and no archive: %w", f.Name(), ErrConflict)
	}
	if head.DB != id {
		return fmt.Errorf("%s is an archive of another database: %w", f.Name(), ErrConflict)
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}

// archiveBase are the tables that an archive has for its jobs to be shown with.
var archiveBase = []row.Table{row.Config, row.Resources, row.Queues, row.Nodes, row.Hosts, row.Usage}

// writeArchiveDB makes a database of what is archived, and of what the archive that is
// there has.
func writeArchiveDB(tx *Tx, to string, old *expired, watch Watch) error {
	id, err := tx.file.Identity()
	if err != nil {
		return err
	}
	was, err := openArchive(to, id.String())
	if err != nil {
		return err
	}
	return file.Renew(to, func(tmp string) error {
		db, err := openScratch(tmp, tx.db.opt)
		if err != nil {
			return err
		}
		err = db.file.Bulk(func(b *file.Bulk) error {
			put := telling(watch, func(t row.Table, key, payload []byte) error { return b.Put(t, clone(key), clone(payload)) })
			state := tx.state
			if err := errors.Join(put(row.Meta, row.KeyArchive, row.EncodeText(id.String())), put(row.Meta, row.KeyState, state.Encode())); err != nil {
				return err
			}
			for _, t := range archiveBase {
				if err := tx.file.Each(t, nil, func(key, payload []byte) (bool, error) { return true, put(t, key, payload) }); err != nil {
					return err
				}
			}
			if was != nil {
				if err := was.keepArchived(tx, b, put); err != nil {
					return err
				}
			}
			return old.each(tx, (&renamed{b: b}).put(put))
		})
		if err == nil {
			err = db.complete("the archive")
		}
		return errors.Join(err, db.Close())
	})
}

// renamed gives batches other numbers, and other names where the archive has a batch of
// that name: a batch of each night is called the same.
type renamed struct {
	b      *file.Bulk
	number uint32 // of the batch at hand, in the archive
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

// vacant finds a name and a number that no batch has.
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

// openArchive opens the archive that is there, nil where none is.
func openArchive(path, id string) (*DB, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	db, err := Open(path, nil)
	if err != nil {
		return nil, err
	}
	return db, db.file.View(func(r *file.Recorder) error {
		of, err := r.Get(row.Meta, row.KeyArchive)
		switch {
		case err != nil:
			return err
		case of == nil:
			return fmt.Errorf("%s is there, and no archive: %w", path, ErrConflict)
		case row.DecodeText(of) != id:
			return fmt.Errorf("%s is an archive of another database: %w", path, ErrConflict)
		}
		return nil
	})
}

// keepArchived puts the rows of an archive into the one that takes its place. Nodes that
// are there no more come along where nothing has their name.
func (db *DB) keepArchived(tx *Tx, b *file.Bulk, put func(t row.Table, key, payload []byte) error) error {
	return db.file.View(func(r *file.Recorder) error {
		err := r.Each(row.Nodes, nil, func(key, payload []byte) (bool, error) {
			there, err := b.Has(row.Nodes, key)
			if err != nil || there {
				return true, err
			}
			n, err := row.DecodeNode(key, payload)
			if err != nil {
				return false, err
			}
			if named, err := tx.file.Get(row.NodeNames, []byte(n.Name)); err != nil || named != nil {
				return true, err
			}
			return true, put(row.Nodes, key, payload)
		})
		if err != nil {
			return err
		}
		for _, t := range append([]row.Table{row.Jobs, row.Events, row.Payloads, row.Batches}, batchTables...) {
			if err := r.Each(t, nil, func(key, payload []byte) (bool, error) { return true, put(t, key, payload) }); err != nil {
				return err
			}
		}
		return nil
	})
}
