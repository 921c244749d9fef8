//go:build etcd

package etcd

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/placectl/placectl/store/internal/replica"
)

// turned waits for a turn that must come soon.
func turned(t testing.TB, d *driver, at replica.Position) (replica.Place, *replica.Tail) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ending(t), placeLease/2*time.Second)
	defer cancel()
	p, tail, err := d.Turn(ctx, nil, at)
	if err != nil {
		t.Fatal(err)
	}
	return p, tail
}

// TestOlderState: if a member reports a deleted key before other members show that, the
// waiting writer looks again at once, not in the next round.
func TestOlderState(t *testing.T) {
	t.Parallel()
	f := newFake()
	var looks atomic.Int32
	d, other := connect(t, "older", f.member(t, func(r *http.Request, after bool) bool {
		if !after && isTransaction(r) {
			looks.Add(1)
		}
		return true
	})), connect(t, "older", f.member(t, nil))
	at := made(t, d)
	first, _ := turned(t, other, at)
	began := looks.Load()
	came := make(chan *replica.Tail, 1)
	go func() { _, tail := turned(t, d, at); came <- tail }()
	for looks.Load() < began+2 { // it is in the line, and has looked when its watch stood
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
	f.lag()
	left := time.Now()
	appended(t, other, at, []byte("\x01one"), first)
	if tail := <-came; len(tail.Entries) != 1 || !tail.Waiting {
		t.Errorf("%+v", tail)
	}
	if took := time.Since(left); took > askNext/2 {
		t.Errorf("the turn came %v after the one before had left", took)
	}
}

// TestLateEnter: a copy of the request that entered the line is carried out long after the
// place was given up: no writer has to wait for that key to expire.
func TestLateEnter(t *testing.T) {
	t.Parallel()
	for name, give := range map[string]func(d *driver, at replica.Position, p replica.Place){
		"left": func(_ *driver, _ replica.Position, p replica.Place) { p.Leave() },
		"used": func(d *driver, at replica.Position, p replica.Place) { appended(t, d, at, []byte("\x01one"), p) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			hold, done := make(chan struct{}), make(chan struct{}, 1)
			var hanging atomic.Bool
			slow := f.member(t, func(r *http.Request, after bool) bool {
				if after || !isTransaction(r) || !hanging.CompareAndSwap(true, false) {
					return true
				}
				<-hold
				go func() { time.Sleep(20 * time.Millisecond); done <- struct{}{} }()
				return true
			})
			d, other := connect(t, "copy", slow, f.member(t, nil)), connect(t, "copy", f.member(t, nil))
			at := made(t, d)
			d.best.Store(0)
			hanging.Store(true)
			p, _ := turned(t, d, at)
			give(d, at, p)
			d.leaving.Wait()
			close(hold)
			<-done
			p, tail := turned(t, other, at)
			if tail.Waiting {
				t.Error("a writer that left the line is still in it")
			}
			appended(t, other, tail.Head, []byte("\x01two"), p)
		})
	}
}

// TestLeaseOfPlaces: places that are taken one after the other use one lease; an expired one
// is not used again.
func TestLeaseOfPlaces(t *testing.T) {
	t.Parallel()
	f := newFake()
	var grants atomic.Int32
	d := connect(t, "leases", f.member(t, func(r *http.Request, after bool) bool {
		if !after && strings.HasSuffix(r.URL.Path, "/lease/grant") {
			grants.Add(1)
		}
		return true
	}))
	at := made(t, d)
	before := grants.Load() // for the first snapshot
	for range 3 {
		p, _ := turned(t, d, at)
		p.Leave()
		d.leaving.Wait()
	}
	if n := grants.Load() - before; n != 1 {
		t.Errorf("%d leases for three places", n)
	}
	if err := d.revoke(ending(t), d.kept.id); err != nil {
		t.Fatal(err)
	}
	p, _ := turned(t, d, at)
	appended(t, d, at, []byte("\x01one"), p)
	if n := grants.Load() - before; n != 2 {
		t.Errorf("%d leases, after the first was gone", n)
	}
}

// TestKeptLease: processes of a machine that take places one after the other use one lease.
// They never use that of a process which was killed in the line, because that would keep its
// place alive.
func TestKeptLease(t *testing.T) {
	t.Parallel()
	f := newFake()
	var grants atomic.Int32
	host := f.member(t, func(r *http.Request, after bool) bool {
		if !after && strings.HasSuffix(r.URL.Path, "/lease/grant") {
			grants.Add(1)
		}
		return true
	})
	folder := t.TempDir()
	process := func() *driver {
		return connectWith(t, replica.Config{Scheme: schemePlain, Members: []string{host}, Prefix: "kept",
			Folder: folder}, nil)
	}
	at := made(t, process())
	before := grants.Load() // for the first snapshot
	want := func(what string, n int32) {
		t.Helper()
		if got := grants.Load() - before; got != n {
			t.Fatalf("%s: %d leases, not %d", what, got, n)
		}
	}
	for i := range 4 {
		d := process()
		p, _ := turned(t, d, at)
		if i%2 == 0 {
			at = appended(t, d, at, []byte{1, byte(i)}, p)
		} else {
			p.Leave()
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	want("one after the other", 1)
	killed, _ := turned(t, process(), at)
	want("the same", 1)
	ctx, cancel := context.WithTimeout(ending(t), 100*time.Millisecond)
	defer cancel()
	if _, _, err := process().Turn(ctx, nil, at); err == nil {
		t.Fatal("two have their turn")
	}
	want("beside one in the line", 2)
	killed.Leave()
	if left, err := filepath.Glob(filepath.Join(folder, "*")); err != nil || len(left) > 1 {
		t.Error(left, err)
	}
}

// TestKeysOfPlaces: a writer has one key in the line however often it waits there, because
// etcd goes through all that ever existed. The exception is keys that a copy of an earlier
// request may still put.
func TestKeysOfPlaces(t *testing.T) {
	t.Parallel()
	f := newFake()
	host := f.member(t, nil)
	d := connect(t, "keys", host)
	d.renewPlace = time.Nanosecond // each place has its own lease
	at := made(t, d)
	keys := func() (n int) {
		f.mu.Lock()
		defer f.mu.Unlock()
		for k := range f.ever {
			if strings.HasPrefix(k, "keys/line/") {
				n++
			}
		}
		return n
	}
	for i := range 4 {
		p, _ := turned(t, d, at)
		p.Leave()
		d.leaving.Wait()
		p, _ = turned(t, d, at)
		at = appended(t, d, at, []byte{1, byte(i)}, p)
	}
	if n := keys(); n != 1 {
		t.Errorf("%d keys for eight places", n)
	}
	p, _ := turned(t, d, at)
	p.(*place).doubled = true
	p.Leave()
	d.leaving.Wait()
	turned(t, d, at)
	if n := keys(); n != 2 {
		t.Errorf("%d keys, when the first may be put by a late copy", n)
	}
}

// TestCopiedLease: a folder of replicas is copied with the lease of a machine, and both
// machines enter the line: each has its own place.
func TestCopiedLease(t *testing.T) {
	t.Parallel()
	f := newFake()
	host := f.member(t, nil)
	d, copied := connect(t, "copied", host), connect(t, "copied", host)
	at := made(t, d)
	p, _ := turned(t, d, at)
	p.Leave()
	d.leaving.Wait()
	copied.kept = d.kept
	first, _, err := d.Turn(ending(t), nil, at)
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := copied.enter(ending(t), at)
	if err != nil {
		t.Fatal(err)
	}
	if mine := first.(*place); second.created == mine.created || string(second.key) == string(mine.key) {
		t.Errorf("two machines have one place: %+v", second)
	}
}

// TestLateLeaving: a copy of the request that gives up a place is carried out when its owner
// has the next one: that one stays.
func TestLateLeaving(t *testing.T) {
	t.Parallel()
	f := newFake()
	d := connect(t, "late", f.member(t, nil))
	at := made(t, d)
	p, _ := turned(t, d, at)
	late := p.(*place).leaving()
	p.Leave()
	d.leaving.Wait()
	next, _ := turned(t, d, at)
	if err := d.read(ending(t), "/v3/kv/txn", late, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := d.standing(ending(t), stir{member: anyMember}, next.(*place), at); err != nil {
		t.Error(err)
	}
}
