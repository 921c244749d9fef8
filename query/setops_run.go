package query

// compound is queries whose answers are joined, from left to right.
type compound struct {
	arms    []producer
	ops     []SetOp // of the arm of the same number; that of the first means nothing
	columns []Column
	outer   slots
}

func (s *compound) shape() ([]Column, slots) { return s.columns, s.outer }

func (s *compound) steady() bool {
	for _, arm := range s.arms {
		if !arm.steady() {
			return false
		}
	}
	return true
}

func (s *compound) run(e *env, emit func([]Value) error) error {
	return pastStop(s.upTo(len(s.arms)-1, e, emit))
}

// upTo runs the first arms; errStop is handed on.
func (s *compound) upTo(n int, e *env, emit func([]Value) error) error {
	if n == 0 {
		return through(s.arms[0], e, emit)
	}
	if s.ops[n] == UnionAll {
		if err := s.upTo(n-1, e, emit); err != nil {
			return err
		}
		return through(s.arms[n], e, emit)
	}
	var seen, other hashIndex
	once := func(row []Value) error {
		if _, fresh := seen.put(row, 0); !fresh {
			return nil
		}
		if err := e.hold(row); err != nil {
			return err
		}
		return emit(row)
	}
	if s.ops[n] == Union {
		if err := s.upTo(n-1, e, once); err != nil {
			return err
		}
		return through(s.arms[n], e, once)
	}
	err := through(s.arms[n], e, func(row []Value) error {
		other.put(row, 0)
		return e.hold(row)
	})
	if err != nil {
		return err
	}
	return s.upTo(n-1, e, func(row []Value) error {
		if _, in := other.get(row); in != (s.ops[n] == Intersect) {
			return nil
		}
		return once(row)
	})
}

// through runs a producer and hands errStop on, which it keeps to itself.
func through(p producer, e *env, emit func([]Value) error) error {
	stopped := false
	err := p.run(e, func(row []Value) error {
		err := emit(row)
		stopped = stopped || err == errStop
		return err
	})
	if err == nil && stopped {
		return errStop
	}
	return err
}
