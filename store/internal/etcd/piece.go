//go:build etcd

package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/placectl/placectl/store/internal/replica"
)

// Values that are too long for one request, which is limited to 1.5 MiB, are put in pieces,
// under a lease. So a process that gives up halfway leaves nothing behind for long. The
// transaction that makes the pieces count detaches them from the lease.
const (
	pieceBytes = 1 << 20
	piecesRead = 4 // read at once
	// mostPieces is the most pieces to detach from their lease in one transaction. etcd allows
	// 128 operations.
	mostPieces = 100
	pieceLease = 60 // seconds
	renewAfter = 10 * time.Second
)

// errLeaseOver means that pieces were deleted before they counted. Nothing was changed.
var errLeaseOver = fmt.Errorf("%w in time: the lease of what was sent has run out, because this machine or the way "+
	"there is too slow, or was stopped", replica.ErrAway)

// pieces cuts bytes into pieces.
func pieces(b []byte) (list [][]byte) {
	for len(b) > 0 {
		n := min(len(b), pieceBytes)
		list, b = append(list, b[:n]), b[n:]
	}
	return list
}

// deposit is a set of pieces that were put and wait for their transaction.
type deposit struct {
	lease   int64
	renewed time.Time
	keys    [][]byte
}

// deposit puts pieces below a key, each only if it does not exist. An existing one was put by
// our own request that got no answer, because no other writer draws the same key.
func (d *driver) deposit(ctx context.Context, under []byte, list [][]byte) (*deposit, error) {
	lease, err := d.grant(ctx, pieceLease)
	if err != nil {
		return nil, err
	}
	p := &deposit{lease: lease, renewed: time.Now()}
	for i, b := range list {
		if err := d.keep(ctx, p); err != nil {
			return nil, err
		}
		key := nth(under, i)
		t := transaction{If: []comparison{absent(key, nil)},
			Then: []operation{{Put: &put{Key: key, Value: b, Lease: lease}}}}
		if err := d.read(ctx, "/v3/kv/txn", t, nil); err != nil {
			if r := new(refusal); errors.As(err, &r) && r.Code == codeNotFound {
				return nil, errLeaseOver
			}
			return nil, d.explain(err)
		}
		p.keys = append(p.keys, key)
	}
	return p, nil
}

// keep renews the lease of pieces, if that is due.
func (d *driver) keep(ctx context.Context, p *deposit) error {
	if time.Since(p.renewed) < renewAfter {
		return nil
	}
	alive, err := d.renew(ctx, p.lease)
	if err != nil {
		return err
	}
	if !alive {
		return errLeaseOver
	}
	p.renewed = time.Now()
	return nil
}

// counted returns the operations that detach pieces from their lease.
func counted(keys [][]byte) (list []operation) {
	for _, key := range keys {
		list = append(list, operation{Put: &put{Key: key, Keep: true}})
	}
	return list
}

// gather reads pieces and joins them. It returns nil if one is missing.
func (d *driver) gather(ctx context.Context, under []byte, count int, length uint64) ([]byte, error) {
	if length > uint64(count)*pieceBytes {
		return nil, fmt.Errorf("%s: %w", under, errForeign)
	}
	b := make([]byte, 0, length)
	for i := 0; i < count; i += piecesRead {
		var a rangedAnswer
		if err := d.read(ctx, "/v3/kv/range", ranged{Key: nth(under, i), End: nth(under, min(i+piecesRead, count))},
			&a); err != nil {
			return nil, d.explain(err)
		}
		for _, p := range a.Pairs {
			b = append(b, p.Value...)
		}
	}
	if uint64(len(b)) != length {
		return nil, nil
	}
	return b, nil
}
