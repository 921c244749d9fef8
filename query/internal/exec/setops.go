package exec

import (
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Compound is several queries whose answers are joined from left to right.
type Compound struct {
	Arms    []Producer
	Ops     []syntax.SetOp // of the arm with the same number; the first has none
	Columns []tables.Column
	Outer   Slots
}

func (s *Compound) Shape() ([]tables.Column, Slots) { return s.Columns, s.Outer }

func (s *Compound) Steady() bool {
	for _, arm := range s.Arms {
		if !arm.Steady() {
			return false
		}
	}
	return true
}

func (s *Compound) Run(e *Env, emit func([]values.Value) error) error {
	return pastStop(s.upTo(len(s.Arms)-1, e, emit))
}

// upTo runs the first n arms. It passes on ErrStop.
func (s *Compound) upTo(n int, e *Env, emit func([]values.Value) error) error {
	if n == 0 {
		return through(s.Arms[0], e, emit)
	}
	if s.Ops[n] == syntax.UnionAll {
		if err := s.upTo(n-1, e, emit); err != nil {
			return err
		}
		return through(s.Arms[n], e, emit)
	}
	var seen, other values.Index
	once := func(row []values.Value) error {
		if _, fresh := seen.Put(row, 0); !fresh {
			return nil
		}
		if err := e.Hold(row, 0); err != nil {
			return err
		}
		return emit(row)
	}
	if s.Ops[n] == syntax.Union {
		if err := s.upTo(n-1, e, once); err != nil {
			return err
		}
		return through(s.Arms[n], e, once)
	}
	err := through(s.Arms[n], e, func(row []values.Value) error {
		other.Put(row, 0)
		return e.Hold(row, 0)
	})
	if err != nil {
		return err
	}
	return s.upTo(n-1, e, func(row []values.Value) error {
		if _, in := other.Get(row); in != (s.Ops[n] == syntax.Intersect) {
			return nil
		}
		return once(row)
	})
}

// through runs a producer and passes on ErrStop, which a producer does not return.
func through(p Producer, e *Env, emit func([]values.Value) error) error {
	stopped := false
	err := p.Run(e, func(row []values.Value) error {
		err := emit(row)
		stopped = stopped || err == ErrStop
		return err
	})
	if err == nil && stopped {
		return ErrStop
	}
	return err
}
