package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// An op is a line of a stream. Span ids are renumbered from 0 in order, so that a replay needs no map.
type op struct {
	kind    byte
	id      int
	a, b, c int64
}

type phase struct {
	name string
	ops  []op
}

type stream struct {
	total, horizon int64
	ids            int
	phases         []phase
}

// arity is the number of arguments of each operation.
var arity = map[byte]int{'A': 4, 'R': 1, 'Q': 3, 'N': 0, 'E': 3, 'T': 1, 'D': 3, 'M': 2}

func parse(r io.Reader) (*stream, error) {
	sc := bufio.NewScanner(r)
	st := &stream{phases: []phase{{name: "-"}}}
	ids := map[int64]int{}
	for line := 1; sc.Scan(); line++ {
		f := strings.Fields(sc.Text())
		if err := st.line(f, line == 1, ids); err != nil {
			return nil, fmt.Errorf("line %d: %w: %q", line, err, sc.Text())
		}
	}
	if st.horizon == 0 && sc.Err() == nil {
		return nil, errors.New("no stream: want a first line TOTAL HORIZON")
	}
	st.ids = len(ids)
	return st, sc.Err()
}

func (st *stream) line(f []string, head bool, ids map[int64]int) error {
	if !head && len(f) == 2 && f[0] == "P" {
		st.phases = append(st.phases, phase{name: f[1]})
		return nil
	}
	letter := byte(0)
	want := 2
	if !head {
		if len(f) == 0 || len(f[0]) != 1 {
			return fmt.Errorf("no operation")
		}
		letter = f[0][0]
		var ok bool
		if want, ok = arity[letter]; !ok {
			return fmt.Errorf("unknown operation")
		}
		f = f[1:]
	}
	if len(f) != want {
		return fmt.Errorf("%d numbers, want %d", len(f), want)
	}
	var v [4]int64
	for i, s := range f {
		var err error
		if v[i], err = strconv.ParseInt(s, 10, 64); err != nil {
			return err
		}
	}
	if head {
		st.total, st.horizon = v[0], v[1]
		return nil
	}
	st.append(letter, v, ids)
	return nil
}

func (st *stream) append(letter byte, v [4]int64, ids map[int64]int) {
	o := op{kind: letter, a: v[0], b: v[1], c: v[2]}
	if letter == 'A' || letter == 'R' {
		id, ok := ids[v[0]]
		if !ok {
			id = len(ids)
			ids[v[0]] = id
		}
		o = op{kind: letter, id: id, a: v[1], b: v[2], c: v[3]}
	}
	p := &st.phases[len(st.phases)-1]
	p.ops = append(p.ops, o)
}
