package exec

import (
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Where the columns that a step looks at are in memory its rows are not read: they are gone
// through in blocks, of which comparisons with constants leave those rows in one loop each.

// blockRows is how many rows a block has: what is made of them stays in the cache.
const blockRows = 4096

// blocks are the rows of a step whose columns are in memory.
type blocks struct {
	st     *Step
	of     *tables.Vectors
	only   []int32 // the positions of those that an index has found, with all not set
	all    bool
	loops  []Comparison              // that are decided in loops
	words  [][]bool                  // of those, what holds for each text
	others []func(*Env) values.Truth // the filters that are not
}

// blocks finds the columns that the step looks at; nil where they are not in memory.
func (st *Step) blocks() (*blocks, error) {
	table, ok := st.Src.Table.(tables.Vectored)
	if !ok || st.ByRow || len(st.Kept) == 0 || st.Span != nil {
		return nil, nil
	}
	read := st.Whole
	if st.Rows != nil {
		if counted, ok := table.(tables.Counted); ok && st.Rows.GetCardinality()*4 < uint64(counted.Count()) {
			read = false // the rows are few: they are read faster
		}
	}
	v, err := table.Vectors(st.Kept, read)
	if v == nil || err != nil {
		return nil, err
	}
	b := &blocks{st: st, of: v, all: st.Rows == nil}
	if !b.all {
		b.only = v.Positions(st.Rows)
	}
	for i, filter := range st.Filters {
		if !b.loop(st.Simple[i]) {
			b.others = append(b.others, filter)
		}
	}
	if st.top != nil {
		st.top.bound(b)
	}
	return b, nil
}

// loop takes a condition that can be decided in loops.
func (b *blocks) loop(simple []Comparison) bool {
	for i := range simple {
		if !simple[i].fits(b.of.Columns[simple[i].Column]) {
			return false
		}
	}
	for _, c := range simple {
		b.loops, b.words = append(b.loops, c), append(b.words, c.words(b.of.Columns[c.Column]))
	}
	return simple != nil
}

// each hands on the rows that the loops have left, block by block: their positions, which
// last until it returns. Without a run nothing is counted.
func (b *blocks) each(e *Env, fn func(rows []int32) error) error {
	total := b.of.N
	if !b.all {
		total = len(b.only)
	}
	block := make([]int32, min(total, blockRows))
	for from := 0; from < total; from += blockRows {
		rows := block[:min(blockRows, total-from)]
		for i := range rows {
			if rows[i] = int32(from + i); !b.all {
				rows[i] = b.only[from+i]
			}
		}
		if e != nil {
			if err := e.Steps(int64(len(rows))); err != nil {
				return err
			}
		}
		for i := range b.loops {
			c := &b.loops[i]
			rows = c.keep(b.of.Columns[c.Column], rows, b.words[i])
		}
		if len(rows) == 0 {
			continue
		}
		if err := fn(rows); err != nil {
			return err
		}
	}
	if e == nil {
		return nil
	}
	return e.Err
}

// rows goes through the rows that pass all filters.
func (b *blocks) rows(e *Env, try func() error) error {
	row := &tables.VectorRow{Of: b.of}
	return b.each(e, func(rows []int32) error {
		e.Row[b.st.Src.Slot] = row
		for _, at := range rows {
			row.At = int(at)
			if len(b.others) > 0 && !all(b.others, e) {
				if e.Err != nil {
					return e.Err
				}
				continue
			}
			if err := try(); err != nil {
				return err
			}
		}
		return nil
	})
}
