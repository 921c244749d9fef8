package tables

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/query/values"
)

// Memory is a table in memory.
type Memory struct {
	Cols []Column
	Rows [][]values.Value
}

// Columns describes the columns.
func (m *Memory) Columns() []Column { return m.Cols }

// Count returns the number of rows.
func (m *Memory) Count() int { return len(m.Rows) }

// Scan goes through the rows, numbered from 0.
func (m *Memory) Scan(rows *roaring.Bitmap) Cursor {
	if rows == nil {
		return &memoryCursor{rows: m.Rows, at: -1}
	}
	c := &memoryCursor{at: -1}
	for it := rows.Iterator(); it.HasNext(); {
		c.rows = append(c.rows, m.Rows[it.Next()])
	}
	return c
}

type memoryCursor struct {
	rows [][]values.Value
	at   int
}

func (c *memoryCursor) Next() bool                { c.at++; return c.at < len(c.rows) }
func (c *memoryCursor) Column(i int) values.Value { return c.rows[c.at][i] }
func (c *memoryCursor) Err() error                { return nil }

// Nothing returns a cursor without rows.
func Nothing() Cursor { return &memoryCursor{at: -1} }
