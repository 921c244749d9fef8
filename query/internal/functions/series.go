package functions

import (
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Series is generate_series(from, to [, step]) of integers, times or durations. It includes both ends.
type Series struct{ Unit tables.Unit }

func (s Series) Columns() []tables.Column {
	return []tables.Column{{Name: "value", Type: values.IntegerAffinity, Unit: s.Unit, NotNull: true,
		Doc: "from the first to the last, step by step"}}
}

// Rows counts; there are none if an argument is NULL. A step of 0 counts as 1, as in SQLite.
func (s Series) Rows(args []values.Value) (tables.Cursor, error) {
	c := &seriesCursor{step: 1}
	for i, v := range args {
		if v.Kind() == values.Null {
			return tables.Nothing(), nil
		}
		*[...]*int64{&c.at, &c.to, &c.step}[i] = v.AsInt()
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

func (c *seriesCursor) Column(int) values.Value { return values.Int(c.at) }
func (c *seriesCursor) Err() error              { return nil }
