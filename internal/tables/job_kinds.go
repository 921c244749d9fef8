package tables

import (
	"iter"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/subject"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// The file lists jobs by user, group, account, queue and class together. Each combination is a kind
// of jobs. The kinds of a user are adjacent. The kinds of an account are scattered, so the
// search skips from the first key of one kind to the first of the next.

// mostKinds is the most kinds to search in this way. With more, rows are read.
const mostKinds = 1 << 14

// jobKinds returns the existing kinds, or nil if there are too many.
func (c *Catalog) jobKinds() []subject.Names {
	if c.kinds != nil {
		return c.kinds
	}
	kinds := []subject.Names{}
	rows := c.src.Rows.Cursor(row.JobKinds)
	for ok := rows.Next(); ok; {
		k, _, err := row.DecodeJobKind(rows.Key)
		if c.fail(err); err != nil || len(kinds) == mostKinds {
			return nil
		}
		kinds = append(kinds, k)
		ok = rows.Seek(append(row.JobKindPrefix(k), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff))
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

// findKind finds the jobs of a user, an account, a queue or a class.
func (t *jobs) findKind(of subject.Kind, v values.Value) (*roaring.Bitmap, bool) {
	switch text := v.String(); {
	case v.Kind() != values.Text || text == "": // the column is NULL then
		return roaring.New(), true
	case of == subject.User:
		return t.c.listed(row.UserPrefix(text)), true
	}
	kinds := t.c.jobKinds()
	if kinds == nil {
		return nil, false
	}
	var parts []*roaring.Bitmap
	for _, k := range kinds {
		if k[of] == v.String() {
			parts = append(parts, t.c.listed(row.JobKindPrefix(k)))
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
			of := t.c.listed(row.JobKindPrefix(k))
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
	kind  subject.Names
	state row.JobState
}

func (p *jobPart) Column(i int) values.Value {
	if of := row.Payers.Named(p.t.columns[i].Name); of != 0 {
		return values.TextOrNull(p.kind[of])
	}
	return values.String(p.state.String())
}
