//go:build etcd

package etcd

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/placectl/placectl/store/internal/replica"
)

// A place in the line is a key bound to a lease; the order is that of their creation.
const (
	placeLease = 10 // seconds
	renewPlace = 3 * time.Second
	// leaveWithin limits how long giving a place up may hold back whoever is done.
	leaveWithin = time.Second
)

// place is one in the line.
type place struct {
	d       *driver
	key     []byte
	created int64 // revision
	lease   int64
	once    sync.Once
	left    chan struct{}
}

// enter takes the last place in the line.
func (d *driver) enter(ctx context.Context) (*place, error) {
	lease, err := d.grant(ctx, placeLease)
	if err != nil {
		return nil, err
	}
	var id [8]byte
	_, _ = rand.Read(id[:]) // it never fails
	p := &place{d: d, key: d.keys.place(id), lease: lease, left: make(chan struct{})}
	find := reading(ranged{Key: p.key, KeysOnly: true})
	t := transaction{
		If:   []comparison{absent(p.key, nil)},
		Then: []operation{{Put: &put{Key: p.key, Lease: lease}}, find},
		Else: []operation{{Range: &ranged{Key: p.key, KeysOnly: true}}, find}, // a copy of this request was first
	}
	var a transactionAnswer
	if err := d.read(ctx, "/v3/kv/txn", t, &a); err != nil {
		return nil, d.explain(err)
	}
	if in := a.ranges(1); len(in.Pairs) == 1 {
		p.created = in.Pairs[0].Created
	} else {
		return nil, fmt.Errorf("%w: a place in the line was not found again", replica.ErrAway)
	}
	d.mu.Lock()
	d.places[p] = true
	d.mu.Unlock()
	go p.stay()
	return p, nil
}

// stay renews the lease until the place is given up. A lease that runs out all the same
// loses the place, nothing else.
func (p *place) stay() {
	tick := time.NewTicker(renewPlace)
	defer tick.Stop()
	for {
		select {
		case <-p.left:
			return
		case <-tick.C:
			ctx, cancel := context.WithTimeout(context.Background(), renewPlace)
			alive, err := p.d.renew(ctx, p.lease)
			cancel()
			if err == nil && !alive {
				return
			}
		}
	}
}

// given says that the place is given up: its key was deleted.
func (p *place) given() (first bool) {
	p.once.Do(func() {
		first = true
		close(p.left)
		p.d.mu.Lock()
		delete(p.d.places, p)
		p.d.mu.Unlock()
	})
	return first
}

// Leave gives the place up; Close waits until that is done.
func (p *place) Leave() {
	p.d.leaving.Add(1)
	if !p.given() {
		p.d.leaving.Done()
		return
	}
	go func() {
		defer p.d.leaving.Done()
		ctx, cancel := context.WithTimeout(context.Background(), leaveWithin)
		defer cancel()
		_ = p.d.revoke(ctx, p.lease) // else it runs out
	}()
}

// Turn waits in the line, see replica.Log.
func (d *driver) Turn(ctx context.Context, where replica.Place, enter bool) (replica.Place, error) {
	mine, _ := where.(*place)
	if mine == nil && !enter {
		return nil, d.outwait(ctx)
	}
	for {
		if mine == nil {
			var err error
			if mine, err = d.enter(ctx); err != nil {
				return nil, err
			}
		}
		lost, err := d.stand(ctx, mine)
		if err != nil {
			mine.Leave()
			return nil, err
		}
		if !lost {
			return mine, nil
		}
		mine.Leave()
		mine = nil
	}
}

// stand waits until nobody is before a place, or the place is lost.
func (d *driver) stand(ctx context.Context, mine *place) (lost bool, err error) {
	err = d.await(ctx, func(ctx context.Context) ([]byte, error) {
		var a transactionAnswer
		t := transaction{Then: []operation{reading(ranged{Key: mine.key, KeysOnly: true}), reading(d.lastBefore(mine.created))}}
		if err := d.read(ctx, "/v3/kv/txn", t, &a); err != nil {
			return nil, d.explain(err)
		}
		lost = len(a.ranges(0).Pairs) == 0
		if before := a.ranges(1).Pairs; !lost && len(before) > 0 {
			return before[0].Key, nil
		}
		return nil, nil
	})
	return lost, err
}

// lastBefore asks for the last place before a revision.
func (d *driver) lastBefore(revision int64) ranged {
	from, end := d.keys.line()
	return ranged{Key: from, End: end, KeysOnly: true, MaxCreated: revision - 1, Order: "DESCEND", By: targetCreated, Limit: 1}
}

// outwait waits until all who are in the line now have left it.
func (d *driver) outwait(ctx context.Context) error {
	last := d.lastBefore(1)
	last.MaxCreated = 0 // whoever that is
	return d.await(ctx, func(ctx context.Context) ([]byte, error) {
		var a rangedAnswer
		if err := d.read(ctx, "/v3/kv/range", last, &a); err != nil || len(a.Pairs) == 0 {
			return nil, d.explain(err)
		}
		if last.MaxCreated == 0 {
			last.MaxCreated = a.Pairs[0].Created
		}
		return a.Pairs[0].Key, nil
	})
}

// await waits until a question has no key for its answer, asking again whenever the key
// that was the last answer may have changed.
func (d *driver) await(ctx context.Context, ask func(context.Context) (key []byte, err error)) error {
	key, err := ask(ctx)
	for err == nil && key != nil {
		was := key
		err = d.watch(ctx, was, func(ctx context.Context) (bool, error) {
			var err error
			key, err = ask(ctx)
			return !bytes.Equal(key, was), err
		})
	}
	return err
}
