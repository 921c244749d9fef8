package store

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// A dump is lines of JSON: a head, each row that is not derived, table by table in the
// order of their keys, and a line that says how many there were, without which it was cut
// off. Package row says what a line looks like.
type (
	dumpHead struct {
		Placectl string `json:"placectl"` // dumpKind
		Format   uint32 `json:"format"`   // of the rows
	}
	dumpEnd struct {
		Rows *int64 `json:"rows"`
	}
)

const dumpKind = "dump"

// Dump writes every row that is not derived as a line of JSON, of one instant, for Load
// of this version and any later one. A database of an older format is dumped as what
// its migration makes of it, and stays as it is.
func (db *DB) Dump(w io.Writer, watch Watch) (Content, error) {
	format, err := db.format()
	if err == nil && format < Format {
		return db.dumpMigrated(w, watch)
	}
	if err != nil {
		return Content{}, err
	}
	return db.dump(w, watch)
}

// format is the format of the file.
func (db *DB) format() (format uint32, err error) {
	err = db.file.View(func(r *file.Recorder) error {
		format = r.Format()
		return nil
	})
	return format, err
}

// dumpMigrated dumps a copy that has been migrated.
func (db *DB) dumpMigrated(w io.Writer, watch Watch) (content Content, err error) {
	spool, err := os.CreateTemp("", "placectl-*")
	if err != nil {
		return content, err
	}
	defer os.Remove(spool.Name())
	defer spool.Close()
	if _, err := db.file.CopyTo(spool.Name(), nil); err != nil {
		return content, err
	}
	migrated, err := openScratch(spool.Name(), db.opt)
	if err != nil {
		return content, err
	}
	err = migrated.file.Update(func(r *file.Recorder) (bool, error) {
		_, err := migrated.load(r)
		return true, err
	})
	if err == nil {
		content, err = migrated.dump(w, watch)
	}
	return content, errors.Join(err, migrated.Close())
}

func (db *DB) dump(w io.Writer, watch Watch) (content Content, err error) {
	out := bufio.NewWriterSize(w, 1<<16)
	err = db.file.View(func(r *file.Recorder) error {
		content, err = dumpRows(r, out, watch)
		return err
	})
	return content, errors.Join(err, out.Flush())
}

func dumpRows(r *file.Recorder, out *bufio.Writer, watch Watch) (Content, error) {
	var count file.Content
	head, err := json.Marshal(dumpHead{dumpKind, Format})
	if err != nil {
		return Content{}, err
	}
	out.Write(append(head, '\n')) // its first error is kept for later
	var line []byte
	for t := range row.TableCount {
		if t.Derived() {
			continue
		}
		err := r.Each(t, nil, func(key, payload []byte) (bool, error) {
			if !row.Counted(t, key) {
				return true, nil // it says something of the file, not of what is in it
			}
			if line, err = row.AppendDocument(line[:0], t, key, payload); err != nil {
				return false, err
			}
			count.Rows[t]++
			if watch != nil {
				if err := watch(1); err != nil {
					return false, err
				}
			}
			_, err := out.Write(line)
			return true, err
		})
		if err != nil {
			return Content{}, err
		}
	}
	content := newContent(count)
	_, err = fmt.Fprintf(out, "{\"rows\":%d}\n", content.Rows)
	return content, err
}
