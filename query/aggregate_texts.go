package query

import (
	"github.com/placectl/placectl/index"
)

func concat(e *budget, s *state, v Value, args []Value, _ int64) {
	if s.started {
		separator := ","
		if len(args) == 2 {
			separator = args[1].String()
		}
		s.text.WriteString(separator)
	}
	s.started = true
	s.text.WriteString(v.String())
	if s.text.Len() > maxString {
		e.fail(&LimitError{"bytes in one text", maxString})
	}
}

func concatResult(_ *budget, s *state) Value {
	if !s.started {
		return Value{}
	}
	return String(s.text.String())
}

func addName(e *budget, s *state, v Value, _ []Value, _ int64) {
	s.names = append(s.names, v.String())
	s.n += int64(len(v.str)) + 16
	if s.n > e.limits.Bytes {
		e.fail(&LimitError{"bytes held or answered", e.limits.Bytes})
	}
}

// namesResult folds names into node[1-9].
func namesResult(_ *budget, s *state) Value {
	if len(s.names) == 0 {
		return Value{}
	}
	return String(index.FoldNodeList(s.names))
}
