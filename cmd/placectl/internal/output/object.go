package output

// Objects inside answers keep the promises of answers: each key is present, and null if it has no
// value; instants are RFC 3339 in UTC with whole seconds, and durations are seconds.

// Objects are things within an answer, with the fields of their noun as keys.
type Objects struct {
	Columns []Column
	Rows    [][]any
	One     bool // an object, not a list
}

// ObjectsOf returns n things as a list of objects. The fields take their indices.
func ObjectsOf(f Fields[int], n int) Objects {
	o := Objects{Columns: f.Columns()}
	for i := range n {
		row := make([]any, len(f))
		for k := range f {
			row[k] = f[k].Value(i)
		}
		o.Rows = append(o.Rows, row)
	}
	return o
}

// MarshalJSON writes values as answers write them.
func (o Objects) MarshalJSON() (b []byte, err error) {
	keys := jsonKeys(o.Columns)
	for i, row := range o.Rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendJSONRow(append(b, '{'), keys, o.Columns, row), '}')
	}
	if o.One {
		return b, nil
	}
	return append(append([]byte{'['}, b...), ']'), nil
}
