package recovery

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/row"
)

// ArchiveNamed fails if an archive cannot have a name. Archives are lines: the database has what
// answers questions, and a backup keeps it.
func ArchiveNamed(name string) error {
	switch {
	case strings.HasSuffix(name, ".jsonl"), strings.HasSuffix(name, ".jsonl.gz"):
		return nil
	case strings.HasSuffix(name, ".db"):
		return fmt.Errorf("%w archive %s: archives are not databases; name it .jsonl or .jsonl.gz, and make a backup "+
			"first to ask about what it has", row.ErrInvalid, name)
	}
	return fmt.Errorf("%w archive %s: its name must end in .jsonl or .jsonl.gz", row.ErrInvalid, name)
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
		b, err := row.BatchRow.Decode([]byte(name), payload)
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
