package etcd

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/placectl/placectl/etcd/internal/members"
	"github.com/placectl/placectl/internal/replica"
	"github.com/placectl/placectl/internal/replica/drivertest"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// one returns a test's own member of the newest etcd.
func one(t *testing.T) string {
	t.Helper()
	return oneCluster(t).Hosts[0]
}

func oneCluster(t *testing.T) *members.Cluster {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return startEtcd(t, self, 1)
}

// unused returns an address without a listener.
func unused(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// TestSilence: what could not be sent fails with ErrAway; a change without an answer with ErrLost, and is found
// when it is sent again; a read without an answer with ErrAway.
func TestSilence(t *testing.T) {
	t.Parallel()
	start := replica.ID{1}.Start()
	d := connect(t, "silence", unused(t), unused(t))
	_, err := d.Append(within(t, 400*time.Millisecond), start, []byte("\x01one"), nil)
	if !errors.Is(err, replica.ErrAway) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("no listener: %v", err)
	}
	if _, err := d.After(within(t, 400*time.Millisecond), start, false); !errors.Is(err, replica.ErrAway) ||
		!strings.Contains(err.Error(), "refused") {
		t.Errorf("no listener: %v", err)
	}
	p, err := members.NewPipe(one(t))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	d = connect(t, "silence", p.Host)
	at := drivertest.Make(t, d)
	p.Set(members.Deaf)
	entry := []byte("\x01one")
	if _, err := d.Append(within(t, 400*time.Millisecond), at, entry, nil); !errors.Is(err, replica.ErrLost) {
		t.Errorf("no answer: %v", err)
	}
	if _, err := d.After(within(t, 400*time.Millisecond), at, false); !errors.Is(err, replica.ErrAway) {
		t.Errorf("no answer: %v", err)
	}
	p.Set(members.Open)
	tail, err := d.Append(drivertest.Soon(t), at, entry, nil)
	if err != nil || tail == nil || len(tail.Entries) != 1 || string(tail.Entries[0]) != string(entry) {
		t.Errorf("sent again: %+v, %v", tail, err)
	}
}

// TestHungMember: a member that is stopped, or not there, makes no call fail, and none wait for long. A stopped
// leader costs an election.
func TestHungMember(t *testing.T) {
	eachEtcd(t, 3, func(t *testing.T, c *members.Cluster) {
		d := connect(t, "hung", append([]string{unused(t)}, c.Hosts...)...)
		at := drivertest.Make(t, d)
		for i := range 3 {
			if err := c.Signal(i, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			at = drivertest.Put(t, d, at, []byte{1, byte(i)}, nil)
			fresh := connect(t, "hung", c.Hosts...)
			if tail, err := fresh.After(drivertest.Soon(t), at, false); err != nil || tail.Head != at {
				t.Error(tail, err)
			}
			turn, err := fresh.Turn(drivertest.Soon(t))
			if err != nil {
				t.Fatal(err)
			}
			turn.Leave()
			_ = fresh.Close()
			t.Logf("member %d hangs: %v", i, time.Since(began).Round(time.Millisecond))
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("member %d hangs: %v", i, took)
			}
			if err := errors.Join(c.Signal(i, syscall.SIGCONT), c.Wait()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestNested: no log is made below or above another one.
func TestNested(t *testing.T) {
	t.Parallel()
	host := one(t)
	drivertest.Make(t, connect(t, "site/cluster", host))
	for _, prefix := range []string{"site", "site/cluster/log", "site/cluster/a/b"} {
		d := connect(t, prefix, host)
		_, err := d.Keep(drivertest.Soon(t), replica.ID{7}, nil, &replica.Snapshot{Body: []byte("x")})
		if !errors.Is(err, replica.ErrNested) {
			t.Errorf("%s: %v", prefix, err)
		}
	}
	drivertest.Make(t, connect(t, "site/cluster2", host))
	drivertest.Make(t, connect(t, "sit", host))
}

// keysBelow returns the keys below a prefix, at a revision; 0 is now.
func keysBelow(t *testing.T, d *driver, under string, revision int64) (names []string, leased int) {
	t.Helper()
	r, err := d.get(drivertest.Soon(t), under, clientv3.WithPrefix(), clientv3.WithKeysOnly(),
		clientv3.WithRev(revision))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Kvs {
		names = append(names, string(p.Key))
		if p.Lease != 0 {
			leased++
		}
	}
	return names, leased
}

// TestPieces: parts and pieces that count are bound to no lease. Those of an entry that was refused are gone.
func TestPieces(t *testing.T) {
	t.Parallel()
	d := connect(t, "pieces", one(t))
	start := drivertest.Make(t, d)
	long := append([]byte{1}, make([]byte, 2*pieceBytes)...)
	at := drivertest.Put(t, d, start, long, nil)
	if tail, err := d.Append(drivertest.Soon(t), start, append(long, 1), nil); err != nil || len(tail.Entries) != 1 {
		t.Fatal(tail, err)
	}
	kept(t, d, start, at, long)
	for under, want := range map[string]int{"part/": 3, "snap/": 3 + 1} {
		if names, leased := keysBelow(t, d, d.keys.key(under), 0); len(names) != want || leased != 0 {
			t.Errorf("%s: %d keys, %d of them with a lease", under, len(names), leased)
		}
	}
	huge := append([]byte{1}, make([]byte, mostPieces*pieceBytes)...)
	if _, err := d.Append(drivertest.Soon(t), at, huge, nil); !errors.Is(err, replica.ErrFull) {
		t.Errorf("too long: %v", err)
	}
}

// kept puts a snapshot in the place of one.
func kept(t *testing.T, d *driver, was, at replica.Position, body []byte) {
	t.Helper()
	kept, err := d.Keep(drivertest.Soon(t), replica.ID{}, &was, &replica.Snapshot{At: at, Body: body})
	if !kept || err != nil {
		t.Fatal(kept, err)
	}
}

// TestTrimOrder: nothing is deleted before first says that it is not needed, because a reader would miss it.
func TestTrimOrder(t *testing.T) {
	t.Parallel()
	d := connect(t, "order", one(t))
	start := drivertest.Make(t, d)
	at := start
	for i := range 3 {
		at = drivertest.Put(t, d, at, []byte{1, byte(i)}, nil)
	}
	before, err := d.get(drivertest.Soon(t), d.keys.head())
	if err != nil {
		t.Fatal(err)
	}
	was := at
	for range 2 {
		kept(t, d, start, at, []byte("x"))
		start, at = at, drivertest.Put(t, d, at, []byte("\x01more"), nil)
	}
	end, err := d.get(drivertest.Soon(t), d.keys.head())
	if err != nil {
		t.Fatal(err)
	}
	for rev := before.Header.Revision; rev <= end.Header.Revision; rev++ {
		r, err := d.get(drivertest.Soon(t), d.keys.first(), clientv3.WithRev(rev))
		if err != nil {
			t.Fatal(err)
		}
		first, err := decodeFirst(value(r))
		if err != nil {
			t.Fatal(err)
		}
		names, _ := keysBelow(t, d, d.keys.key("log/"), rev)
		if len(names) > 0 && first <= was.N && names[0] > d.keys.entry(first) {
			t.Errorf("first is %d, and the oldest entry %s", first, names[0])
		}
	}
}

// TestKeysOfTurns: the processes of a machine have one key in the line, however often they wait there, because etcd
// goes through all that ever existed. One that was killed leaves its place to the next.
func TestKeysOfTurns(t *testing.T) {
	t.Parallel()
	host := one(t)
	process := func(owner string) *driver {
		c := replica.Config{Scheme: "etcd", Members: []string{host}, Prefix: "keys", Owner: owner}
		return connectWith(t, c, nil)
	}
	at := drivertest.Make(t, process("a"))
	ever := make(map[string]bool)
	var killed replica.Turn
	for i := range 4 {
		d := process("a")
		turn, err := d.Turn(drivertest.Soon(t))
		if err != nil || turn.Waited() {
			t.Fatal(turn, err)
		}
		names, _ := keysBelow(t, d, d.keys.line(), 0)
		for _, name := range names {
			ever[name] = true
		}
		switch i {
		case 0:
			turn.Leave()
			d.leaving.Wait()
		case 1:
			killed = turn
		default:
			at = drivertest.Put(t, d, at, []byte{1, byte(i)}, turn)
		}
	}
	if len(ever) != 1 {
		t.Errorf("%d keys", len(ever))
	}
	killed.Leave()
	b := process("b")
	turn, err := b.Turn(drivertest.Soon(t))
	if err != nil || turn.Waited() {
		t.Fatal(turn, err)
	}
	drivertest.Put(t, b, at, []byte("\x01more"), turn)
}

// TestLateEnter: a copy of the request that entered the line is carried out after the turn was used: no writer has to
// wait for that key to run out.
func TestLateEnter(t *testing.T) {
	t.Parallel()
	host := one(t)
	d, other := connect(t, "late", host), connect(t, "late", host)
	at := drivertest.Make(t, d)
	got, err := d.Turn(drivertest.Soon(t))
	if err != nil {
		t.Fatal(err)
	}
	mine := got.(*turn)
	mine.doubled = true // as if no answer had come to the first request
	at = drivertest.Put(t, d, at, []byte("\x01one"), mine)
	d.leaving.Wait()
	c, err := d.connect(drivertest.Soon(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Put(drivertest.Soon(t), mine.key, "", clientv3.WithLease(mine.session.Lease())); err == nil {
		t.Error("a late copy has put the key")
	}
	drivertest.Put(t, other, at, []byte("\x01two"), nil)
}

// TestLeaseOver: a machine that was stopped until the lease of its turn had run out tries again.
func TestLeaseOver(t *testing.T) {
	t.Parallel()
	d := connect(t, "over", one(t))
	err := (&turn{d: d, key: d.keys.line()}).enter(drivertest.Soon(t), 1)
	if !errors.Is(err, replica.ErrAway) {
		t.Error(err)
	}
}
