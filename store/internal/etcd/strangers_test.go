//go:build etcd

package etcd

import (
	"errors"
	"strings"
	"testing"

	"github.com/placectl/placectl/store/internal/replica"
)

// TestStrangers: a member of another etcd in the list changes no answer, whichever is asked
// first. If none has the log, the error says that the list is wrong, and nothing is made.
func TestStrangers(t *testing.T) {
	t.Parallel()
	f, other := newFake(), newFake()
	other.cluster++
	ours, theirs := f.member(t, nil), other.member(t, nil)
	at := made(t, connect(t, "db", ours))
	long := append([]byte("\x01"), make([]byte, 3*pieceBytes)...)
	for i := range 12 { // which member is asked first is drawn
		d := connect(t, "db", ours, theirs)
		d.best.Store(1)
		switch i % 4 {
		case 0:
			if tail, err := d.After(ending(t), at); err != nil || tail.Head != at {
				t.Fatal(tail, err)
			}
		case 1:
			appended(t, d, at, []byte("\x01one"), nil)
			at = at.After([]byte("\x01one"))
		case 2:
			p, tail, err := d.Turn(ending(t), nil, at)
			if err != nil || tail.Head != at {
				t.Fatal(tail, err)
			}
			p.Leave()
		case 3:
			appended(t, d, at, long, nil)
			at = at.After(long)
		}
		if i > 3 {
			continue
		}
		none := connect(t, "none", ours, theirs)
		if _, err := none.After(ending(t), at); err == nil || errors.Is(err, replica.ErrNoLog) ||
			!strings.Contains(err.Error(), theirs) {
			t.Errorf("no database at either: %v", err)
		}
		if err := none.Create(ending(t), replica.ID{1}, &replica.Snapshot{}); err == nil {
			t.Error("a database was made at one of two")
		}
	}
	if len(other.pairs) > 0 {
		for key, p := range other.pairs {
			if p.lease == 0 {
				t.Errorf("%s was put at the other", key)
			}
		}
	}
}

// TestNested: no log is made below or above another one.
func TestNested(t *testing.T) {
	eachEtcd(t, func(t *testing.T, hosts []string) {
		made(t, connect(t, "site/cluster", hosts...))
		for _, prefix := range []string{"site", "site/cluster/log", "site/cluster/a/b"} {
			if err := connect(t, prefix, hosts...).Create(ending(t), replica.ID{7},
				&replica.Snapshot{At: replica.ID{7}.Start(), Body: []byte("x")}); !errors.Is(err, replica.ErrNested) {
				t.Errorf("%s: %v", prefix, err)
			}
		}
		made(t, connect(t, "site/cluster2", hosts...))
		made(t, connect(t, "sit", hosts...))
	})
}

// TestChains: chains of entries that are trimmed are found by their positions.
func TestChains(t *testing.T) {
	eachEtcd(t, func(t *testing.T, hosts []string) {
		d := connect(t, "chains", hosts...)
		made(t, d)
		for _, from := range []uint64{1, 3} {
			if err := d.Remember(ending(t), from, [][8]byte{{byte(from)}, {byte(from + 1)}}); err != nil {
				t.Fatal(err)
			}
		}
		for n := range uint64(7) {
			chain, known, err := d.Chain(ending(t), n)
			if err != nil || known != (n >= 1 && n <= 4) || known && chain != [8]byte{byte(n)} {
				t.Errorf("%d: %x, %t, %v", n, chain, known, err)
			}
		}
	})
}

// TestEarlier: the snapshot before the newest can be read as long as it counts.
func TestEarlier(t *testing.T) {
	eachEtcd(t, func(t *testing.T, hosts []string) {
		d := connect(t, "earlier", hosts...)
		at := made(t, d)
		if s, err := d.Earlier(ending(t)); s != nil || err != nil {
			t.Fatal(s, err)
		}
		first, err := d.Snapshot(ending(t))
		if err != nil {
			t.Fatal(err)
		}
		appended(t, d, at, []byte("\x01one"), nil)
		now := at.After([]byte("\x01one"))
		if kept, err := d.Keep(ending(t), at, &replica.Snapshot{At: now, Body: []byte("newest")}); !kept || err != nil {
			t.Fatal(kept, err)
		}
		if err := d.Trim(ending(t), at.N+1); err != nil {
			t.Fatal(err)
		}
		if s, err := d.Earlier(ending(t)); err != nil || s == nil || s.At != at ||
			string(s.Body) != string(first.Body) {
			t.Fatal(s, err)
		}
		if err := d.Trim(ending(t), now.N+1); err != nil {
			t.Fatal(err)
		}
		if s, err := d.Earlier(ending(t)); s != nil || err != nil {
			t.Fatal(s, err)
		}
	})
}
