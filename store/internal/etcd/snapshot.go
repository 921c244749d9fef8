//go:build etcd

package etcd

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/placectl/placectl/store/internal/replica"
)

// snapPieces returns the prefix of the keys of a snapshot's pieces.
func (d *driver) snapPieces(s newest) []byte {
	return fmt.Appendf(d.keys.pieces(s.at.N), "%x/", s.make)
}

// Snapshot reads the newest snapshot. If it is replaced twice meanwhile, its pieces are gone,
// and Snapshot begins again.
func (d *driver) Snapshot(ctx context.Context) (*replica.Snapshot, error) {
	for last := [4]byte{}; ; {
		s, err := d.look(ctx, 1<<63) // no entries are after that
		if err != nil {
			return nil, err
		}
		snap, err := d.collect(ctx, s.newest)
		switch {
		case snap != nil || err != nil:
			return snap, err
		case last == s.newest.make:
			return nil, fmt.Errorf("%w: that at %v lacks pieces, or differs from its checksum", replica.ErrSnapshot,
				s.newest.at)
		}
		last = s.newest.make
	}
}

// collect reads a snapshot. It returns nil if its pieces are missing, or are those of another.
func (d *driver) collect(ctx context.Context, n newest) (*replica.Snapshot, error) {
	body, err := d.gather(ctx, d.snapPieces(n), int(n.pieces), n.bytes)
	if body == nil || err != nil || sha256.Sum256(body) != n.sum {
		return nil, err
	}
	return &replica.Snapshot{At: n.at, Format: n.format, SHA256: n.sum, Body: body}, nil
}

// Earlier reads the snapshot before the newest, see replica.Upkeep. Older versions do not move
// its key, and then its pieces are gone.
func (d *driver) Earlier(ctx context.Context) (*replica.Snapshot, error) {
	var a rangedAnswer
	if err := d.read(ctx, "/v3/kv/range", ranged{Key: d.keys.earlier()}, &a); err != nil {
		return nil, d.explain(err)
	}
	if len(a.Pairs) == 0 {
		return nil, nil
	}
	n, err := decodeNewest(a.value())
	if err != nil {
		return nil, err
	}
	return d.collect(ctx, n)
}

// send puts the pieces of a snapshot, under a lease.
func (d *driver) send(ctx context.Context, s *replica.Snapshot) (newest, *deposit, error) {
	list := pieces(s.Body)
	n := newest{at: s.At, pieces: uint32(len(list)), bytes: uint64(len(s.Body)), format: s.Format,
		sum: sha256.Sum256(s.Body)}
	_, _ = rand.Read(n.make[:]) // it never fails
	p, err := d.deposit(ctx, d.snapPieces(n), list)
	if err != nil {
		return n, nil, err
	}
	for len(p.keys) > mostPieces { // too many for one transaction: trimming finds them if they never count
		if err := d.read(ctx, "/v3/kv/txn", transaction{Then: counted(p.keys[:mostPieces])}, nil); err != nil {
			return n, nil, d.explain(err)
		}
		p.keys = p.keys[mostPieces:]
	}
	return n, p, d.keep(ctx, p)
}

// Create makes a log, see replica.Upkeep.
func (d *driver) Create(ctx context.Context, id replica.ID, s *replica.Snapshot) error {
	if _, err := d.look(ctx, 1<<63); !errors.Is(err, replica.ErrNoLog) {
		if err == nil {
			err = replica.ErrLog
		}
		return err
	}
	if err := d.apart(ctx); err != nil {
		return err
	}
	n, p, err := d.send(ctx, s)
	if err != nil {
		return err
	}
	meta := encodeMeta(id, d.now())
	t := transaction{
		If: []comparison{absent(d.keys.meta(), nil)},
		Then: append(counted(p.keys),
			putting(d.keys.head(), s.At.Bytes()),
			putting(d.keys.first(), encodeFirst(s.At.N+1)),
			putting(d.keys.snap(), n.encode()),
			putting(d.keys.meta(), meta)),
		Else: []operation{reading(ranged{Key: d.keys.meta()})},
	}
	var a transactionAnswer
	if err := d.decide(ctx, t, &a); err != nil {
		return err
	}
	if a.Succeeded || string(a.ranges(0).value()) == string(meta) { // a copy was first
		return nil
	}
	_ = d.revoke(ctx, p.lease) // if that fails, it expires
	return replica.ErrLog
}

// apart verifies that no log is above or below the prefix, because one would trim the other.
func (d *driver) apart(ctx context.Context) error {
	for _, k := range d.keys.above() {
		var a rangedAnswer
		if err := d.read(ctx, "/v3/kv/range", ranged{Key: k.meta()}, &a); err != nil {
			return d.explain(err)
		}
		if _, err := decodeMeta(a.value()); err == nil {
			return fmt.Errorf("%w: there is one with the prefix %s", replica.ErrNested, k)
		}
	}
	for from, end := d.keys.all(); ; {
		var a rangedAnswer
		if err := d.read(ctx, "/v3/kv/range", ranged{Key: from, End: end, KeysOnly: true, Limit: deletedAtOnce},
			&a); err != nil {
			return d.explain(err)
		}
		for _, p := range a.Pairs {
			if under, is := strings.CutSuffix(string(p.Key), "/meta"); is && under != string(d.keys) {
				return fmt.Errorf("%w: there is one with the prefix %s", replica.ErrNested, under)
			}
			from = append(bytes.Clone(p.Key), 0)
		}
		if !a.More {
			return nil
		}
	}
}

// Keep replaces the newest snapshot, see replica.Upkeep.
func (d *driver) Keep(ctx context.Context, was replica.Position, s *replica.Snapshot) (bool, error) {
	now, err := d.look(ctx, 1<<63)
	if err != nil || now.newest.at != was {
		return false, err
	}
	n, p, err := d.send(ctx, s)
	if err != nil {
		return false, err
	}
	value := n.encode()
	t := transaction{
		If:   []comparison{unchanged(d.keys.snap(), now.snapRev)},
		Then: append(counted(p.keys), putting(d.keys.snap(), value), putting(d.keys.earlier(), now.newest.encode())),
		Else: []operation{reading(ranged{Key: d.keys.snap()})},
	}
	var a transactionAnswer
	if err := d.decide(ctx, t, &a); err != nil {
		return false, err
	}
	if a.Succeeded || string(a.ranges(0).value()) == string(value) {
		return true, nil
	}
	_ = d.revoke(ctx, p.lease)
	return false, nil
}

// decide carries out a transaction of which only one copy can succeed.
func (d *driver) decide(ctx context.Context, t transaction, a *transactionAnswer) error {
	err := d.call(ctx, "/v3/kv/txn", t, a)
	if r := new(refusal); errors.As(err, &r) {
		return d.explain(r)
	}
	if errors.Is(err, errCopies) {
		return nil
	}
	return err
}
