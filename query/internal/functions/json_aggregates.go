package functions

import (
	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/values"
)

// addJSON gathers an array, or an object with args as names.
func addJSON(object bool) func(*Budget, *State, values.Value, []values.Value, int64) {
	return func(e *Budget, s *State, v values.Value, args []values.Value, _ int64) {
		m := s.remember()
		before := len(m.json)
		if m.json = append(m.json, ','); object {
			if v.Kind() == values.Null {
				m.json = m.json[:before]
				return
			}
			m.json = append(appendJSONText(m.json, v.String()), ':')
			v = args[1]
		}
		m.json = AppendJSON(m.json, v, s.Json)
		if len(m.json) > maxString {
			e.Fail(&fault.LimitError{What: "bytes in one text", Limit: maxString})
		}
	}
}

func jsonResult(open, end string) func(*Budget, *State) values.Value {
	return func(_ *Budget, s *State) values.Value {
		if s.more == nil || len(s.more.json) == 0 {
			return values.String(open + end)
		}
		return values.String(open + string(s.more.json[1:]) + end)
	}
}
