package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/placectl/placectl/internal/replica"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

const (
	turnLease = 10 // seconds
	// leaveWithin limits how long giving up a turn may delay a finished writer.
	leaveWithin = time.Second
	// lookAgain is the interval for looks even if a watch is silent, because its member may hang.
	lookAgain = 2 * time.Second
)

// turn is a place in the line of writers: a key under the lease of a session. Places are in the order of their
// creation.
//
// It is not concurrency.Mutex: that one watches from a revision, which etcd serves up to 100 ms late, and gives up
// its key without a time limit when waiting fails.
type turn struct {
	d       *driver
	session *concurrency.Session
	key     string
	came    int64 // the revision of its creation
	waited  bool
	doubled bool // the request that put the key was sent more than once, and a copy may come late
	once    sync.Once
}

// Turn takes the last place in the line, and waits until it is the first.
func (d *driver) Turn(ctx context.Context) (replica.Turn, error) {
	if err := d.known(ctx); err != nil {
		return nil, err
	}
	t := &turn{d: d, key: d.keys.line() + d.owner}
	lease, err := d.grant(ctx, turnLease)
	if err != nil {
		return nil, err
	}
	c, err := d.connect(ctx)
	if err == nil {
		t.session, err = concurrency.NewSession(c, concurrency.WithLease(lease))
	}
	if err != nil {
		d.revoke(ctx, lease)
		return nil, fmt.Errorf("%w: %v", replica.ErrAway, err)
	}
	if err := t.enter(ctx, lease); err != nil {
		t.Leave()
		return nil, err
	}
	return t, nil
}

// enter puts the key, and waits until no other is older. It takes over a key of its owner, whose process was
// killed: of those, one at a time writes.
func (t *turn) enter(ctx context.Context, lease clientv3.LeaseID) error {
	var r *clientv3.TxnResponse
	put := t.d.txn(&r, nil, []clientv3.Op{clientv3.OpPut(t.key, "", clientv3.WithLease(lease)),
		clientv3.OpGet(t.key, clientv3.WithKeysOnly()), t.d.oldest()}, nil)
	sent := 0
	err := t.d.read(ctx, func(ctx context.Context, c *clientv3.Client) error {
		sent++
		return put(ctx, c)
	})
	switch {
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		return errLeaseOver
	case err != nil:
		return err
	}
	t.came, t.doubled = part(r, 1).Kvs[0].CreateRevision, sent > 1
	if first := part(r, 2).Kvs; string(first[0].Key) == t.key {
		return nil
	}
	for {
		before, err := t.d.get(ctx, t.d.keys.line(), append(clientv3.WithLastCreate(), clientv3.WithPrefix(),
			clientv3.WithMaxCreateRev(t.came-1), clientv3.WithKeysOnly())...)
		if err != nil || len(before.Kvs) == 0 {
			return err
		}
		t.waited = true
		// Whoever had the key may be in the line again, behind us, before we look.
		gone := func(r *clientv3.GetResponse) bool { return len(r.Kvs) == 0 || r.Kvs[0].CreateRevision > t.came }
		if err := t.d.watch(ctx, string(before.Kvs[0].Key), gone); err != nil {
			return err
		}
	}
}

// oldest reads the first key in the line.
func (d *driver) oldest() clientv3.Op {
	return clientv3.OpGet(d.keys.line(), append(clientv3.WithFirstCreate(), clientv3.WithPrefix(),
		clientv3.WithKeysOnly())...)
}

func (t *turn) Waited() bool { return t.waited }

// given notes that the transaction that put the entry has deleted the key. The lease runs out by itself.
func (t *turn) given() {
	if t.doubled { // or a late copy would bring the key back
		t.Leave()
		return
	}
	t.once.Do(t.session.Orphan)
}

// Leave gives up the turn in the background. Close waits for it.
func (t *turn) Leave() {
	t.once.Do(func() {
		t.d.leaving.Go(func() {
			t.session.Orphan()
			ctx, cancel := context.WithTimeout(context.Background(), leaveWithin)
			defer cancel()
			t.d.revoke(ctx, t.session.Lease())
		})
	})
}

// watch returns when a key is as wanted. It looks once the watch stands, so that nothing is missed, and from time
// to time.
func (d *driver) watch(ctx context.Context, key string, wanted func(*clientv3.GetResponse) bool) error {
	var c *clientv3.Client
	err := d.read(ctx, func(ctx context.Context, client *clientv3.Client) error { c = client; return nil })
	if err != nil {
		return err
	}
	watching, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	events := c.Watch(watching, key, clientv3.WithCreatedNotify())
	for tick := time.After(askNext); ; tick = time.After(lookAgain) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", replica.ErrAway, ctx.Err())
		case _, standing := <-events:
			if !standing { // the member has lost the others
				select {
				case <-ctx.Done():
				case <-time.After(askNext):
				}
				events = c.Watch(watching, key, clientv3.WithCreatedNotify())
			}
		case <-tick:
		}
		r, err := d.get(ctx, key)
		if err != nil || wanted(r) {
			return err
		}
	}
}
