//go:build etcd

package etcd

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/placectl/placectl/store/internal/replica"
)

// A place in the line is a key bound to a lease. Places are in the order of their creation.
// The value of a place is its own id, because keys are reused.
const (
	placeLease = 10 // seconds
	renewPlace = 3 * time.Second
	// leaveWithin limits how long giving up a place may delay a finished writer.
	leaveWithin = time.Second
)

// place is a place in the line.
type place struct {
	d       *driver
	key     []byte
	id      []byte // its value
	created int64  // the revision of its creation
	lease   lease
	doubled bool                        // a copy of the request that put the key may still be carried out
	working atomic.Pointer[func() bool] // nil: the place stays until it is given up
	once    sync.Once
	left    chan struct{}
}

// standing is what a writer in the line sees: the log, and whether another writer comes first.
type standing struct {
	described
	revision int64  // of etcd, when it looked
	before   []byte // the key before its own; nil if it is first
	waited   bool
}

// enter takes the last place in the line, and reads its standing in the same step.
func (d *driver) enter(ctx context.Context, at replica.Position) (*place, *standing, error) {
	for try := 0; ; try++ {
		lease, err := d.leaseOfPlace(ctx)
		if err != nil {
			return nil, nil, err
		}
		p, s, err := d.enterBy(ctx, at, lease)
		if err == nil {
			d.mu.Lock()
			d.places[p] = true
			d.mu.Unlock()
			go p.stay()
			return p, s, nil
		}
		p.end()
		// It is unknown whether the key was put: use another lease, and let this one expire.
		r := new(refusal)
		switch {
		case errors.Is(err, errKeyTaken): // the lease was copied with its folder: this one expires
			continue
		case errors.Is(err, replica.ErrNoLog):
			if err = d.elsewhere(ctx); err == nil {
				continue
			}
		}
		if try > 0 || !errors.As(err, &r) || r.Code != codeNotFound {
			return nil, nil, d.explain(err)
		}
	}
}

// enterBy puts a key of the line under a lease.
func (d *driver) enterBy(ctx context.Context, at replica.Position, l lease) (*place, *standing, error) {
	p := &place{d: d, key: d.keys.place(l.key), id: make([]byte, 8), lease: l, left: make(chan struct{})}
	_, _ = rand.Read(p.id) // it never fails
	from, end := d.keys.line()
	mine := reading(ranged{Key: p.key})
	t := transaction{
		If: []comparison{absent(p.key, nil)},
		Then: append(d.tailReads(at.N), operation{Put: &put{Key: p.key, Value: p.id, Lease: l.id}},
			reading(ranged{Key: from, End: end, KeysOnly: true, Order: "DESCEND", By: targetCreated, Limit: 2})),
		Else: []operation{mine}, // a copy of this request was first
	}
	var a transactionAnswer
	err := d.call(ctx, "/v3/kv/txn", t, &a)
	if p.doubled = errors.Is(err, errCopies); err != nil && (!p.doubled || !a.answered()) {
		if errors.Is(err, replica.ErrLost) {
			err = fmt.Errorf("%w: %v", replica.ErrAway, cause(err))
		}
		return p, nil, err
	}
	if !a.Succeeded {
		if in := a.ranges(0); len(in.Pairs) == 1 {
			p.created = in.Pairs[0].Created
			return p, nil, p.owned(in)
		}
		return p, nil, fmt.Errorf("%w: a place in the line was not found again", replica.ErrAway)
	}
	last := a.ranges(tailRanges + 1).Pairs
	if len(last) == 0 || !bytes.Equal(last[0].Key, p.key) {
		return p, nil, fmt.Errorf("%w: a place in the line was not found again", replica.ErrAway)
	}
	p.created = last[0].Created
	s := &standing{revision: a.Header.Revision}
	if len(last) > 1 {
		s.before = last[1].Key
	}
	s.described, err = d.describe(a)
	return p, s, err
}

// errKeyTaken means that another place has the key.
var errKeyTaken = errors.New("the key of a place in the line is another's")

// owned fails if the key now belongs to another place.
func (p *place) owned(in rangedAnswer) error {
	if !bytes.Equal(in.value(), p.id) {
		return errKeyTaken
	}
	return nil
}

// leaving returns the transaction that deletes the key of the place, but not if another place
// has it since, because copies of the transaction may be carried out late.
func (p *place) leaving() transaction {
	return transaction{If: []comparison{valueIs(p.key, p.id)}, Then: []operation{deleting(p.key, nil)}}
}

// While keeps the place alive only while its owner works, see replica.Place.
func (p *place) While(working func() bool) { p.working.Store(&working) }

// stay renews the lease until the place is given up. If the lease expires, only the place is
// lost. An owner that does not work loses it at once, because all others wait.
func (p *place) stay() {
	tick := time.NewTicker(p.d.renewPlace)
	defer tick.Stop()
	for {
		select {
		case <-p.left:
			return
		case <-tick.C:
			if working := p.working.Load(); working != nil && !(*working)() {
				p.behind(p.remove)
				return
			}
			ctx, cancel := context.WithTimeout(context.Background(), renewPlace)
			alive, err := p.d.renew(ctx, p.lease.id)
			cancel()
			if err == nil && !alive {
				return
			}
		}
	}
}

// given records that the place is given up and its key was deleted.
func (p *place) given() {
	switch {
	case !p.end():
	case p.doubled:
		p.behind(p.remove) // or a copy would bring it back
	default:
		p.d.keepLease(p.lease)
	}
}

func (p *place) end() (first bool) {
	p.once.Do(func() {
		first = true
		close(p.left)
		p.d.mu.Lock()
		delete(p.d.places, p)
		p.d.mu.Unlock()
	})
	return first
}

// Leave gives up the place. Close waits until that is done.
func (p *place) Leave() {
	if p.end() {
		p.behind(p.remove)
	}
}

// behind runs a function in the background, within a time limit.
func (p *place) behind(do func(context.Context)) {
	p.d.leaving.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), leaveWithin)
		defer cancel()
		do(ctx)
	})
}

// remove deletes the key from the line. If a copy of the request that put it may still arrive,
// it revokes the lease, too. Otherwise that copy would keep all places behind it waiting.
func (p *place) remove(ctx context.Context) {
	if !p.doubled {
		var a transactionAnswer
		if p.d.read(ctx, "/v3/kv/txn", p.leaving(), &a) == nil {
			p.d.keepLease(p.lease)
			return
		}
	}
	_ = p.d.revoke(ctx, p.lease.id) // if that fails, it expires
}

// Turn waits in the line, see replica.Log.
func (d *driver) Turn(ctx context.Context, where replica.Place, at replica.Position) (replica.Place, *replica.Tail,
	error) {
	mine, _ := where.(*place)
	var found *standing
	for {
		var err error
		if mine == nil {
			if mine, found, err = d.enter(ctx, at); err != nil {
				return nil, nil, err
			}
		}
		found, err = d.stand(ctx, mine, at, found)
		if errors.Is(err, errPlaceLost) {
			mine.Leave()
			mine, found = nil, nil
			continue
		}
		var tail *replica.Tail
		if err == nil {
			tail, err = d.follow(ctx, at, found.described)
		}
		if errors.Is(err, errMoved) {
			tail, err = d.After(ctx, at)
		}
		if err != nil {
			mine.Leave()
			return nil, nil, err
		}
		tail.Waiting = found.waited
		return mine, tail, nil
	}
}

// errPlaceLost means that a place in the line no longer exists.
var errPlaceLost = errors.New("the place in the line was lost")

// stand waits until a place is first, and returns its standing.
func (d *driver) stand(ctx context.Context, mine *place, at replica.Position, s *standing) (*standing, error) {
	var err error
	if s == nil {
		s, err = d.standing(ctx, stir{member: anyMember}, mine, at)
	}
	waited := false
	for err == nil && s.before != nil {
		waited = true
		was, seen := s.before, s.revision
		err = d.watch(ctx, was, func(ctx context.Context, why stir) (bool, error) {
			var err error
			why.revision = max(why.revision, seen)
			s, err = d.standing(ctx, why, mine, at)
			return err != nil || !bytes.Equal(s.before, was), err
		})
	}
	if err != nil {
		return nil, err
	}
	s.waited = waited
	return s, nil
}

// standing reads the standing of a place. The state of the member that sent a notification
// suffices, once it is no older than what was seen before and than the notification. A member
// sends notifications before reads see the change.
func (d *driver) standing(ctx context.Context, why stir, mine *place, at replica.Position) (*standing, error) {
	t := transaction{Then: append(d.tailReads(at.N), reading(ranged{Key: mine.key, KeysOnly: true}),
		reading(d.lastBefore(mine.created)))}
	var a transactionAnswer
	for range 2 {
		if why.member == anyMember || d.readFrom(ctx, why.member, t.serializable(), &a) != nil ||
			a.Header.Revision >= why.revision {
			break
		}
		a = transactionAnswer{}
	}
	if !a.answered() {
		a = transactionAnswer{}
		if err := d.read(ctx, "/v3/kv/txn", t, &a); err != nil {
			return nil, d.explain(err)
		}
	}
	s := &standing{revision: a.Header.Revision}
	var err error
	if s.described, err = d.describe(a); err != nil {
		return nil, err
	}
	if len(a.ranges(tailRanges).Pairs) == 0 {
		return nil, errPlaceLost
	}
	if before := a.ranges(tailRanges + 1).Pairs; len(before) > 0 {
		s.before = before[0].Key
	}
	return s, nil
}

// lastBefore returns the query for the last place before a revision.
func (d *driver) lastBefore(revision int64) ranged {
	from, end := d.keys.line()
	return ranged{Key: from, End: end, KeysOnly: true, MaxCreated: revision - 1, Order: "DESCEND", By: targetCreated,
		Limit: 1}
}
