package replica_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	. "github.com/placectl/placectl/internal/replica"
	"github.com/placectl/placectl/internal/replica/memlog"
)

// rough is a connection to a log on which calls and answers get lost. A call may be carried
// out although its answer is lost or late, twice, or after its caller has given up.
type rough struct {
	*memlog.Log
	bad float64 // how many of the calls go wrong

	mu      sync.Mutex
	rng     *rand.Rand
	delayed sync.WaitGroup
	cut     bool // the machine is cut off
	stopped bool // nothing is delayed any more
}

func newRough(m *memlog.Log, seed uint64, bad float64) *rough {
	return &rough{Log: m, bad: bad, rng: rand.New(rand.NewPCG(seed, 7))}
}

// fate is what happens to a call.
type fate int

const (
	goesWell fate = iota
	notSent
	askLost
	answerLost
	twice
	late
	torn
)

func (d *rough) draw() (f fate, pause time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cut {
		return notSent, time.Millisecond
	}
	if d.rng.Float64() >= d.bad {
		return goesWell, 0
	}
	f = fate(1 + d.rng.IntN(int(torn)))
	if f == late && d.stopped {
		f = askLost
	}
	return f, time.Duration(d.rng.IntN(4000)) * time.Microsecond
}

func (d *rough) Append(ctx context.Context, at Position, entry []byte, turn Turn) (*Tail, error) {
	f, pause := d.draw()
	switch f {
	case notSent:
		return nil, ErrAway
	case askLost:
		return nil, ErrLost
	case answerLost, torn:
		_, _ = d.Log.Append(ctx, at, entry, turn)
		return nil, fmt.Errorf("%w: it was cut short", ErrLost)
	case twice:
		_, _ = d.Log.Append(ctx, at, entry, turn)
		if pause < time.Millisecond { // a second copy that comes much later
			time.Sleep(100 * pause)
		}
		t, err := d.Log.Append(ctx, at, entry, turn)
		if t != nil && t.First > at.N+1 {
			return nil, fmt.Errorf("%w: one of two copies was refused, and what the other did was trimmed", ErrLost)
		}
		return t, err
	case late:
		d.delayed.Go(func() {
			time.Sleep(pause)
			_, _ = d.Log.Append(context.Background(), at, entry, turn)
		})
		return nil, ErrLost
	}
	return d.Log.Append(ctx, at, entry, turn)
}

// After may return less than there is, as a limited answer does.
func (d *rough) After(ctx context.Context, at Position, wait bool) (*Tail, error) {
	f, pause := d.draw()
	switch f {
	case notSent, askLost, answerLost:
		return d.retry(ctx, at)
	case late:
		time.Sleep(pause)
	}
	t, err := d.Log.After(ctx, at, wait)
	if f == torn && err == nil && len(t.Entries) > 1 {
		t.Entries = t.Entries[:1]
	}
	return t, err
}

// retry does what a driver does with a lost read: it asks another member.
func (d *rough) retry(ctx context.Context, at Position) (*Tail, error) {
	for ctx.Err() == nil {
		time.Sleep(time.Millisecond)
		if f, _ := d.draw(); f != notSent {
			return d.Log.After(ctx, at, false)
		}
	}
	return nil, ErrAway
}

func (d *rough) Snapshot(ctx context.Context, before bool) (*Snapshot, error) {
	if _, err := d.retry(ctx, Nowhere); err != nil {
		return nil, err
	}
	return d.Log.Snapshot(ctx, before)
}

func (d *rough) Keep(ctx context.Context, id ID, was *Position, s *Snapshot) (bool, error) {
	f, _ := d.draw()
	if f == notSent || f == askLost {
		return false, ErrLost
	}
	kept, err := d.Log.Keep(ctx, id, was, s)
	if f == answerLost {
		return false, ErrLost
	}
	return kept, err
}

// away cuts off the machine, or connects it again.
func (d *rough) away(cut bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cut = cut
}

// settle waits until nothing is under way any more.
func (d *rough) settle() {
	d.mu.Lock()
	d.stopped = true
	d.bad = 0
	d.cut = false
	d.mu.Unlock()
	d.delayed.Wait()
}

var errKilled = errors.New("killed")
