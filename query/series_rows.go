package query

// series is generate_series(from, to [, step]) of integers, times or durations; both
// ends are in it.
type series struct{ unit Unit }

func (s series) Columns() []Column {
	return []Column{{Name: "value", Type: IntegerAffinity, Unit: s.unit, NotNull: true, Doc: "from the first to the last, step by step"}}
}

// Rows counts; nothing for NULL. A step of nothing is one of 1, as in SQLite.
func (s series) Rows(args []Value) (Cursor, error) {
	c := &seriesCursor{step: 1}
	for i, v := range args {
		if v.kind == Null {
			return nothing(), nil
		}
		*[...]*int64{&c.at, &c.to, &c.step}[i] = v.asInt()
	}
	if c.step == 0 {
		c.step = 1
	}
	return c, nil
}

type seriesCursor struct {
	at, to, step int64
	begun, over  bool
}

func (c *seriesCursor) Next() bool {
	if c.begun {
		next := c.at + c.step
		c.over = c.over || (next > c.at) != (c.step > 0)
		c.at = next
	}
	c.begun = true
	return !c.over && (c.step > 0 && c.at <= c.to || c.step < 0 && c.at >= c.to)
}

func (c *seriesCursor) Column(int) Value { return Int(c.at) }
func (c *seriesCursor) Err() error       { return nil }
