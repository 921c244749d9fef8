package locality

import (
	"cmp"
	"slices"
	"sort"
)

// Memory keeps the rows of a batch in memory, for simulations and comparisons. It returns
// copies, as a file does.
type Memory struct {
	blocks  []*JobBlock
	tasks   map[int]*TaskBlock
	hosts   map[uint32]*Host
	members map[uint32]*Member
	firsts  []int // of the ranges, in order
	cursors map[int]*Cursor
	longest []lengthKey // in the order of Longest
	backs   []int
	dues    []Due
}

type lengthKey struct {
	left  float64
	first int
}

func (k lengthKey) compare(other lengthKey) int {
	return cmp.Or(-cmp.Compare(k.left, other.left), cmp.Compare(k.first, other.first))
}

// NewMemory returns rows for one batch.
func NewMemory() *Memory {
	return &Memory{tasks: map[int]*TaskBlock{}, hosts: map[uint32]*Host{}, members: map[uint32]*Member{},
		cursors: map[int]*Cursor{}}
}

// Keep stores a block of a Maker.
func (r *Memory) Keep(b *JobBlock) error {
	r.blocks = append(r.blocks, b)
	return nil
}

// Jobs implements Rows, as do the methods that follow.
func (r *Memory) Jobs(block int) (*JobBlock, error) {
	if block < 0 || block >= len(r.blocks) {
		return nil, ErrCorrupt
	}
	return r.blocks[block], nil
}

func (r *Memory) Before(block int) ([]Credit, error) {
	b, err := r.Jobs(block)
	if err != nil {
		return nil, err
	}
	return b.Before, nil
}

func (r *Memory) Tasks(block int) (*TaskBlock, error) {
	if b := r.tasks[block]; b != nil {
		return b, nil
	}
	return &TaskBlock{First: block * BlockJobs}, nil
}

func (r *Memory) PutTasks(block int, t *TaskBlock) error {
	r.tasks[block] = t
	return nil
}

func (r *Memory) Host(n uint32) (*Host, error) {
	h := r.hosts[n]
	if h == nil {
		return nil, ErrCorrupt
	}
	c := *h
	return &c, nil
}

func (r *Memory) PutHost(h *Host) error {
	c := *h
	r.hosts[h.Number] = &c
	return nil
}

func (r *Memory) Member(n uint32) (*Member, error) {
	m := r.members[n]
	if m == nil {
		return nil, nil
	}
	c := *m
	c.Held, c.Live = slices.Clone(m.Held), slices.Clone(m.Live)
	return &c, nil
}

func (r *Memory) PutMember(m *Member) error {
	c := *m
	c.Held, c.Live = slices.Clone(m.Held), slices.Clone(m.Live)
	r.members[m.Host] = &c
	return nil
}

func (r *Memory) EachMember(fn func(*Member) error) error {
	for n := range uint32(len(r.hosts) + 1) {
		if m, _ := r.Member(n); m != nil {
			if err := fn(m); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Memory) CursorAt(slot int) (*Cursor, error) {
	i := sort.SearchInts(r.firsts, slot+1) - 1
	if i < 0 {
		return nil, ErrCorrupt
	}
	c := *r.cursors[r.firsts[i]]
	c.Gone = slices.Clone(c.Gone)
	return &c, nil
}

func (r *Memory) PutCursor(c *Cursor) error {
	old := r.cursors[c.First]
	if old == nil {
		r.firsts = slices.Insert(r.firsts, sort.SearchInts(r.firsts, c.First), c.First)
	} else if old.Waiting() > 0 {
		i, _ := slices.BinarySearchFunc(r.longest, lengthKey{old.TimeLeft(), old.First}, lengthKey.compare)
		r.longest = slices.Delete(r.longest, i, i+1)
	}
	kept := *c
	kept.Gone = slices.Clone(c.Gone)
	r.cursors[c.First] = &kept
	if c.Waiting() > 0 {
		k := lengthKey{c.TimeLeft(), c.First}
		i, _ := slices.BinarySearchFunc(r.longest, k, lengthKey.compare)
		r.longest = slices.Insert(r.longest, i, k)
	}
	return nil
}

func (r *Memory) Longest(fn func(*Cursor) (bool, error)) error {
	for _, k := range r.longest {
		c := *r.cursors[k.first]
		if more, err := fn(&c); err != nil || !more {
			return err
		}
	}
	return nil
}

func (r *Memory) PutBack(slot int) error {
	if i, found := slices.BinarySearch(r.backs, slot); !found {
		r.backs = slices.Insert(r.backs, i, slot)
	}
	return nil
}

func (r *Memory) TakeBack(slot int) error {
	i, found := slices.BinarySearch(r.backs, slot)
	if !found {
		return ErrCorrupt
	}
	r.backs = slices.Delete(r.backs, i, i+1)
	return nil
}

func (r *Memory) EachBack(first, last int, fn func(int) (bool, error)) error {
	i, _ := slices.BinarySearch(r.backs, first)
	for ; i < len(r.backs) && r.backs[i] <= last; i++ {
		if more, err := fn(r.backs[i]); err != nil || !more {
			return err
		}
	}
	return nil
}

func (r *Memory) PutDue(d Due) error {
	i, _ := slices.BinarySearchFunc(r.dues, d, compareDues)
	r.dues = slices.Insert(r.dues, i, d)
	return nil
}

func (r *Memory) TakeDue(d Due) error {
	i, found := slices.BinarySearchFunc(r.dues, d, compareDues)
	if !found {
		return ErrCorrupt
	}
	r.dues = slices.Delete(r.dues, i, i+1)
	return nil
}

func (r *Memory) EachDue(until int64, fn func(Due) (bool, error)) error {
	for _, d := range r.dues {
		if d.At > until {
			return nil
		}
		if more, err := fn(d); err != nil || !more {
			return err
		}
	}
	return nil
}
