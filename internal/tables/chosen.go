package tables

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// chosen iterates over the rows of a table with numbers as keys: all of them, or those that an
// index has found.
type chosen struct {
	*file.Cursor
	only roaring.IntPeekable // nil for all
}

// choose iterates over the rows with some numbers; nil means all.
func choose(c *file.Cursor, rows *roaring.Bitmap) chosen {
	if rows == nil {
		return chosen{Cursor: c}
	}
	return chosen{c, rows.Iterator()}
}

// next finds the next row. key makes a row's key from its number, and what is the name of the
// row in messages. If the index names a missing row, the error is an ErrDamaged.
func (c *chosen) next(key func(number uint32) []byte, what string) (bool, error) {
	if c.only == nil {
		return c.Next(), nil
	}
	if !c.only.HasNext() {
		return false, nil
	}
	number := c.only.Next()
	if k := key(number); c.Seek(k) && string(c.Key) == string(k) {
		return true, nil
	}
	if c.Err != nil {
		return false, c.Err
	}
	return false, fmt.Errorf("%w: %s %d has no row", row.ErrDamaged, what, number)
}
