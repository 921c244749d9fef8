package store

import (
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store/internal/row"
)

// EachBatchRange goes through the ranges of a batch in the order of slots.
func (tx *Tx) EachBatchRange(name string, fn func(*locality.Cursor) error) error {
	b, err := tx.batch(name)
	if err != nil {
		return err
	}
	return tx.file.Each(row.BatchRanges, row.Key32(b.Number), func(key, payload []byte) (bool, error) {
		c, err := row.DecodeRange(key, payload)
		if err != nil {
			return false, err
		}
		return true, fn(c)
	})
}

// EachBatchHost goes through the hosts of a batch by number.
func (tx *Tx) EachBatchHost(name string, fn func(*locality.Host, *locality.Member) error) error {
	b, err := tx.batch(name)
	if err != nil {
		return err
	}
	return newBatchRows(tx, b.Number).EachMember(func(m *locality.Member) error {
		h, err := tx.host(m.Host)
		if err != nil {
			return err
		}
		return fn(h, m)
	})
}

// BatchPlaces is where the hosts of a batch work.
func (tx *Tx) BatchPlaces(name string) (locality.Places, error) {
	var all locality.Places
	err := tx.EachBatchHost(name, func(h *locality.Host, m *locality.Member) error {
		all.Add(h, m)
		return nil
	})
	all.Sort()
	return all, err
}

// EachBatchJob goes through the jobs of a batch in order, with what became of each.
func (tx *Tx) EachBatchJob(name string, fn func(number int, j *locality.Job, t *locality.Task) error) error {
	b, err := tx.batch(name)
	if err != nil {
		return err
	}
	rows := newBatchRows(tx, b.Number)
	for number := range b.Jobs {
		block, at := number/locality.BlockJobs, number%locality.BlockJobs
		jobs, err := rows.Jobs(block)
		if err != nil {
			return err
		}
		tasks, err := rows.Tasks(block)
		if err != nil {
			return err
		}
		task := &locality.Task{}
		if at < len(tasks.Tasks) {
			task = &tasks.Tasks[at]
		}
		if err := fn(number, &jobs.Jobs[at], task); err != nil {
			return err
		}
	}
	return nil
}
