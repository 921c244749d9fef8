//go:build etcd

package etcd

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/placectl/placectl/store/internal/replica"
)

// How much is read at once. A replica is usually a little behind: the first page comes with
// everything else, and others are read only if there are more entries.
const (
	firstPage = 100
	nextPage  = 500
	// mostBehind limits a Tail, in bytes of entries; a replica further behind fetches the snapshot,
	// which is shorter.
	mostBehind = 8 << 20
)

// errMoved means that entries were trimmed between two pages.
var errMoved = errors.New("the log was trimmed meanwhile")

// tailRanges is the number of operations of tailReads.
const tailRanges = 6

// tailReads returns the operations that read the state of the log, and the entries after a
// position.
func (d *driver) tailReads(at uint64) []operation {
	from, end := d.keys.entries(at + 1)
	line, lineEnd := d.keys.line()
	return []operation{
		reading(ranged{Key: d.keys.meta()}),
		reading(ranged{Key: d.keys.head()}),
		reading(ranged{Key: d.keys.first()}),
		reading(ranged{Key: d.keys.snap()}),
		reading(ranged{Key: from, End: end, Limit: firstPage}),
		reading(ranged{Key: line, End: lineEnd, KeysOnly: true, Order: "ASCEND", By: targetCreated, Limit: 1}),
	}
}

// described is the result of these operations, without the entries.
type described struct {
	ends    bool // it ends at the requested position; then only the log's id is known
	tail    replica.Tail
	newest  newest
	snapRev int64 // when snap was put
	page    rangedAnswer
	line    int64 // when the first in the line came; 0 if the line is empty
}

func (d *driver) describe(a transactionAnswer) (s described, err error) {
	meta := a.ranges(0).value()
	if meta == nil {
		return s, replica.ErrNoLog
	}
	if s.tail.Log, err = decodeMeta(meta); err != nil {
		return s, err
	}
	d.cluster.CompareAndSwap(0, a.Header.Cluster)
	if s.ends = len(a.Answers) == 1; s.ends {
		return s, nil
	}
	var ok bool
	if s.tail.Head, ok = replica.ParsePosition(a.ranges(1).value()); !ok {
		return s, fmt.Errorf("head: %w", errForeign)
	}
	if s.tail.First, err = decodeFirst(a.ranges(2).value()); err != nil {
		return s, err
	}
	if s.newest, err = decodeNewest(a.ranges(3).value()); err != nil {
		return s, err
	}
	s.tail.Snapshot, s.tail.SnapshotBytes = s.newest.at, int64(s.newest.bytes)
	s.snapRev = a.ranges(3).Pairs[0].Changed
	s.page = a.ranges(4)
	if in := a.ranges(5); len(in.Pairs) > 0 {
		s.line = in.Pairs[0].Created
	}
	return s, nil
}

// look reads the state of the log, and the first page after a position.
func (d *driver) look(ctx context.Context, at uint64) (described, error) {
	return d.lookBy(ctx, transaction{Then: d.tailReads(at)})
}

// lookBy is look with a transaction that reads the state of the log, or only its id.
func (d *driver) lookBy(ctx context.Context, ask transaction) (described, error) {
	for {
		var a transactionAnswer
		if err := d.read(ctx, "/v3/kv/txn", ask, &a); err != nil {
			return described{}, d.explain(err)
		}
		s, err := d.describe(a)
		if errors.Is(err, replica.ErrNoLog) {
			if err = d.elsewhere(ctx); err == nil {
				continue
			}
		}
		return s, err
	}
}

// After reads the entries after a position. Usually there are none. So it compares head with
// the position, and reads the rest only if they differ, in the same step.
func (d *driver) After(ctx context.Context, at replica.Position) (*replica.Tail, error) {
	ask := transaction{
		If:   []comparison{valueIs(d.keys.head(), at.Bytes())},
		Then: []operation{reading(ranged{Key: d.keys.meta()})},
		Else: d.tailReads(at.N),
	}
	for {
		s, err := d.lookBy(ctx, ask)
		if err != nil {
			return nil, err
		}
		if s.ends {
			return &replica.Tail{Log: s.tail.Log, Head: at}, nil
		}
		t, err := d.follow(ctx, at, s)
		if !errors.Is(err, errMoved) {
			return t, err
		}
	}
}

// follow reads the entries after a position. Their first page has already been read.
func (d *driver) follow(ctx context.Context, at replica.Position, s described) (*replica.Tail, error) {
	t := &s.tail
	if at.N+1 < t.First || t.Head.N <= at.N {
		return t, nil
	}
	page, total := s.page, 0
	for n := at.N + 1; ; {
		for _, p := range page.Pairs {
			if !bytes.Equal(p.Key, d.keys.entry(n)) {
				return nil, d.hole(ctx, n)
			}
			entry, err := d.whole(ctx, n, p.Value)
			if err != nil {
				return nil, err
			}
			if total += len(entry); total > mostBehind && len(t.Entries) > 0 {
				return t, nil
			}
			t.Entries = append(t.Entries, entry)
			if n == t.Head.N || len(t.Entries) == replica.MostEntries {
				return t, nil
			}
			n++
		}
		if len(page.Pairs) == 0 {
			return nil, d.hole(ctx, n)
		}
		from, end := d.keys.entries(n)
		page = rangedAnswer{}
		if err := d.read(ctx, "/v3/kv/range", ranged{Key: from, End: end, Limit: nextPage}, &page); err != nil {
			return nil, d.explain(err)
		}
	}
}

// hole returns the error for a missing entry n.
func (d *driver) hole(ctx context.Context, n uint64) error {
	s, err := d.look(ctx, n)
	switch {
	case err != nil:
		return err
	case n < s.tail.First:
		return errMoved
	}
	return fmt.Errorf("entry %d is missing, though the log begins with %d and ends with %d: another program "+
		"has deleted it", n, s.tail.First, s.tail.Head.N)
}

// whole returns the entry of a value, which may be a stub.
func (d *driver) whole(ctx context.Context, n uint64, value []byte) ([]byte, error) {
	s, ok := decodeStub(value)
	if !ok {
		return value, nil
	}
	entry, err := d.gather(ctx, d.keys.parts(n, s.id), int(s.parts), s.bytes)
	if err != nil {
		return nil, err
	}
	if entry == nil || idOf(entry) != s.id {
		return nil, d.partless(ctx, n)
	}
	return entry, nil
}

// partless returns the error for missing parts of entry n.
func (d *driver) partless(ctx context.Context, n uint64) error {
	err := d.hole(ctx, n)
	if errors.Is(err, errMoved) {
		return err
	}
	return fmt.Errorf("parts of entry %d are missing: another program has deleted them", n)
}
