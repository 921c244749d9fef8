package check

import (
	"strings"

	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/locality"
)

// batches derives the tables of the batches and verifies all their invariants.
func (d *recomputed) batches() error {
	if err := d.hosts(); err != nil {
		return err
	}
	numbers := make(map[uint32]string)
	err := d.store.Rows.Each(row.Batches, nil, func(key, payload []byte) (bool, error) {
		b, err := row.BatchRow.Decode(key, payload)
		if err != nil {
			return false, err
		}
		if other, ok := numbers[b.Number]; ok {
			d.at = Row{row.Batches, string(key)}
			d.contradict("the batches %s and %s have one number, %d", other, b.Name, b.Number)
			return true, nil
		}
		numbers[b.Number] = b.Name
		d.at = Row{row.Batches, string(key)}
		d.batch(b)
		return true, nil
	})
	if err != nil {
		return err
	}
	return d.strays(numbers)
}

// strays finds rows of batches that do not exist: the next batch with that number would get
// them.
func (d *recomputed) strays(numbers map[uint32]string) error {
	for _, t := range []row.Table{row.BatchFiles, row.BatchJobs, row.BatchTasks, row.BatchHosts, row.BatchRanges} {
		err := d.store.Rows.Each(t, nil, func(key, _ []byte) (bool, error) {
			if number, ok := row.BatchOf(key); !ok || numbers[number] == "" {
				d.at = Row{t, string(key)}
				d.contradict("%s: the row %x is of a batch that is not there", t, key)
			}
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *recomputed) hosts() error {
	return d.store.Rows.Each(row.Hosts, nil, func(key, payload []byte) (bool, error) {
		h, err := row.HostRow.Decode(key, payload)
		if err != nil {
			return false, err
		}
		if _, ok := d.rows[row.HostNames][h.Name]; ok {
			d.at = Row{row.Hosts, string(key)}
			d.contradict("two hosts are called %s", h.Name)
		}
		follow(d, &row.HostRows, h)
		return true, nil
	})
}

func (d *recomputed) batch(b *row.Batch) {
	rows := &derivedRows{Rows: d.store.batch(b.Number), d: d, number: b.Number}
	err := d.batchFiles(b)
	if err == nil {
		err = rows.derive(&b.Batch)
	}
	if err != nil {
		d.contradict("batch %s: %v", b.Name, err)
		return
	}
	op, err := locality.Begin(rows, &b.Batch, d.now)
	if err == nil {
		err = op.Check(func(format string, args ...any) {
			d.contradict("batch "+strings.ReplaceAll(b.Name, "%", "%%")+": "+format, args...)
		})
	}
	if err != nil {
		d.contradict("batch %s: %v", b.Name, err)
	}
}

// batchFiles verifies that all files of a batch have a row, because jobs refer to them by
// number.
func (d *recomputed) batchFiles(b *row.Batch) error {
	blocks := 0
	err := d.store.Rows.Each(row.BatchFiles, row.Key32(b.Number), func(key, payload []byte) (bool, error) {
		files, err := row.BatchFilesRow.Decode(key, payload)
		first := blocks * row.BatchFileBlock
		if err == nil && (string(key) != string(row.BatchBlockKey(b.Number, blocks)) ||
			len(*files) != min(row.BatchFileBlock, b.Files-first)) {
			d.contradict("batch %s: its files from number %d on are not the next ones of %d", b.Name, first, b.Files)
		}
		blocks++
		return true, err
	})
	if has := (b.Files + row.BatchFileBlock - 1) / row.BatchFileBlock; err == nil && blocks < has {
		d.contradict("batch %s: it has %d files, and those from number %d on are missing", b.Name, b.Files,
			blocks*row.BatchFileBlock)
	}
	return err
}

// derivedRows holds the rows of a batch as they should be: what is derived comes from what was
// just recomputed.
type derivedRows struct {
	locality.Rows
	d      *recomputed
	number uint32
	backs  map[int]bool
	dues   []locality.Due
}

// derive recomputes the three derived tables of a batch.
func (r *derivedRows) derive(b *locality.Batch) error {
	r.backs = make(map[int]bool)
	err := r.d.store.Rows.Each(row.BatchRanges, row.Key32(r.number), func(key, payload []byte) (bool, error) {
		c, err := row.DecodeRange(key, payload)
		if err == nil {
			follow(r.d, &row.RangeRows, &row.BatchRange{Batch: r.number, Cursor: *c})
		}
		return true, err
	})
	if err != nil {
		return err
	}
	if err := r.EachMember(func(m *locality.Member) error {
		if m.Idle > 0 {
			r.due(locality.Due{At: m.Idle, Host: m.Host, Slot: -1})
		}
		return nil
	}); err != nil {
		return err
	}
	return r.d.store.Rows.Each(row.BatchTasks, row.Key32(r.number), func(key, payload []byte) (bool, error) {
		block, err := row.BatchTasksRow.Decode(key, payload)
		if err != nil {
			return false, err
		}
		for i := range block.Tasks {
			r.task(b, block.First+i, &block.Tasks[i])
		}
		return true, nil
	})
}

func (r *derivedRows) task(b *locality.Batch, job int, t *locality.Task) {
	for layer, s := range t.Slots {
		if slot := b.Slot(job, layer); s == locality.Unsent {
			r.backs[slot] = true
			r.d.rows[row.BatchBacks][string(row.RangeKey(r.number, slot))] = []byte{1}
		}
	}
	for _, x := range t.Instances {
		if x.State == locality.Live {
			r.due(locality.Due{At: x.Until, Host: x.Host, Slot: b.Slot(job, x.Layer)})
		}
	}
}

func (r *derivedRows) due(due locality.Due) {
	r.dues = append(r.dues, due)
	r.d.rows[row.BatchDues][string(row.DueKey(r.number, due))] = []byte{1}
}

// EachBack calls fn for the slots that wait, according to the jobs.
func (r *derivedRows) EachBack(first, last int, fn func(int) (bool, error)) error {
	for slot := first; slot <= last; slot++ {
		if r.backs[slot] {
			if more, err := fn(slot); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// EachDue calls fn for what is due, according to the jobs and hosts.
func (r *derivedRows) EachDue(_ int64, fn func(locality.Due) (bool, error)) error {
	locality.SortDues(r.dues)
	for _, due := range r.dues {
		if more, err := fn(due); err != nil || !more {
			return err
		}
	}
	return nil
}
