package batches

import (
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/locality"
)

// EachRange calls fn for the ranges of a batch in the order of slots.
func (b *Batches) EachRange(name string, fn func(*locality.Cursor) error) error {
	one, err := b.Find(name)
	if err != nil {
		return err
	}
	return b.file.Each(row.BatchRanges, row.Key32(one.Number), func(key, payload []byte) (bool, error) {
		c, err := row.DecodeRange(key, payload)
		if err != nil {
			return false, err
		}
		return true, fn(c)
	})
}

// EachHost calls fn for the hosts of a batch by number.
func (b *Batches) EachHost(name string, fn func(*locality.Host, *locality.Member) error) error {
	one, err := b.Find(name)
	if err != nil {
		return err
	}
	return b.Rows(one.Number).EachMember(func(m *locality.Member) error {
		h, err := b.host(m.Host)
		if err != nil {
			return err
		}
		return fn(h, m)
	})
}

// Places returns where the hosts of a batch work.
func (b *Batches) Places(name string) (locality.Places, error) {
	var all locality.Places
	err := b.EachHost(name, func(h *locality.Host, m *locality.Member) error {
		all.Add(h, m)
		return nil
	})
	all.Sort()
	return all, err
}

// EachJob calls fn for the jobs of a batch in order, with the state of each.
func (b *Batches) EachJob(name string, fn func(number int, j *locality.Job, t *locality.Task) error) error {
	one, err := b.Find(name)
	if err != nil {
		return err
	}
	rows := b.Rows(one.Number)
	for number := range one.Jobs {
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

// Files returns files of a batch.
func (b *Batches) Files(name string, span locality.Span) ([]File, error) {
	one, err := b.Find(name)
	if err != nil {
		return nil, err
	}
	return b.files(one.Number, []locality.Span{span})
}
