//go:build etcd

package etcd

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
)

// deletedAtOnce is the number of entries to delete at once. More would delay others.
const deletedAtOnce = 2000

// Trim deletes the entries before a position, see replica.Upkeep.
func (d *driver) Trim(ctx context.Context, first uint64) error {
	for {
		s, err := d.look(ctx, 1<<63)
		if err != nil {
			return err
		}
		if first > s.tail.Snapshot.N+1 {
			return fmt.Errorf("entries before %d are needed: the newest snapshot stands at %d", first,
				s.tail.Snapshot.N)
		}
		if s.tail.First >= first {
			return d.sweep(ctx, s.tail.First)
		}
		t := transaction{
			If:   []comparison{valueIs(d.keys.first(), encodeFirst(s.tail.First))},
			Then: []operation{putting(d.keys.first(), encodeFirst(first))},
		}
		if err := d.read(ctx, "/v3/kv/txn", t, nil); err != nil {
			return d.explain(err)
		}
	}
}

// Remember stores chains, see replica.Upkeep.
func (d *driver) Remember(ctx context.Context, from uint64, chains [][8]byte) error {
	value := make([]byte, 0, 8*len(chains))
	for _, c := range chains {
		value = append(value, c[:]...)
	}
	return d.explain(d.read(ctx, "/v3/kv/txn", transaction{Then: []operation{putting(d.keys.chains(from), value)}},
		nil))
}

// Chain returns such a chain, see replica.Log.
func (d *driver) Chain(ctx context.Context, n uint64) (chain [8]byte, known bool, err error) {
	var a rangedAnswer
	q := ranged{Key: d.keys.chains(0), End: d.keys.chains(n + 1), Order: "DESCEND", Limit: 1}
	if err := d.read(ctx, "/v3/kv/range", q, &a); err != nil || len(a.Pairs) == 0 {
		return chain, false, d.explain(err)
	}
	key := string(a.Pairs[0].Key)
	from, err := strconv.ParseUint(key[strings.LastIndexByte(key, '/')+1:], 16, 64)
	if err != nil || n < from {
		return chain, false, nil
	}
	value := a.value()
	if at := (n - from) * 8; at < uint64(len(value)) && uint64(len(value))-at >= 8 {
		return [8]byte(value[at : at+8]), true, nil
	}
	return chain, false, nil
}

// sweep deletes the entries before first, their parts, and snapshots that are useless because the
// entries after them are gone. first is already set.
func (d *driver) sweep(ctx context.Context, first uint64) error {
	for {
		oldest, _ := d.keys.entries(0)
		var a rangedAnswer
		if err := d.read(ctx, "/v3/kv/range", ranged{Key: oldest, End: d.keys.entry(first), KeysOnly: true,
			Limit: deletedAtOnce + 1}, &a); err != nil {
			return d.explain(err)
		}
		if len(a.Pairs) == 0 {
			break
		}
		until := d.keys.entry(first)
		if len(a.Pairs) > deletedAtOnce {
			until = a.Pairs[deletedAtOnce].Key
		}
		if err := d.remove(ctx, oldest, until); err != nil {
			return err
		}
	}
	parts := d.keys.key("part/")
	if err := d.remove(ctx, parts, d.keys.key(fmt.Sprintf("part/%016x", first))); err != nil {
		return err
	}
	if first == 0 {
		return nil
	}
	snaps, until := d.keys.key("snap/"), d.keys.key(fmt.Sprintf("snap/%016x", first-1))
	if bytes.Compare(snaps, until) >= 0 {
		return nil
	}
	return d.remove(ctx, snaps, until)
}

func (d *driver) remove(ctx context.Context, from, until []byte) error {
	return d.explain(d.read(ctx, "/v3/kv/deleterange", deleted{Key: from, End: until}, nil))
}
