//go:build etcd

package etcd

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/store/internal/replica"
)

var testID = replica.ID{1, 2, 3, 4, 5, 6, 7, 8, 9}

func ending(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// made makes a log, and returns its first position.
func made(t testing.TB, d *driver) replica.Position {
	t.Helper()
	at := testID.Start()
	if err := d.Create(ending(t), testID, &replica.Snapshot{At: at, Format: 7, Body: []byte("the first")}); err != nil {
		t.Fatal(err)
	}
	return at
}

// appended appends an entry that nothing prevents.
func appended(t testing.TB, d *driver, at replica.Position, entry []byte, where replica.Place) replica.Position {
	t.Helper()
	tail, err := d.Append(ending(t), at, entry, where)
	if err != nil || tail != nil {
		t.Fatalf("append: %+v, %v", tail, err)
	}
	return at.After(entry)
}

// TestDriver: entries are put after the last one or not at all; a waiting writer comes first.
func TestDriver(t *testing.T) {
	eachEtcd(t, func(t *testing.T, hosts []string) {
		ctx := ending(t)
		d := connect(t, "site/cluster", hosts...)
		if _, err := d.After(ctx, replica.Position{}); !errors.Is(err, replica.ErrNoLog) {
			t.Fatalf("before there is a log: %v", err)
		}
		if _, err := d.Snapshot(ctx); !errors.Is(err, replica.ErrNoLog) {
			t.Fatalf("before there is a log: %v", err)
		}
		at := made(t, d)
		if err := d.Create(ctx, testID, &replica.Snapshot{At: at}); !errors.Is(err, replica.ErrLog) {
			t.Fatalf("made twice: %v", err)
		}
		start := at
		at = appended(t, d, at, []byte("\x01one"), nil)
		tail, err := d.Append(ctx, start, []byte("\x01two"), nil)
		if err != nil || tail == nil || tail.Head != at || len(tail.Entries) != 1 || tail.Waiting ||
			tail.Log != testID || tail.First != 1 {
			t.Fatalf("behind the last but one: %+v, %v", tail, err)
		}
		first, behind, err := d.Turn(ctx, nil, start)
		if err != nil || behind.Head != at || len(behind.Entries) != 1 {
			t.Fatal(behind, err)
		}
		if tail, err = d.Append(ctx, at, []byte("\x01two"), nil); err != nil || tail == nil || !tail.Waiting {
			t.Fatalf("a writer waits: %+v, %v", tail, err)
		}
		waited, second := make(chan error, 1), make(chan replica.Place, 1)
		was := at
		go func() {
			p, behind, err := d.Turn(ctx, nil, was)
			if err == nil && (behind.Head != was.After([]byte("\x01two")) || len(behind.Entries) != 1) {
				t.Errorf("behind %v when the turn came: %+v", was, behind)
			}
			second <- p
			waited <- err
		}()
		select {
		case <-waited:
			t.Fatal("a turn, though another writer is first")
		case <-time.After(100 * time.Millisecond):
		}
		at = appended(t, d, at, []byte("\x01two"), first)
		if err := <-waited; err != nil {
			t.Fatalf("the one before has gone: %v", err)
		}
		if tail, err = d.Append(ctx, start, []byte("\x01three"), nil); err != nil || tail == nil || !tail.Waiting ||
			len(tail.Entries) != 2 {
			t.Fatalf("behind, and a writer waits: %+v, %v", tail, err)
		}
		(<-second).Leave()
		d.leaving.Wait()
		at = appended(t, d, at, []byte("\x01three"), nil)
		if tail, err = d.After(ctx, at); err != nil || tail.Head != at || len(tail.Entries) != 0 {
			t.Fatalf("at the end: %+v, %v", tail, err)
		}
	})
}

// TestLostPlace: a writer that has lost its place takes another one, at the end.
func TestLostPlace(t *testing.T) {
	eachEtcd(t, func(t *testing.T, hosts []string) {
		ctx := ending(t)
		d := connect(t, "lost", hosts...)
		at := made(t, d)
		p, _, err := d.Turn(ctx, nil, at)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.revoke(ctx, p.(*place).lease.id); err != nil { // as if it had run out
			t.Fatal(err)
		}
		if tail, err := d.Append(ctx, at, []byte("\x01one"), p); err != nil || tail == nil || !tail.Waiting {
			t.Fatalf("without the place: %+v, %v", tail, err)
		}
		anew, _, err := d.Turn(ctx, p, at)
		if err != nil || anew == p {
			t.Fatalf("%v, %v", anew, err)
		}
		appended(t, d, at, []byte("\x01one"), anew)
	})
}

// TestLongEntries: entries in parts, and a tail of more than one page, are read completely and
// in order.
func TestLongEntries(t *testing.T) {
	eachEtcd(t, func(t *testing.T, hosts []string) {
		ctx := ending(t)
		d := connect(t, "long", hosts...)
		start := made(t, d)
		at, want := start, [][]byte{}
		random := rand.New(rand.NewPCG(1, 2))
		for i := range firstPage + 20 {
			entry := []byte{1, byte(i)}
			if i == 3 || i == firstPage {
				entry = append(entry, make([]byte, 2*pieceBytes+i)...)
				for k := 2; k < len(entry); k += 7 {
					entry[k] = byte(random.Uint32())
				}
			}
			want, at = append(want, entry), appended(t, d, at, entry, nil)
		}
		tail, err := d.After(ctx, start)
		if err != nil || tail.Head != at || len(tail.Entries) != len(want) {
			t.Fatalf("%v, %d of %d", err, len(tail.Entries), len(want))
		}
		for i, entry := range tail.Entries {
			if !bytes.Equal(entry, want[i]) {
				t.Fatalf("entry %d differs", i+1)
			}
		}
		if tail, err = d.Append(ctx, start, want[3], nil); err != nil || len(tail.Entries) != len(want) {
			t.Fatalf("refused: %v", err)
		}
		if _, err = d.Append(ctx, at, append([]byte{1}, make([]byte, mostPieces*pieceBytes)...), nil); !errors.Is(err,
			replica.ErrFull) {
			t.Fatalf("too long: %v", err)
		}
		if left := leased(t, d, string(d.keys)+"/part/"); left != 0 {
			t.Fatalf("%d parts of entries that count are bound to a lease", left)
		}
	})
}

// leased counts the keys below a prefix that have a lease.
func leased(t testing.TB, d *driver, under string) (count int) {
	var a struct {
		Pairs []struct {
			Lease int64 `json:"lease,string"`
		} `json:"kvs"`
	}
	if err := d.read(ending(t), "/v3/kv/range", ranged{Key: []byte(under), End: behind([]byte(under)), KeysOnly: true},
		&a); err != nil {
		t.Fatal(err)
	}
	for _, p := range a.Pairs {
		if p.Lease != 0 {
			count++
		}
	}
	return count
}

// TestSnapshots: the newest one is read completely, the one before stays until it is trimmed,
// and what is needed is not trimmed.
func TestSnapshots(t *testing.T) {
	eachEtcd(t, func(t *testing.T, hosts []string) {
		ctx := ending(t)
		d := connect(t, "snapshots", hosts...)
		start := made(t, d)
		at := start
		for i := range 10 {
			at = appended(t, d, at, []byte{1, byte(i)}, nil)
		}
		body := bytes.Repeat([]byte("0123456789abcdef"), pieceBytes/8)
		if kept, err := d.Keep(ctx, at, &replica.Snapshot{At: at, Body: body}); err != nil || kept {
			t.Fatalf("in the place of another: %v, %v", kept, err)
		}
		if kept, err := d.Keep(ctx, start, &replica.Snapshot{At: at, Format: 7, Body: body}); err != nil || !kept {
			t.Fatalf("%v, %v", kept, err)
		}
		got, err := d.Snapshot(ctx)
		if err != nil || got.At != at || !bytes.Equal(got.Body, body) || got.Format != 7 {
			t.Fatalf("%+v, %v", got, err)
		}
		if err := d.Trim(ctx, at.N+2); err == nil {
			t.Fatal("trimmed beyond the newest snapshot")
		}
		if err := d.Trim(ctx, start.N+1); err != nil {
			t.Fatal(err)
		}
		if tail, err := d.After(ctx, start); err != nil || len(tail.Entries) != 10 || tail.First != 1 ||
			tail.Snapshot != at || tail.SnapshotBytes != int64(len(body)) {
			t.Fatalf("nothing should be trimmed: %+v, %v", tail, err)
		}
		if err := d.Trim(ctx, at.N+1); err != nil {
			t.Fatal(err)
		}
		tail, err := d.After(ctx, start)
		if err != nil || tail.First != at.N+1 || len(tail.Entries) != 0 || tail.Head != at {
			t.Fatalf("trimmed: %+v, %v", tail, err)
		}
		size, err := d.Size(ctx)
		if err != nil || size.Prefix < int64(len(body)) || size.Prefix > int64(len(body))+2000 || size.Stored == 0 ||
			size.NoSpace {
			t.Fatalf("only the newest snapshot is left, of %d bytes: %+v, %v", len(body), size, err)
		}
		if left := leased(t, d, string(d.keys)+"/snap/"); left != 0 {
			t.Fatalf("%d pieces of the newest snapshot are bound to a lease", left)
		}
		appended(t, d, at, []byte("\x01more"), nil)
	})
}

// TestWatch: it returns soon after head has moved, and at once if it had moved before.
func TestWatch(t *testing.T) {
	eachEtcd(t, func(t *testing.T, hosts []string) {
		d, other := connect(t, "watch", hosts...), connect(t, "watch", hosts...)
		at := made(t, d)
		seen := make(chan error, 1)
		go func() { seen <- d.Watch(ending(t), at) }()
		time.Sleep(2 * askNext) // it stands
		moved := time.Now()
		appended(t, other, at, []byte("\x01one"), nil)
		if err := <-seen; err != nil || time.Since(moved) > lookAgain/2 {
			t.Fatalf("after %v: %v", time.Since(moved), err)
		}
		if err := d.Watch(ending(t), at); err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		if err := d.Watch(short, at.After([]byte("\x01one"))); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("nothing has changed: %v", err)
		}
	})
}

// TestClock: members' clocks are known to within their unit.
func TestClock(t *testing.T) {
	eachEtcd(t, func(t *testing.T, hosts []string) {
		ahead, err := connect(t, "clock", hosts...).Clock(ending(t))
		if err != nil || ahead.Abs() > time.Second {
			t.Fatalf("%v, %v", ahead, err)
		}
	})
	f := newFake()
	f.now = func() time.Time { return time.Now().Add(-time.Minute) }
	ahead, err := connect(t, "clock", f.member(t, nil)).Clock(ending(t))
	if err != nil || (ahead-time.Minute).Abs() > 2*time.Second {
		t.Fatalf("a minute ahead: %v, %v", ahead, err)
	}
}

// TestHeadAlone: at the end of the log, a driver only requests whether the log ends there.
func TestHeadAlone(t *testing.T) {
	t.Parallel()
	d := connect(t, "alone", newFake().member(t, nil))
	at := appended(t, d, made(t, d), []byte("\x01one"), nil)
	got, err := d.After(ending(t), at)
	if diff := cmp.Diff(&replica.Tail{Log: testID, Head: at}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
