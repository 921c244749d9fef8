package etcd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/placectl/placectl/internal/replica"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Values that are too long for one request, which is limited to 1.5 MiB, are put in pieces, under a lease. So a
// process that gives up halfway leaves nothing behind for long. The transaction that makes the pieces count
// takes the lease off.
const (
	pieceBytes = 1 << 20
	piecesRead = 4 // read at once; 4 MiB are the limit of a message
	// mostPieces is the most pieces to take the lease off in one transaction. etcd allows 128 operations.
	mostPieces = 100
	pieceLease = 60 // seconds
)

// errLeaseOver means that pieces were deleted before they counted. Nothing was changed.
var errLeaseOver = fmt.Errorf("%w in time: the lease of what was sent has run out, because this machine or the way "+
	"there is too slow, or was stopped", replica.ErrAway)

// deposit is pieces that were put and wait for their transaction.
type deposit struct {
	lease clientv3.LeaseID
	keys  []string
}

// enterParts puts an entry that is too long in parts. stored is the value for log/<n>. What is sent again after
// no answer came has its own parts.
func (d *driver) enterParts(ctx context.Context, n uint64, entry []byte) (stored []byte, p deposit, err error) {
	if len(entry) <= pieceBytes {
		return entry, p, nil
	}
	s := stub{parts: uint32((len(entry) + pieceBytes - 1) / pieceBytes), bytes: uint64(len(entry))}
	if s.parts > mostPieces {
		return nil, p, fmt.Errorf("%w: the change has %d MiB, and at most %d MiB fit: split it",
			replica.ErrFull, s.parts, mostPieces)
	}
	if err := d.known(ctx); err != nil {
		return nil, p, err
	}
	_, _ = rand.Read(s.id[:]) // it never fails
	p, err = d.deposit(ctx, d.keys.parts(n, s.id), entry)
	return s.encode(), p, err
}

// deposit puts bytes in pieces below a key.
func (d *driver) deposit(ctx context.Context, under string, b []byte) (p deposit, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // the lease is not renewed any more
	if p.lease, err = d.grant(ctx, pieceLease); err != nil {
		return p, err
	}
	err = d.slow(ctx, func(_ context.Context, c *clientv3.Client) error {
		alive, err := c.KeepAlive(ctx, p.lease)
		if err == nil {
			go func() {
				for range alive {
				}
			}()
		}
		return err
	})
	for i := 0; err == nil && len(b) > 0; i++ {
		key, n := nth(under, i), min(len(b), pieceBytes)
		var r *clientv3.TxnResponse
		err = d.slow(ctx, d.txn(&r, []clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(key), "=", 0)},
			[]clientv3.Op{clientv3.OpPut(key, string(b[:n]), clientv3.WithLease(p.lease))}, nil))
		p.keys, b = append(p.keys, key), b[n:]
	}
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		err = errLeaseOver
	}
	return p, err
}

// counted returns the operations that take the lease off pieces.
func counted(keys []string) (list []clientv3.Op) {
	for _, key := range keys {
		list = append(list, clientv3.OpPut(key, "", clientv3.WithIgnoreValue()))
	}
	return list
}

// gather reads pieces and joins them. It returns nil if one is missing.
func (d *driver) gather(ctx context.Context, under string, count int, length uint64) ([]byte, error) {
	if length > uint64(count)*pieceBytes {
		return nil, fmt.Errorf("%s: %w", under, errForeign)
	}
	b := make([]byte, 0, length)
	for i := 0; i < count; i += piecesRead {
		var r *clientv3.TxnResponse
		some := clientv3.OpGet(nth(under, i), clientv3.WithRange(nth(under, min(i+piecesRead, count))))
		if err := d.slow(ctx, d.txn(&r, nil, []clientv3.Op{some}, nil)); err != nil {
			return nil, err
		}
		for _, p := range part(r, 0).Kvs {
			b = append(b, p.Value...)
		}
	}
	if uint64(len(b)) != length {
		return nil, nil
	}
	return b, nil
}

// grant makes a lease. A late copy of the request makes another one, which runs out.
func (d *driver) grant(ctx context.Context, seconds int64) (id clientv3.LeaseID, err error) {
	err = d.read(ctx, func(ctx context.Context, c *clientv3.Client) error {
		r, err := c.Grant(ctx, seconds)
		if err == nil {
			id, err = r.ID, d.same(r.ClusterId)
		}
		return err
	})
	return id, err
}

// revoke ends a lease, if there is one. If that fails, it runs out.
func (d *driver) revoke(ctx context.Context, lease clientv3.LeaseID) {
	if lease != 0 {
		_ = d.read(ctx, func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.Revoke(ctx, lease)
			return err
		})
	}
}
