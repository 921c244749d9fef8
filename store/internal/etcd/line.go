//go:build etcd

package etcd

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
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
func (d *driver) Turn(ctx context.Context, where replica.Place, at replica.Position) (replica.Place, *replica.Tail, error) {
	mine, _ := where.(*place)
	for {
		if mine == nil {
			var err error
			if mine, err = d.enter(ctx); err != nil {
				return nil, nil, err
			}
		}
		found, err := d.stand(ctx, mine, at)
		if errors.Is(err, errPlaceLost) {
			mine.Leave()
			mine = nil
			continue
		}
		var tail *replica.Tail
		if err == nil {
			tail, err = d.follow(ctx, at, found)
		}
		if errors.Is(err, errMoved) {
			tail, err = d.After(ctx, at)
		}
		if err != nil {
			mine.Leave()
			return nil, nil, err
		}
		return mine, tail, nil
	}
}

// errPlaceLost is that a place in the line is there no more.
var errPlaceLost = errors.New("the place in the line was lost")

// stand waits until nobody is before a place, and returns what it found behind a position
// then.
func (d *driver) stand(ctx context.Context, mine *place, at replica.Position) (found described, err error) {
	ask := func(ctx context.Context) (key []byte, err error) {
		var a transactionAnswer
		t := transaction{Then: append(d.tailReads(at.N), reading(ranged{Key: mine.key, KeysOnly: true}), reading(d.lastBefore(mine.created)))}
		if err := d.read(ctx, "/v3/kv/txn", t, &a); err != nil {
			return nil, d.explain(err)
		}
		if found, err = describe(a); err != nil {
			return nil, err
		}
		if len(a.ranges(tailRanges).Pairs) == 0 {
			return nil, errPlaceLost
		}
		if before := a.ranges(tailRanges + 1).Pairs; len(before) > 0 {
			return before[0].Key, nil
		}
		return nil, nil
	}
	key, err := ask(ctx)
	for err == nil && key != nil { // until nobody is before, ask again when the last who is may have left
		was := key
		err = d.watch(ctx, was, func(ctx context.Context) (bool, error) {
			var err error
			key, err = ask(ctx)
			return !bytes.Equal(key, was), err
		})
	}
	return found, err
}

// lastBefore asks for the last place before a revision.
func (d *driver) lastBefore(revision int64) ranged {
	from, end := d.keys.line()
	return ranged{Key: from, End: end, KeysOnly: true, MaxCreated: revision - 1, Order: "DESCEND", By: targetCreated, Limit: 1}
}
