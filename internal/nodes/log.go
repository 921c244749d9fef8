package nodes

import (
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// Log gathers a transaction's changes of nodes. The zero value of its unexported fields works.
// A transaction that changes no node pays nothing.
type Log struct {
	Rows *file.Recorder
	Now  *int64

	added *roaring.Bitmap
	was   map[uint32]*index.Node // as they were when the transaction began
}

// Added records a new node.
func (l *Log) Added(number uint32) {
	if l.added == nil {
		l.added = roaring.New()
	}
	l.added.Add(number)
}

// Changes records a node before it is changed.
func (l *Log) Changes(n *index.Node) {
	if l.was == nil {
		l.was = make(map[uint32]*index.Node)
	}
	if l.was[n.Number] == nil && (l.added == nil || !l.added.Contains(n.Number)) {
		was := *n
		l.was[n.Number] = &was
	}
}

// Removes records a node before it is removed.
func (l *Log) Removes(n *index.Node) {
	if l.added == nil || !l.added.CheckedRemove(n.Number) {
		l.Changes(n)
	}
}

// Flush writes the gathered changes.
func (l *Log) Flush() error {
	if l.added == nil && l.was == nil {
		return nil
	}
	var changes []*row.NodePast // sorted by their first nodes
	alike := make(map[string]*row.NodePast)
	for _, number := range slices.Sorted(maps.Keys(l.was)) {
		p, err := l.change(number)
		if err != nil {
			return err
		}
		if p.Parts == 0 {
			continue
		}
		like := string(row.NodePastRow.Encode(p))
		if alike[like] == nil {
			alike[like] = p
			changes = append(changes, p)
		}
		alike[like].Nodes = append(alike[like].Nodes, number)
	}
	if l.added != nil && !l.added.IsEmpty() {
		changes = append(changes, &row.NodePast{Parts: row.PartAbsent, Nodes: l.added.ToArray()})
	}
	l.added, l.was = nil, nil
	next := uint64(0)
	if last, err := l.Rows.Last(row.NodePasts); err != nil {
		return err
	} else if len(last) == 16 {
		if at, number := row.SplitTimeKey(last); at == *l.Now {
			next = number + 1
		}
	}
	for i, p := range changes {
		key := row.TimeKey(*l.Now, next+uint64(i))
		if err := l.Rows.Put(row.NodePasts, key, row.NodePastRow.Encode(p)); err != nil {
			return err
		}
	}
	return nil
}

// change returns what has changed of a node that existed.
func (l *Log) change(number uint32) (*row.NodePast, error) {
	was := l.was[number]
	payload, err := l.Rows.Get(row.Nodes, row.Key32(number))
	if err != nil {
		return nil, err
	}
	if payload == nil {
		p := &row.NodePast{Parts: row.PartWhole, Was: *was}
		p.Was.Bucket, p.Was.Load, p.Was.Lessened = 0, 0, false
		return p, nil
	}
	is, err := row.DecodeNode(row.Key32(number), payload)
	if err != nil {
		return nil, err
	}
	return Difference(was, is), nil
}
