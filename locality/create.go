package locality

import (
	"fmt"
	"slices"
)

// Maker makes a batch of jobs that are added one by one, in order. It holds at most a block of
// them: Add passes each full block to the function keep.
type Maker struct {
	Batch *Batch
	keep  func(*JobBlock) error
	block *JobBlock
	sums  []Credit // by layer
	reach int      // the last file used so far
	last  []int    // the same, by layer
	start int      // the first file of the last job
}

// MaxQuorum limits how many results of a job may be wanted.
const MaxQuorum = 8

// The limits of batches.
const (
	MaxFiles  = 100_000_000
	MaxJobs   = 100_000_000
	MaxCredit = 1_000_000_000 * Micro // of a job
)

// NewMaker begins a batch with a number of files. keep gets the blocks of jobs.
func NewMaker(name string, s Settings, files int, keep func(*JobBlock) error) (*Maker, error) {
	s, err := s.withDefaults()
	if err != nil {
		return nil, err
	}
	if files < 1 || files > MaxFiles {
		return nil, fmt.Errorf("%w: a batch has 1 to %d files, not %d", ErrInvalid, MaxFiles, files)
	}
	m := &Maker{Batch: &Batch{Name: name, Settings: s, Files: files}, keep: keep, reach: -1,
		sums: make([]Credit, MaxQuorum), last: slices.Repeat([]int{-1}, MaxQuorum)}
	m.next()
	return m, nil
}

func (m *Maker) next() {
	m.block = &JobBlock{First: m.Batch.Jobs, Before: append([]Credit(nil), m.sums...), Reach: m.reach,
		Jobs: make([]Job, 0, BlockJobs)}
}

// Add adds the next job. Jobs must come in the order of their first files.
func (m *Maker) Add(j Job) error {
	b := m.Batch
	switch {
	case j.A < 0 || j.B >= b.Files:
		return fmt.Errorf("%w: files %d to %d; the batch has files 0 to %d", ErrInvalid, j.A, j.B, b.Files-1)
	case j.B < j.A:
		return fmt.Errorf("%w: files %d to %d: the last comes before the first", ErrInvalid, j.A, j.B)
	case j.A < m.start:
		return fmt.Errorf("%w: its first file is %d, but the job before it begins at %d; order jobs by their "+
			"first files", ErrInvalid, j.A, m.start)
	case j.Credit < 1 || j.Credit > MaxCredit:
		return fmt.Errorf("%w: a credit of %g; it must be above 0 and at most %d", ErrInvalid, float64(j.Credit)/Micro,
			MaxCredit/Micro)
	case j.Quorum < 1 || j.Quorum > MaxQuorum:
		return fmt.Errorf("%w: a quorum of %d; it must be from 1 to %d", ErrInvalid, j.Quorum, MaxQuorum)
	case b.Jobs == MaxJobs:
		return fmt.Errorf("%w: more than %d jobs", ErrInvalid, MaxJobs)
	}
	m.start = j.A
	m.reach = max(m.reach, j.B)
	b.Layers = max(b.Layers, j.Quorum)
	for layer := range j.Quorum {
		m.sums[layer] += j.Credit
		b.Total += j.Credit
		fresh := max(0, j.B-max(j.A-1, m.last[layer]))
		m.last[layer] = max(m.last[layer], j.B)
		if b.Bound += fresh; layer == 0 {
			b.Used += fresh
		}
	}
	m.block.Jobs = append(m.block.Jobs, j)
	if b.Jobs++; b.Jobs%BlockJobs == 0 {
		if err := m.keep(m.block); err != nil {
			return err
		}
		m.next()
	}
	return nil
}

// Finish keeps the last block and cuts the batch into ranges. All blocks must be readable in
// rows.
func (m *Maker) Finish(rows Rows, now int64) (*Batch, error) {
	b := m.Batch
	if b.Jobs == 0 {
		return nil, fmt.Errorf("%w: a batch without jobs", ErrInvalid)
	}
	if len(m.block.Jobs) > 0 {
		if err := m.keep(m.block); err != nil {
			return nil, err
		}
	}
	b.Created, b.Remaining, b.Waiting = now, b.Total, b.Total
	o, err := Begin(rows, b, now)
	if err != nil {
		return nil, err
	}
	b.Layered = o.policy.layered()
	starts, err := o.policy.cuts(o)
	if err != nil {
		return nil, err
	}
	for i, first := range starts {
		last := b.Slots() - 1
		if i+1 < len(starts) {
			last = starts[i+1] - 1
		}
		if err := o.newCursor(first, last); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// newCursor makes a range; nothing in it was handed out yet.
func (o *Op) newCursor(first, last int) error {
	c := &Cursor{First: first, Last: last, Unfinished: first, Top: last, Low: first, High: last, Generated: first}
	var err error
	if c.Open, err = o.credits(first, last); err != nil {
		return err
	}
	if err := o.advance(c); err != nil { // slots that need no work from the beginning
		return err
	}
	o.generate(c)
	return o.PutCursor(c)
}

// credits returns the credit of the slots of a range.
func (o *Op) credits(first, last int) (Credit, error) {
	if o.Batch.Layered {
		return o.between(first, last)
	}
	from, _ := o.Batch.JobOf(first)
	to, _ := o.Batch.JobOf(last)
	sum := Credit(0)
	for layer := range o.Batch.Layers {
		low, err := o.before(layer, from)
		if err != nil {
			return 0, err
		}
		high, err := o.before(layer, to+1)
		if err != nil {
			return 0, err
		}
		sum += high - low
	}
	return sum, nil
}
