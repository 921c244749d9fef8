package etcd

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/replica"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Snapshot reads the newest snapshot, or the one before. If it is replaced meanwhile, its pieces may be gone, and
// Snapshot begins again.
func (d *driver) Snapshot(ctx context.Context, before bool) (*replica.Snapshot, error) {
	for last := [4]byte{}; ; {
		r, err := d.ask(ctx, nil, append(d.state(nowhere)[:1], clientv3.OpGet(d.keys.snap()),
			clientv3.OpGet(d.keys.earlier())), nil)
		if err != nil {
			return nil, err
		}
		found := part(r, 1)
		if before {
			found = part(r, 2)
		}
		if before && len(found.Kvs) == 0 {
			return nil, nil
		}
		n, err := decodeNewest(value(found))
		if err != nil {
			return nil, err
		}
		body, err := d.gather(ctx, d.keys.pieces(n), int(n.pieces), n.bytes)
		switch {
		case err != nil:
			return nil, err
		case body != nil && sha256.Sum256(body) == n.sum:
			return &replica.Snapshot{At: n.at, Format: n.format, Body: body}, nil
		case last == n.make:
			return nil, fmt.Errorf("%w: that at %v lacks pieces, or differs from its checksum", replica.ErrSnapshot,
				n.at)
		}
		last = n.make
	}
}

// Keep puts a snapshot in the place of the newest, and trims; or makes the log, see replica.Driver.
func (d *driver) Keep(ctx context.Context, id replica.ID, was *replica.Position, s *replica.Snapshot) (bool, error) {
	now, err := d.look(ctx, nowhere)
	making := was == nil && errors.Is(err, replica.ErrNoLog)
	switch {
	case making:
		err = d.apart(ctx)
	case err == nil && (was == nil || now.newest.at != *was):
		return false, nil
	}
	if err != nil {
		return false, err
	}
	n := newest{at: s.At, pieces: uint32((len(s.Body) + pieceBytes - 1) / pieceBytes), bytes: uint64(len(s.Body)),
		format: s.Format, sum: sha256.Sum256(s.Body)}
	_, _ = rand.Read(n.make[:]) // it never fails
	p, err := d.deposit(ctx, d.keys.pieces(n), s.Body)
	if err != nil {
		return false, err
	}
	for len(p.keys) > mostPieces { // too many for one transaction: trimming finds them if they never count
		var r *clientv3.TxnResponse
		if err := d.slow(ctx, d.txn(&r, nil, counted(p.keys[:mostPieces]), nil)); err != nil {
			return false, err
		}
		p.keys = p.keys[mostPieces:]
	}
	// snap is as it was, if there is one. A late copy of the transaction finds that it is not.
	unchanged := clientv3.Compare(clientv3.ModRevision(d.keys.snap()), "=", now.rev)
	then := append(counted(p.keys), clientv3.OpPut(d.keys.snap(), string(n.encode())))
	if making {
		unchanged = clientv3.Compare(clientv3.CreateRevision(d.keys.meta()), "=", 0)
		then = append(then, clientv3.OpPut(d.keys.head(), string(s.At.Bytes())),
			clientv3.OpPut(d.keys.first(), string(encodeFirst(s.At.N+1))),
			clientv3.OpPut(d.keys.meta(), string(encodeMeta(id, time.Now()))))
	} else {
		then = append(then, clientv3.OpPut(d.keys.earlier(), string(now.newest.encode())))
	}
	var r *clientv3.TxnResponse
	newest := []clientv3.Op{clientv3.OpGet(d.keys.snap())}
	if err := d.slow(ctx, d.txn(&r, []clientv3.Cmp{unchanged}, then, newest)); err != nil {
		return false, err
	}
	switch {
	case !r.Succeeded && string(value(part(r, 0))) != string(n.encode()): // nor was a copy of it first
		d.revoke(ctx, p.lease)
		return false, nil
	case making:
		return true, nil
	}
	return true, d.trim(ctx, was.N+1)
}

// apart verifies that no log is above or below the prefix, because one would trim the other.
func (d *driver) apart(ctx context.Context) error {
	for _, k := range d.keys.above() {
		r, err := d.get(ctx, k.meta())
		if err != nil {
			return err
		}
		if _, err := decodeMeta(value(r)); err == nil {
			return fmt.Errorf("%w: there is one with the prefix %s", replica.ErrNested, k)
		}
	}
	for from := d.keys.key(""); ; {
		r, err := d.get(ctx, from, clientv3.WithRange(clientv3.GetPrefixRangeEnd(d.keys.key(""))),
			clientv3.WithKeysOnly(), clientv3.WithLimit(deletedAtOnce))
		if err != nil {
			return err
		}
		for _, p := range r.Kvs {
			if under, is := strings.CutSuffix(string(p.Key), "/meta"); is && under != string(d.keys) {
				return fmt.Errorf("%w: there is one with the prefix %s", replica.ErrNested, under)
			}
			from = string(p.Key) + "\x00"
		}
		if !r.More {
			return nil
		}
	}
}

// deletedAtOnce is the number of entries to delete at once. More would delay others.
const deletedAtOnce = 2000

// trim moves first to an entry, unless it already is there or after it. Only then it deletes what is before, and
// what an earlier trim has left.
func (d *driver) trim(ctx context.Context, first uint64) error {
	for {
		s, err := d.look(ctx, nowhere)
		if err != nil {
			return err
		}
		if s.tail.First >= first {
			return d.sweep(ctx, s.tail.First)
		}
		var r *clientv3.TxnResponse
		same := clientv3.Compare(clientv3.Value(d.keys.first()), "=", string(encodeFirst(s.tail.First)))
		if err := d.read(ctx, d.txn(&r, []clientv3.Cmp{same},
			[]clientv3.Op{clientv3.OpPut(d.keys.first(), string(encodeFirst(first)))}, nil)); err != nil {
			return err
		}
	}
}

// sweep deletes the entries before first, their parts, and snapshots that are useless because the entries after
// them are gone.
func (d *driver) sweep(ctx context.Context, first uint64) error {
	oldest, until := d.keys.entry(0), d.keys.entry(first)
	for more := true; more; {
		r, err := d.get(ctx, oldest, clientv3.WithRange(until), clientv3.WithKeysOnly(),
			clientv3.WithLimit(deletedAtOnce))
		if err != nil {
			return err
		}
		if more = r.More; len(r.Kvs) > 0 {
			if err := d.remove(ctx, oldest, string(r.Kvs[len(r.Kvs)-1].Key)+"\x00"); err != nil {
				return err
			}
		}
	}
	if err := d.remove(ctx, d.keys.key("part/"), d.keys.key(fmt.Sprintf("part/%016x", first))); err != nil {
		return err
	}
	return d.remove(ctx, d.keys.key("snap/"), d.keys.key(fmt.Sprintf("snap/%016x", first-1)))
}

// remove deletes the keys from one to another.
func (d *driver) remove(ctx context.Context, from, until string) error {
	var r *clientv3.TxnResponse
	return d.slow(ctx, d.txn(&r, nil, []clientv3.Op{clientv3.OpDelete(from, clientv3.WithRange(until))}, nil))
}
