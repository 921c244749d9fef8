package check

import (
	"maps"
	"slices"

	"github.com/placectl/placectl/internal/row"
)

// Derived is what the derived tables of a store should hold.
type Derived struct {
	// Blamed are rows that contradict others: without them the others may be right. If there
	// are any, the rest is of no use.
	Blamed []Row

	d *recomputed
}

// Row names a row.
type Row struct {
	Table row.Table
	Key   string
}

// Derive recomputes the derived tables of a store in which they are empty. It reports how rows
// contradict each other.
func Derive(s *Store, report func(finding string)) (*Derived, error) {
	d, err := NewFindings(report).derive(s)
	if err != nil {
		return nil, err
	}
	return &Derived{d.blamed, d}, nil
}

// Each calls fn for the rows, table by table in the order of their keys. Then it calls fn for
// the corrected rows of nodes that name a wrong bucket, and of payloads that count a wrong
// number of jobs.
func (x *Derived) Each(fn func(t row.Table, key, payload []byte) error) error {
	for t := range row.TableCount {
		if !t.Derived() {
			continue
		}
		if err := x.d.each(t, func(key, payload []byte) error { return fn(t, key, payload) }); err != nil {
			return err
		}
	}
	for _, n := range x.d.moved {
		if err := fn(row.Nodes, row.Key32(n.Number), row.EncodeNode(n)); err != nil {
			return err
		}
	}
	for _, p := range x.d.recounted {
		if p.payload == nil {
			continue // another check reports that it must be removed
		}
		if err := fn(row.Payloads, p.key, p.payload); err != nil {
			return err
		}
	}
	return nil
}

// Buckets returns the smallest bucket number that is not in use.
func (x *Derived) Buckets() uint32 { return x.d.buckets }

// each calls fn for the rows that a derived table should hold.
func (d *recomputed) each(t row.Table, fn func(key, payload []byte) error) error {
	if lists := d.lists[t]; lists != nil {
		return lists.each(func(key []byte) error { return fn(key, row.EncodeMark()) })
	}
	if t == row.Ended {
		for _, key := range d.inOrder() {
			if err := fn(key[:], row.EncodeMark()); err != nil {
				return err
			}
		}
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(d.rows[t])) {
		if err := fn([]byte(key), d.rows[t][key]); err != nil {
			return err
		}
	}
	return nil
}
