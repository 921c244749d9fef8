package functions

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/values"
)

func concat(e *Budget, s *State, v values.Value, args []values.Value, _ int64) {
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
		e.Fail(&fault.LimitError{What: "bytes in one text", Limit: maxString})
	}
}

func concatResult(_ *Budget, s *State) values.Value {
	if !s.started {
		return values.Value{}
	}
	return values.String(s.text.String())
}

func addName(e *Budget, s *State, v values.Value, _ []values.Value, _ int64) {
	s.names = append(s.names, v.String())
	s.N += int64(len(v.Text())) + 16
	if s.N > e.Limits.Bytes {
		e.Fail(&fault.LimitError{What: "bytes held or answered", Limit: e.Limits.Bytes})
	}
}

// namesResult folds names into node[1-9].
func namesResult(_ *Budget, s *State) values.Value {
	if len(s.names) == 0 {
		return values.Value{}
	}
	return values.String(index.FoldNodeList(s.names))
}
