package recovery

import (
	"fmt"
	"strings"
	"time"

	"github.com/placectl/placectl/store/internal/check"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/jobs"
	"github.com/placectl/placectl/store/internal/row"
)

// ArchiveOptions configure the writing of an archive.
type ArchiveOptions struct {
	Open        Open
	LockTimeout time.Duration // for the lock of an existing archive
	Watch       file.Watch    // called for rows
}

// ArchiveWriter returns the function that writes an archive with a name. It writes the whole
// archive, and replaces an existing one, which must be of the same database and whose rows
// stay.
func ArchiveWriter(name string) (func(db *check.Store, to string, old *Expired, opt ArchiveOptions) error, error) {
	switch {
	case strings.HasSuffix(name, ".db"):
		return writeArchiveDB, nil
	case strings.HasSuffix(name, ".jsonl"), strings.HasSuffix(name, ".jsonl.gz"):
		return writeArchiveLines, nil
	}
	return nil, fmt.Errorf("%w archive %s: its name must end in .db, .jsonl or .jsonl.gz", row.ErrInvalid, name)
}

// each calls fn for the rows that go into an archive, with their stored payloads.
func (x *Expired) each(r *file.Recorder, fn func(t row.Table, key, payload []byte) error) error {
	numbered := func(t row.Table, has func(uint64) bool) error {
		return r.Each(t, nil, func(key, payload []byte) (bool, error) {
			if len(key) < 8 || !has(row.Number64(key[:8])) {
				return true, nil
			}
			return true, fn(t, key, payload)
		})
	}
	if err := x.payloads(r, fn); err != nil {
		return err
	}
	for _, t := range []row.Table{row.Jobs, row.Attempts, row.Events} {
		has := x.Jobs.Contains
		if t == row.Events {
			has = x.Events.Contains
		}
		if err := numbered(t, has); err != nil {
			return err
		}
	}
	for _, name := range x.Batches {
		payload, err := r.Get(row.Batches, []byte(name))
		if err != nil {
			return err
		}
		b, err := row.DecodeBatch([]byte(name), payload)
		if err != nil {
			return err
		}
		if err := fn(row.Batches, []byte(name), payload); err != nil {
			return err
		}
		for _, t := range batchTables {
			err := r.Each(t, row.Key32(b.Number), func(key, payload []byte) (bool, error) {
				return true, fn(t, key, payload)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// payloads calls fn for the payload rows of the archived jobs. They count only these jobs.
func (x *Expired) payloads(r *file.Recorder, fn func(t row.Table, key, payload []byte) error) error {
	named := make(map[row.PayloadKey]uint64)
	for it := x.Jobs.Iterator(); it.HasNext(); {
		j, err := jobs.RowOf(r, it.Next())
		if err != nil {
			return err
		}
		named[j.Payload]++
	}
	return row.EachPayload(named, func(key row.PayloadKey, jobs uint64) error {
		payload, err := r.Get(row.Payloads, key[:])
		switch {
		case err == nil && payload == nil:
			err = key.Missing()
		case err == nil:
			payload, err = row.RecountPayload(payload, jobs)
		}
		if err != nil {
			return err
		}
		return fn(row.Payloads, key[:], payload)
	})
}

// batchTables are the tables with rows of batches by number, except derived ones.
var batchTables = []row.Table{row.BatchFiles, row.BatchJobs, row.BatchTasks, row.BatchHosts, row.BatchRanges}

// telling reports each row as progress.
func telling(watch file.Watch, fn func(t row.Table, key, payload []byte) error) func(t row.Table, key,
	payload []byte) error {
	return func(t row.Table, key, payload []byte) error {
		if watch != nil {
			if err := watch(1); err != nil {
				return err
			}
		}
		return fn(t, key, payload)
	}
}
