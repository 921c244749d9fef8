package query

// buffer holds the rows of a source that is gone through many times.
type buffer struct {
	values []Value // of all rows, one after the other
	width  int
	n      int
	index  hashIndex
	next   []int   // for a hash: the next row of the same key, -1 at the end
	first  []int32 // by code: the first row, counted from 1
	at     int     // the row that is tried
	paired []bool  // of a right join: the rows that had a partner
}

// partner notes that the row at hand has one.
func (b *buffer) partner() { b.paired[b.at] = true }

// bufferRow is one of them.
type bufferRow struct {
	values []Value
	place  []int
}

func (r *bufferRow) Column(i int) Value { return r.values[r.place[i]] }

// eachKept goes through the rows kept, those of the key for a hash.
func (st *runStep) eachKept(e *env, try func() error) error {
	if st.bufOf != e || !st.fixed && !st.right {
		if err := st.keep(e); err != nil {
			return err
		}
		st.bufOf = e
	}
	b := st.buffer
	row := &st.keptRow
	row.place = st.place
	at, ok := 0, b.n > 0
	if st.coded {
		code := int(e.row[st.key[0].slot].(Coded).Code(st.key[0].col))
		if ok = code < len(b.first) && b.first[code] > 0; ok {
			at = int(b.first[code]) - 1
		}
	} else if st.method == hashJoin {
		if st.probe == nil {
			st.probe = make([]Value, len(st.key))
		}
		key := st.probe
		for i := range st.key {
			key[i] = st.match[i].apply(st.key[i].eval(e))
			if key[i].kind == Null {
				return e.err
			}
		}
		at, ok = b.index.get(key)
	}
	for ok {
		row.values = b.values[at*b.width : (at+1)*b.width]
		b.at = at
		e.row[st.src.slot] = row
		if err := e.step(); err != nil {
			return err
		}
		if err := try(); err != nil {
			return err
		}
		if st.method == hashJoin {
			at = b.next[at]
			ok = at >= 0
		} else {
			at++
			ok = at < b.n
		}
	}
	return e.err
}

// eachLeft goes through the rows kept that had no partner.
func (st *runStep) eachLeft(e *env, try func() error) error {
	if st.bufOf != e { // nothing was joined with them
		if err := st.keep(e); err != nil {
			return err
		}
		st.bufOf = e
	}
	b := st.buffer
	row := &st.keptRow
	row.place = st.place
	for at := range b.n {
		if b.paired[at] {
			continue
		}
		row.values = b.values[at*b.width : (at+1)*b.width]
		e.row[st.src.slot] = row
		if err := e.step(); err != nil {
			return err
		}
		if err := try(); err != nil {
			return err
		}
	}
	return e.err
}

// keep reads the source's rows, those columns that are looked at.
func (st *runStep) keep(e *env) error {
	b := &buffer{width: len(st.kept)}
	var last []int // of each key, by its first row
	key := make([]Value, len(st.mine))
	st.buffer = b
	return st.source(e, func() error {
		row := e.row[st.src.slot]
		for i := range st.mine {
			if st.coded {
				break
			}
			key[i] = st.match[i].apply(st.mine[i].eval(e))
			if key[i].kind == Null && !st.right {
				return e.err
			}
		}
		if st.right {
			b.paired = append(b.paired, false)
		}
		for _, col := range st.kept {
			b.values = append(b.values, row.Column(col))
		}
		if st.method == hashJoin {
			b.next, last = append(b.next, -1), append(last, b.n)
			if first, fresh := b.put(st, row, key); !fresh {
				b.next[last[first]] = b.n
				last[first] = b.n
			}
		}
		b.n++
		return e.hold(b.values[len(b.values)-b.width:])
	})
}

// put finds the first row of a key, or notes that the next one is.
func (b *buffer) put(st *runStep, row Row, key []Value) (first int, fresh bool) {
	if !st.coded {
		return b.index.put(key, b.n)
	}
	code := int(row.(Coded).Code(st.mine[0].col))
	for code >= len(b.first) {
		b.first = append(b.first, make([]int32, max(64, len(b.first)))...)
	}
	if b.first[code] > 0 {
		return int(b.first[code]) - 1, false
	}
	b.first[code] = int32(b.n) + 1
	return b.n, true
}
