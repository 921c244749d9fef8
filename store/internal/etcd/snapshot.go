//go:build etcd

package etcd

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/placectl/placectl/store/internal/replica"
)

// snapPieces is what the keys of a snapshot's pieces begin with.
func (d *driver) snapPieces(s newest) []byte {
	return fmt.Appendf(d.keys.pieces(s.at.N), "%x/", s.make)
}

// Snapshot reads the newest snapshot. Where another takes its place meanwhile, and a third
// that one's, its pieces are gone: then it begins anew.
func (d *driver) Snapshot(ctx context.Context) (*replica.Snapshot, error) {
	for last := [4]byte{}; ; {
		s, err := d.look(ctx, 1<<63) // no entries are behind that
		if err != nil {
			return nil, err
		}
		n := s.newest
		body, err := d.gather(ctx, d.snapPieces(n), int(n.pieces), n.bytes)
		switch {
		case err != nil:
			return nil, err
		case body != nil && sha256.Sum256(body) == n.sum:
			return &replica.Snapshot{At: n.at, Format: n.format, SHA256: n.sum, Body: body}, nil
		case last == n.make:
			return nil, fmt.Errorf("the snapshot at %v is damaged: pieces are missing, or differ from their checksum", n.at)
		}
		last = n.make
	}
}

// send puts the pieces of a snapshot, under a lease.
func (d *driver) send(ctx context.Context, s *replica.Snapshot) (newest, *deposit, error) {
	list := pieces(s.Body)
	n := newest{at: s.At, pieces: uint32(len(list)), bytes: uint64(len(s.Body)), format: s.Format, sum: sha256.Sum256(s.Body)}
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
	_ = d.revoke(ctx, p.lease) // else it runs out
	return replica.ErrLog
}

// Keep puts a snapshot in the place of the newest, see replica.Upkeep.
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
		Then: append(counted(p.keys), putting(d.keys.snap(), value)),
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

// decide carries out a transaction that only one of its copies can.
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
