//go:build etcd

package etcd

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/placectl/placectl/store/internal/replica"
)

// turned waits for a turn that has to come soon.
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

// TestOlderState: a member says that a key was deleted before it lets others see that, and
// who waits looks again rather than until the next round.
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

// TestLateEnter: a copy of what has put a key into the line is carried out when the place was
// given up long ago: nobody has to wait for that to run out.
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
			if _, err := d.placesLease(ending(t)); err != nil { // it has one
				t.Fatal(err)
			}
			d.best.Store(0)
			hanging.Store(true)
			p, _ := turned(t, d, at)
			give(d, at, p)
			d.leaving.Wait()
			close(hold)
			<-done
			p, tail := turned(t, other, at)
			if tail.Waiting {
				t.Error("somebody is in the line who left it")
			}
			appended(t, other, tail.Head, []byte("\x01two"), p)
		})
	}
}

// TestLeaseOfPlaces: places that are taken one after the other have one lease; one that has
// run out is not used again.
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
	if err := d.revoke(ending(t), d.lease); err != nil {
		t.Fatal(err)
	}
	p, _ := turned(t, d, at)
	appended(t, d, at, []byte("\x01one"), p)
	if n := grants.Load() - before; n != 2 {
		t.Errorf("%d leases, after the first was gone", n)
	}
}
