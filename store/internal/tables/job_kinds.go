package tables

import (
	"iter"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
	"github.com/placectl/placectl/store/internal/row"
)

// The file lists jobs by user, account, queue and class together. Each combination is a kind
// of jobs. The kinds of a user are adjacent. The kinds of an account are scattered, so the
// search skips from the first key of one kind to the first of the next.

// mostKinds is the most kinds to search in this way. With more, rows are read.
const mostKinds = 1 << 14

// jobKinds returns the existing kinds, or nil if there are too many.
func (c *Catalog) jobKinds() []row.JobKind {
	if c.kinds != nil {
		return c.kinds
	}
	kinds := []row.JobKind{}
	rows := c.src.Rows.Cursor(row.JobKinds)
	for ok := rows.Next(); ok; {
		k, _, err := row.DecodeJobKind(rows.Key)
		if c.fail(err); err != nil || len(kinds) == mostKinds {
			return nil
		}
		kinds = append(kinds, k)
		ok = rows.Seek(append(k.Prefix(), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff))
	}
	if c.fail(rows.Err); rows.Err != nil {
		return nil
	}
	c.kinds = kinds
	return kinds
}

// listed returns the jobs whose keys in the list have a prefix.
func (c *Catalog) listed(prefix []byte) *roaring.Bitmap {
	out := roaring.New()
	c.fail(c.src.Rows.Each(row.JobKinds, prefix, func(key, _ []byte) (bool, error) {
		_, id, err := row.DecodeJobKind(key)
		out.Add(uint32(id))
		return true, err
	}))
	return out
}

// kindOf returns a column of a kind.
func kindOf(k row.JobKind, column string) (text string, ok bool) {
	switch column {
	case "user":
		return k.User, true
	case "account":
		return k.Account, true
	case "queue":
		return k.Queue, true
	case "class":
		return k.Class, true
	}
	return "", false
}

// findKind finds the jobs of a user, an account, a queue or a class.
func (t *jobs) findKind(column string, v values.Value) (*roaring.Bitmap, bool) {
	switch text := v.String(); {
	case v.Kind() != values.Text || text == "": // the column is NULL then
		return roaring.New(), true
	case column == "user":
		return t.c.listed(row.UserPrefix(text)), true
	}
	kinds := t.c.jobKinds()
	if kinds == nil {
		return nil, false
	}
	var parts []*roaring.Bitmap
	for _, k := range kinds {
		if is, _ := kindOf(k, column); is == v.String() {
			parts = append(parts, t.c.listed(k.Prefix()))
		}
	}
	return roaring.FastOr(parts...), true
}

// splitKinds splits by kind, and by state if byState is true.
func (t *jobs) splitKinds(byState bool) (iter.Seq2[tables.Row, *roaring.Bitmap], bool) {
	kinds := t.c.jobKinds()
	if kinds == nil {
		return nil, false
	}
	return func(yield func(tables.Row, *roaring.Bitmap) bool) {
		var states []*roaring.Bitmap
		for _, s := range row.AllJobStates() {
			if byState {
				states = append(states, t.inState(s))
			}
		}
		for _, k := range kinds {
			of := t.c.listed(k.Prefix())
			if !byState {
				if !yield(&jobPart{t: t, kind: k}, of) {
					return
				}
				continue
			}
			for i, s := range row.AllJobStates() {
				if both := roaring.And(of, states[i]); !both.IsEmpty() && !yield(&jobPart{t, k, s}, both) {
					return
				}
			}
		}
	}, true
}

// jobPart holds the values shared by the jobs of a kind and a state.
type jobPart struct {
	t     *jobs
	kind  row.JobKind
	state row.JobState
}

func (p *jobPart) Column(i int) values.Value {
	if text, ok := kindOf(p.kind, p.t.columns[i].Name); ok {
		return values.TextOrNull(text)
	}
	return values.String(p.state.String())
}
