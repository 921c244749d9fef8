package query

// addJSON gathers an array; args beside the value is its name in an object.
func addJSON(object bool) func(*budget, *state, Value, []Value, int64) {
	return func(e *budget, s *state, v Value, args []Value, _ int64) {
		m := s.remember()
		before := len(m.json)
		if m.json = append(m.json, ','); object {
			if v.kind == Null {
				m.json = m.json[:before]
				return
			}
			m.json = append(appendJSONText(m.json, v.String()), ':')
			v = args[1]
		}
		m.json = appendJSON(m.json, v, s.json)
		if len(m.json) > maxString {
			e.fail(&LimitError{"bytes in one text", maxString})
		}
	}
}

func jsonResult(open, end string) func(*budget, *state) Value {
	return func(_ *budget, s *state) Value {
		if s.more == nil || len(s.more.json) == 0 {
			return String(open + end)
		}
		return String(open + string(s.more.json[1:]) + end)
	}
}
