package batches

import (
	"fmt"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/locality"
)

// Maker receives the files and then the jobs of a new batch, one by one, so that neither list
// must be in memory.
type Maker struct {
	all    *Batches
	number uint32
	name   string
	files  []row.BatchFile // the last block, which is not full
	count  int
	maker  *locality.Maker
	set    locality.Settings

	finished bool
	by       *uint32 // the uid of its maker; nil if unknown
}

// Make begins a batch. Add all its files first, then its jobs.
func (b *Batches) Make(name string, s locality.Settings, by *uint32) (*Maker, error) {
	if !index.ValidNodeName(name) {
		return nil, fmt.Errorf("%w batch name %q: at most 255 printable characters, without blanks, commas, quotes "+
			"and ()+:=*?\\$;&|<>#", row.ErrInvalid, name)
	}
	if !b.file.Writable() {
		return nil, file.ErrReadOnly
	}
	if err := b.freeName(name); err != nil {
		return nil, err
	}
	m := &Maker{all: b, name: name, set: s, by: by}
	for _, other := range b.makers {
		m.number = max(m.number, other.number+1)
	}
	err := b.Each(func(other *row.Batch) error {
		m.number = max(m.number, other.Number+1)
		return nil
	})
	if err != nil {
		return nil, err
	}
	b.makers = append(b.makers, m)
	return m, nil
}

func (b *Batches) freeName(name string) error {
	payload, err := b.file.Get(row.Batches, []byte(name))
	if err == nil && payload != nil {
		err = fmt.Errorf("batch %s: %w%w", name, file.ErrExists, file.Wordless(row.ErrConflict))
	}
	return err
}

// Flush deletes the rows of batches that were not finished, because other batches may get
// their numbers.
func (b *Batches) Flush() error {
	for _, m := range b.makers {
		if m.finished {
			continue
		}
		if err := b.removeRows(m.number); err != nil {
			return err
		}
	}
	return nil
}

// AddFile adds the next file.
func (m *Maker) AddFile(f row.BatchFile) error {
	if f.Size < 0 {
		return fmt.Errorf("%w size %d of file %q: less than 0", row.ErrInvalid, f.Size, f.Name)
	}
	m.files = append(m.files, f)
	if m.count++; m.count > locality.MaxFiles {
		return fmt.Errorf("%w: more than %d files", row.ErrInvalid, locality.MaxFiles)
	}
	if len(m.files) == row.BatchFileBlock {
		return m.keepFiles()
	}
	return nil
}

func (m *Maker) keepFiles() error {
	if len(m.files) == 0 {
		return nil
	}
	key := row.BatchBlockKey(m.number, (m.count-1)/row.BatchFileBlock)
	err := m.all.file.Put(row.BatchFiles, key, row.BatchFilesRow.Encode(&m.files))
	m.files = m.files[:0]
	return err
}

// AddJob adds the next job; no file can come after it.
func (m *Maker) AddJob(j locality.Job) error {
	if m.maker == nil {
		if err := m.keepFiles(); err != nil {
			return err
		}
		var err error
		if m.maker, err = locality.NewMaker(m.name, m.set, m.count, m.keep); err != nil {
			return explained(m.name, err)
		}
	}
	return explained("", m.maker.Add(j))
}

func (m *Maker) keep(b *locality.JobBlock) error {
	return m.all.file.Put(row.BatchJobs, row.BatchBlockKey(m.number, b.First/locality.BlockJobs),
		row.BatchJobsRow.Encode(b))
}

// Finish makes the batch from the added files and jobs. It fails with a Conflict if another
// batch of its name was finished first.
func (m *Maker) Finish() (*row.Batch, error) {
	if m.maker == nil {
		return nil, fmt.Errorf("%w batch %s: it has no jobs", row.ErrInvalid, m.name)
	}
	if err := m.all.freeName(m.name); err != nil {
		return nil, err
	}
	made, err := m.maker.Finish(m.all.Rows(m.number), m.all.now)
	if err != nil {
		return nil, explained(m.name, err)
	}
	one := &row.Batch{Number: m.number, Batch: *made, UID: m.by}
	if err := m.all.put(one); err != nil {
		return nil, err
	}
	m.finished = true
	return one, nil
}
