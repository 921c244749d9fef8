//go:build etcd

package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/placectl/placectl/store/internal/replica"
)

// unsurePause is the pause before ErrLost is returned for an entry that the line has refused
// while a copy of it may be under way, because the caller retries at once.
const unsurePause = 20 * time.Millisecond

// Append puts an entry after a position, see replica.Log.
func (d *driver) Append(ctx context.Context, at replica.Position, entry []byte, where replica.Place) (
	*replica.Tail, error) {
	if len(entry) == 0 || entry[0] == inParts {
		return nil, fmt.Errorf("an entry begins with its version, and not with %q", entry[:min(len(entry), 1)])
	}
	id := idOf(entry)
	mine, _ := where.(*place)
	for try := 0; ; try++ {
		value, parts, err := d.depositEntry(ctx, at.N+1, id, entry)
		if err != nil {
			return nil, d.lostBefore(id, err)
		}
		var a transactionAnswer
		err = d.call(ctx, "/v3/kv/txn", d.appending(at, entry, value, parts, mine), &a)
		copies := errors.Is(err, errCopies)
		if r := new(refusal); errors.As(err, &r) {
			d.forget(id)
			if parts != nil && r.keyMissing() && !copies && try == 0 {
				continue // the parts were deleted with their lease
			}
			if copies {
				return nil, d.lose(id, r)
			}
			return nil, d.lostBefore(id, d.explain(r))
		}
		switch {
		case errors.Is(err, replica.ErrLost):
			return nil, d.lose(id, cause(err))
		case err != nil && !copies:
			return nil, d.lostBefore(id, err)
		case a.Succeeded:
			d.settle(id)
			if mine != nil {
				mine.given()
			}
			return nil, nil
		}
		s, err := d.describe(a)
		if errors.Is(err, replica.ErrNoLog) {
			if err = d.elsewhere(ctx); err == nil {
				d.forget(id) // its parts went there, too
				continue
			}
		}
		if err != nil {
			return nil, d.lostBefore(id, err)
		}
		return d.refused(ctx, at, id, s, mine, copies)
	}
}

// appending returns the transaction that puts an entry.
func (d *driver) appending(at replica.Position, entry, value []byte, parts *deposit, mine *place) transaction {
	line, lineEnd := d.keys.line()
	t := transaction{
		If: []comparison{valueIs(d.keys.head(), at.Bytes())},
		Then: []operation{
			putting(d.keys.head(), at.After(entry).Bytes()),
			putting(d.keys.entry(at.N+1), value),
		},
		Else: d.tailReads(at.N),
	}
	if parts != nil {
		t.Then = append(t.Then, counted(parts.keys)...)
	}
	if mine == nil {
		t.If = append(t.If, absent(line, lineEnd))
	} else {
		t.If = append(t.If, noneBefore(line, lineEnd, mine.created))
		t.Then = append(t.Then, deleting(mine.key, nil))
	}
	return t
}

// refused returns the result for an entry that was not put.
func (d *driver) refused(ctx context.Context, at replica.Position, id [16]byte, s described, mine *place, copies bool) (
	*replica.Tail, error) {
	if s.tail.Head == at && (copies || d.isUnsure(id)) {
		select { // head has not moved: a copy may still get through
		case <-ctx.Done():
		case <-time.After(unsurePause):
		}
		return nil, d.lose(id, errCopies)
	}
	if s.tail.First > at.N+1 && copies && !d.isUnsure(id) {
		// An earlier copy may have put the entry, and it may have been trimmed since. So the
		// outcome is unknown.
		return nil, d.lose(id, errCopies)
	}
	s.tail.Waiting = s.tail.Head == at || s.line != 0 && (mine == nil || s.line < mine.created)
	t, err := d.follow(ctx, at, s)
	if errors.Is(err, errMoved) {
		t, err = d.After(ctx, at)
	}
	if err != nil {
		return nil, d.lostBefore(id, err)
	}
	if parts := d.deposited(id); parts != nil {
		_ = d.revoke(ctx, parts.lease) // if that fails, it expires
	}
	d.settle(id)
	return t, nil
}

// depositEntry puts an entry that is too long in parts. value is the value for log/<n>.
func (d *driver) depositEntry(ctx context.Context, n uint64, id [16]byte, entry []byte) (value []byte, parts *deposit,
	err error) {
	if len(entry) <= pieceBytes {
		return entry, nil, nil
	}
	list := pieces(entry)
	if len(list) > mostPieces {
		return nil, nil, fmt.Errorf("%w: the change has %d MiB, and at most %d MiB fit: split it", replica.ErrFull,
			len(list), mostPieces)
	}
	value = stub{id, uint32(len(list)), uint64(len(entry))}.encode()
	if parts = d.deposited(id); parts != nil {
		if err := d.keep(ctx, parts); err == nil {
			return value, parts, nil
		}
		d.forget(id)
	}
	if parts, err = d.deposit(ctx, d.keys.parts(n, id), list); err != nil {
		return nil, nil, err
	}
	d.remember(id, parts)
	return value, parts, nil
}
