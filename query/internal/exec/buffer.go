package exec

import (
	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// buffer holds the rows of a source that is read many times.
type buffer struct {
	values []values.Value // all rows, one after the other
	width  int
	n      int
	index  values.Index
	next   []int   // for a hash: the next row with the same key, -1 at the end
	first  []int32 // by code: the first row, counted from 1
}

// bufferRow is a row of a buffer.
type bufferRow struct {
	values []values.Value
	place  []int
}

func (r *bufferRow) Column(i int) values.Value { return r.values[r.place[i]] }

// eachKept goes through the kept rows or, with a hash, those of the key.
func (st *Step) eachKept(e *Env, try func() error) error {
	if st.bufOf != e || !st.Fixed {
		if err := st.keep(e); err != nil {
			return err
		}
		st.bufOf = e
	}
	b := st.buffer
	row := &st.keptRow
	row.place = st.Place
	at, ok := 0, b.n > 0
	if st.Coded {
		code := int(e.Row[st.Key[0].Slot].(tables.Coded).Code(st.Key[0].Col))
		if ok = code < len(b.first) && b.first[code] > 0; ok {
			at = int(b.first[code]) - 1
		}
	} else if st.Method == HashJoin {
		if st.probe == nil {
			st.probe = make([]values.Value, len(st.Key))
		}
		key := st.probe
		for i := range st.Key {
			key[i] = st.Match[i].Apply(st.Key[i].Eval(e))
			if key[i].Kind() == values.Null {
				return e.Err
			}
		}
		at, ok = b.index.Get(key)
	}
	for ok {
		row.values = b.values[at*b.width : (at+1)*b.width]
		e.Row[st.Src.Slot] = row
		if err := e.Step(); err != nil {
			return err
		}
		if err := try(); err != nil {
			return err
		}
		if st.Method == HashJoin {
			at = b.next[at]
			ok = at >= 0
		} else {
			at++
			ok = at < b.n
		}
	}
	return e.Err
}

// keep reads the source's rows, as far as their columns are used.
func (st *Step) keep(e *Env) error {
	b := &buffer{width: len(st.Kept)}
	var last []int // by the first row of each key
	key := make([]values.Value, len(st.Mine))
	if n := st.rowsToKeep(); n > 0 {
		b.values = make([]values.Value, 0, n*b.width)
		if st.Method == HashJoin {
			b.next, last = make([]int, 0, n), make([]int, 0, n)
		}
		if st.Coded {
			b.first = make([]int32, n)
		}
	}
	st.buffer = b
	return st.source(e, func() error {
		row := e.Row[st.Src.Slot]
		for i := range st.Mine {
			if st.Coded {
				break
			}
			key[i] = st.Match[i].Apply(st.Mine[i].Eval(e))
			if key[i].Kind() == values.Null {
				return e.Err
			}
		}
		for _, col := range st.Kept {
			b.values = append(b.values, row.Column(col))
		}
		if st.Method == HashJoin {
			b.next, last = append(b.next, -1), append(last, b.n)
			if first, fresh := b.put(st, row, key); !fresh {
				b.next[last[first]] = b.n
				last[first] = b.n
			}
		}
		b.n++
		return e.Hold(b.values[len(b.values)-b.width:], functions.HeldJoin)
	})
}

// rowsToKeep returns the expected number of rows, or 0 if unknown.
func (st *Step) rowsToKeep() int {
	counted, ok := st.Src.Table.(tables.Counted)
	switch {
	case !ok || len(st.Filters) > 0 || st.Span != nil:
		return 0
	case st.Rows != nil:
		return int(st.Rows.GetCardinality())
	}
	return counted.Count()
}

// put finds the first row of a key, or makes the next one the first.
func (b *buffer) put(st *Step, row tables.Row, key []values.Value) (first int, fresh bool) {
	if !st.Coded {
		return b.index.Put(key, b.n)
	}
	code := int(row.(tables.Coded).Code(st.Mine[0].Col))
	for code >= len(b.first) {
		b.first = append(b.first, make([]int32, max(64, len(b.first)))...)
	}
	if b.first[code] > 0 {
		return int(b.first[code]) - 1, false
	}
	b.first[code] = int32(b.n) + 1
	return b.n, true
}
