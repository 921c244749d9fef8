//go:build etcd

package etcd

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/placectl/placectl/bench/members"
	"github.com/placectl/placectl/store/internal/replica"
)

var (
	chaosFor  = flag.Duration("chaos", 2*time.Second, "how long the runs with faults take")
	chaosSeed = flag.Uint64("chaos-seed", 0, "what the faults are drawn from, 0: something new")
)

// writer appends its own entries, as a store does, and knows which are acknowledged.
type writer struct {
	d      *driver
	number uint64
	at     replica.Position
	acked  map[string]bool
	tried  map[string]bool
	late   string // how far it fell behind at most, and in which call
	most   int
}

// fell notes how many entries of others a call has found.
func (w *writer) fell(call string, began time.Time, tail *replica.Tail) {
	if n := int(tail.Head.N - min(tail.Head.N, w.at.N)); n > w.most {
		w.most, w.late = n, fmt.Sprintf("%d entries behind %s that took %v", n, call,
			time.Since(began).Round(time.Millisecond))
	}
}

// nameOf returns the name of the change in an entry: its writer and a number.
func nameOf(entry []byte) string { return string(entry[1:][:16]) }

// entry returns a unique entry: version, writer, number, and sometimes a lot more.
func (w *writer) entry(random *rand.Rand) []byte {
	b := binary.BigEndian.AppendUint64([]byte{1}, w.number)
	b = binary.BigEndian.AppendUint64(b, uint64(len(w.tried)))
	w.tried[nameOf(b)] = true
	if random.IntN(40+len(w.tried)/10) == 0 { // ever more seldom: all that there is has to find room for an hour
		b = append(b, make([]byte, pieceBytes+random.IntN(pieceBytes))...)
	}
	return b
}

// write makes one change, and returns when its outcome is known or the context ends.
func (w *writer) write(ctx context.Context, random *rand.Rand) error {
	entry := w.entry(random)
	var place replica.Place
	defer func() {
		if place != nil {
			place.Leave()
		}
	}()
	began := time.Now()
	for losses := 0; ; {
		tail, err := w.d.Append(ctx, w.at, entry, place)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, replica.ErrLost), errors.Is(err, replica.ErrAway):
			continue // the same bytes again
		case err != nil:
			return err
		case tail == nil:
			w.at = w.at.After(entry)
			w.acked[nameOf(entry)] = true
			return nil
		}
		w.fell("an entry", began, tail)
		mine, err := w.follow(ctx, tail, entry)
		if mine || err != nil {
			if mine {
				w.acked[nameOf(entry)] = true
			}
			return err
		}
		if losses++; losses < 2 && !tail.Waiting {
			continue
		}
		began = time.Now()
		for place, tail, err = w.d.Turn(ctx, place, w.at); err != nil; place, tail, err = w.d.Turn(ctx, nil, w.at) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		w.fell("a turn", began, tail)
		if _, err := w.follow(ctx, tail, entry); err != nil {
			return err
		}
		began = time.Now()
	}
}

// follow goes through the entries of a tail, and of later ones if the tail was too long to be
// complete. It reports whether one of them is the writer's.
func (w *writer) follow(ctx context.Context, tail *replica.Tail, entry []byte) (mine bool, err error) {
	for {
		for _, e := range tail.Entries {
			w.at = w.at.After(e)
			mine = mine || string(e) == string(entry)
		}
		if w.at == tail.Head {
			return mine, nil
		}
		if len(tail.Entries) == 0 {
			return mine, fmt.Errorf("the entries lead to %v, and head is %v", w.at, tail.Head)
		}
		for tail, err = w.d.After(ctx, w.at); err != nil; tail, err = w.d.After(ctx, w.at) {
			if ctx.Err() != nil {
				return mine, ctx.Err()
			}
		}
	}
}

// chaos runs writers while something disturbs them, and then reads the result.
func chaos(t *testing.T, open func(prefix string) *driver, disturb func(ctx context.Context, random *rand.Rand)) {
	seed := *chaosSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-chaos-seed %d", seed)
	prefix := fmt.Sprintf("chaos-%d", seed)
	start := made(t, open(prefix))
	ctx, cancel := context.WithTimeout(context.Background(), *chaosFor)
	defer cancel()
	var all sync.WaitGroup
	writers := make([]*writer, 4)
	for i := range writers {
		w := &writer{d: open(prefix), number: uint64(i), at: start, acked: make(map[string]bool),
			tried: make(map[string]bool)}
		writers[i] = w
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			for ctx.Err() == nil {
				if err := w.write(ctx, random); err != nil && ctx.Err() == nil {
					t.Errorf("writer %d: %v", i, err)
					return
				}
			}
		})
	}
	disturb(ctx, rand.New(rand.NewPCG(seed, 99)))
	all.Wait()
	verify(t, open(prefix), start, writers)
}

// verify reads the whole log: it has each acknowledged entry, none twice, and none that no
// writer wrote.
func verify(t *testing.T, d *driver, start replica.Position, writers []*writer) {
	t.Helper()
	count, at := make(map[string]int), start
	for {
		tail, err := d.After(ending(t), at)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range tail.Entries {
			count[nameOf(e)]++
			at = at.After(e)
		}
		if at == tail.Head {
			break
		}
		if len(tail.Entries) == 0 {
			t.Fatalf("the entries lead to %v, and head is %v", at, tail.Head)
		}
	}
	acked := 0
	for i, w := range writers {
		for e := range w.acked {
			if acked++; count[e] != 1 {
				t.Errorf("writer %d: a change that was acknowledged is there %d times", i, count[e])
			}
		}
		for e := range w.tried {
			if count[e] > 1 {
				t.Errorf("writer %d: a change is there %d times", i, count[e])
			}
			delete(count, e)
		}
	}
	if len(count) > 0 {
		t.Errorf("%d changes that no writer wrote", len(count))
	}
	t.Logf("%d entries, %d acknowledged", at.N, acked)
	for i, w := range writers {
		t.Logf("writer %d: at most %s", i, w.late)
	}
	if acked == 0 {
		t.Error("nothing was acknowledged")
	}
}

// TestChaos: members drop and delay requests and answers, so that late copies are carried out,
// too; and leases expire.
func TestChaos(t *testing.T) {
	f := newFake()
	var passed, harm atomic.Int64 // nanoseconds that leases have lost; faults in a thousand
	f.now = func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }
	hook := func(r *http.Request, after bool) bool {
		switch n := rand.Int64N(1000); {
		case n >= harm.Load():
			return true
		case n%3 == 0:
			time.Sleep(time.Duration(rand.Int64N(int64(400 * time.Millisecond)))) // beyond askNext, too: a late copy
			return true
		}
		return false
	}
	var hosts []string
	for range 3 {
		hosts = append(hosts, f.member(t, hook))
	}
	quiet := func(prefix string) *driver { return quietly(t, prefix, hosts) }
	chaos(t, quiet, func(ctx context.Context, random *rand.Rand) {
		harm.Store(100)
		defer harm.Store(0)
		for ctx.Err() == nil {
			time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
			if random.IntN(4) == 0 {
				passed.Add(int64(pieceLease * time.Second))
			}
		}
	})
}

// quietly does what connect does, without messages about members that fail on purpose.
func quietly(t *testing.T, prefix string, hosts []string) *driver {
	d, err := open(replica.Config{Scheme: schemePlain, Members: hosts, Prefix: prefix}, func(string) string {
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d.(*driver)
}

// TestRealChaos: members of etcd are killed, stopped for a while, or unreachable for some
// machines, one or two at once.
func TestRealChaos(t *testing.T) {
	eachReal(t, func(t *testing.T, c *members.Cluster) {
		var ways []*way
		hosts := slices.Clone(c.Hosts)
		for i, host := range hosts {
			ways = append(ways, newWay(t, host))
			hosts[i] = ways[i].Host
		}
		machines := 0
		open := func(prefix string) *driver { // every other one goes by ways that may be bad
			if machines++; machines%2 == 0 {
				return quietly(t, prefix, hosts)
			}
			return quietly(t, prefix, c.Hosts)
		}
		chaos(t, open, func(ctx context.Context, random *rand.Rand) {
			for ctx.Err() == nil {
				time.Sleep(time.Duration(random.IntN(500)) * time.Millisecond)
				hit := random.Perm(len(c.Hosts))[:1+random.IntN(2)]
				how := random.IntN(5)
				for _, i := range hit {
					switch how {
					case 0:
						_ = c.Signal(i, syscall.SIGKILL)
					case 1:
						_ = c.Signal(i, syscall.SIGSTOP)
					default:
						ways[i].set(int32(how - 2 + waySlow))
					}
				}
				time.Sleep(time.Duration(random.IntN(1500)) * time.Millisecond)
				for _, i := range hit {
					switch how {
					case 0:
						if err := c.Start(i); err != nil {
							t.Error(err)
						}
					case 1:
						_ = c.Signal(i, syscall.SIGCONT)
					default:
						ways[i].set(wayOpen)
					}
				}
			}
			if err := c.Wait(); err != nil {
				t.Error(err)
			}
		})
	})
}
