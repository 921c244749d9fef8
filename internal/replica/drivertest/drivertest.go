// Package drivertest is the law that every driver of logs keeps, as a test.
package drivertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/replica"
)

// Open makes a connection to the log with a name, which is a prefix. It is closed with the test.
type Open func(t testing.TB, name string) replica.Driver

// Run tests a driver.
func Run(t *testing.T, open Open) {
	for name, test := range map[string]func(*testing.T, Open){
		"append": testAppend, "turns": testTurns, "long entries": testLong, "snapshots": testSnapshots,
		"watch": testWatch, "at once": testAtOnce, "members": testMembers,
	} {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

var id = replica.ID{1, 2, 3, 4, 5, 6, 7, 8, 9}

// Soon returns a context that bounds a test.
func Soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// Make makes a log, and returns its first position.
func Make(t testing.TB, d replica.Driver) replica.Position {
	t.Helper()
	at := id.Start()
	made, err := d.Keep(Soon(t), id, nil, &replica.Snapshot{At: at, Format: 7, Body: []byte("the first")})
	if err != nil || !made {
		t.Fatal(made, err)
	}
	return at
}

// Put appends an entry that nothing prevents.
func Put(t testing.TB, d replica.Driver, at replica.Position, entry []byte, turn replica.Turn) replica.Position {
	t.Helper()
	for {
		tail, err := d.Append(Soon(t), at, entry, turn)
		if errors.Is(err, replica.ErrLost) || errors.Is(err, replica.ErrAway) { // a busy machine
			continue
		}
		if err != nil || tail != nil && (len(tail.Entries) == 0 || !bytes.Equal(tail.Entries[0], entry)) {
			t.Fatalf("append: %+v, %v", tail, err)
		}
		return at.After(entry)
	}
}

// entry returns the bytes of an entry, whose first is its version.
func entry(text string) []byte { return append([]byte{1}, text...) }

// testAppend: entries are put after the last one, or not at all.
func testAppend(t *testing.T, open Open) {
	ctx, d := Soon(t), open(t, "append/here")
	for what, err := range map[string]error{
		"after":    second(d.After(ctx, replica.Position{}, false)),
		"snapshot": second(d.Snapshot(ctx, false)),
		"append":   second(d.Append(ctx, id.Start(), entry("one"), nil)),
	} {
		if !errors.Is(err, replica.ErrNoLog) {
			t.Errorf("%s, before there is a log: %v", what, err)
		}
	}
	start := Make(t, d)
	if made, err := d.Keep(ctx, id, nil, &replica.Snapshot{At: start}); made || err != nil {
		t.Fatalf("made twice: %v, %v", made, err)
	}
	at := Put(t, d, start, entry("one"), nil)
	other := open(t, "append/here")
	tail, err := other.Append(ctx, start, entry("two"), nil)
	if err != nil || tail == nil || tail.Head != at || len(tail.Entries) != 1 || tail.Waiting || tail.Log != id ||
		tail.First != 1 || tail.Snapshot != start || tail.SnapshotBytes != 9 {
		t.Fatalf("behind the last but one: %+v, %v", tail, err)
	}
	for _, from := range []replica.Position{at, {N: 9}} {
		tail, err := other.After(ctx, from, false)
		if err != nil || tail.Head != at || tail.Log != id || len(tail.Entries) > 0 {
			t.Fatalf("at the end, or behind it: %+v, %v", tail, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// testTurns: a writer whose turn it is comes before others. Turns come in order, and end with Leave, or with
// the entry that was put.
func testTurns(t *testing.T, open Open) {
	ctx, d, other := Soon(t), open(t, "turns"), open(t, "turns")
	at := Make(t, d)
	first, err := d.Turn(ctx)
	if err != nil || first.Waited() {
		t.Fatal(first, err)
	}
	tail, err := other.Append(ctx, at, entry("one"), nil)
	if err != nil || tail == nil || !tail.Waiting || tail.Head != at {
		t.Fatalf("a writer waits: %+v, %v", tail, err)
	}
	came, failed := make(chan replica.Turn, 1), make(chan error, 1)
	go func() {
		turn, err := other.Turn(ctx)
		failed <- err
		came <- turn
	}()
	select {
	case <-failed:
		t.Fatal("a turn, though another writer is first")
	case <-time.After(100 * time.Millisecond):
	}
	at = Put(t, d, at, entry("one"), first)
	if err := <-failed; err != nil {
		t.Fatalf("the one before has gone: %v", err)
	}
	next := <-came
	if !next.Waited() {
		t.Error("no writer was before it")
	}
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	if turn, err := d.Turn(short); err == nil {
		t.Fatalf("a turn, though another has it: %+v", turn)
	}
	next.Leave()
	next.Leave()
	for { // it leaves in the background, as the one did who gave up
		if tail, err = d.Append(ctx, at, entry("two"), nil); err != nil || tail == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// testLong: entries of more than a mebibyte, and many, are read completely and in order. A Tail has a bound.
func testLong(t *testing.T, open Open) {
	ctx, d := Soon(t), open(t, "long")
	start := Make(t, d)
	at, random := start, rand.New(rand.NewPCG(1, 2))
	var want [][]byte
	for i := range 130 {
		e := entry(fmt.Sprint(i))
		if i%60 == 3 {
			e = append(e, make([]byte, 1<<21+i)...)
			for k := 2; k < len(e); k += 7 {
				e[k] = byte(random.Uint32())
			}
		}
		want, at = append(want, e), Put(t, d, at, e, nil)
	}
	tail, err := open(t, "long").After(ctx, start, false)
	if err != nil || tail.Head != at || len(tail.Entries) != len(want) {
		t.Fatalf("%v, %d of %d", err, len(tail.Entries), len(want))
	}
	for i, e := range tail.Entries {
		if !bytes.Equal(e, want[i]) {
			t.Fatalf("entry %d differs", i+1)
		}
	}
	if tail, err = d.Append(ctx, start, want[3], nil); err != nil || len(tail.Entries) != len(want) {
		t.Fatalf("refused: %v", err)
	}
	from := at
	for range 3 {
		at = Put(t, d, at, append(entry("more"), make([]byte, 3<<20)...), nil)
	}
	if tail, err = d.After(ctx, from, false); err != nil || len(tail.Entries) != 2 || tail.Head != at {
		t.Fatalf("9 MiB: %d entries, %v", len(tail.Entries), err)
	}
}

// testSnapshots: the newest is read as it was put, and the one before. What is before that one is trimmed.
func testSnapshots(t *testing.T, open Open) {
	ctx, d := Soon(t), open(t, "snapshots")
	start := Make(t, d)
	first, err := d.Snapshot(ctx, false)
	if err != nil || first.At != start || first.Format != 7 || string(first.Body) != "the first" {
		t.Fatal(first, err)
	}
	if s, err := d.Snapshot(ctx, true); s != nil || err != nil {
		t.Fatalf("before the first: %+v, %v", s, err)
	}
	var ends []replica.Position
	bodies := [][]byte{first.Body, bytes.Repeat([]byte("0123456789abcdef"), 1<<17), []byte("the third")}
	at, was := start, start
	for round := 1; round < len(bodies); round++ {
		for i := range 10 {
			at = Put(t, d, at, entry(fmt.Sprint(round, i)), nil)
		}
		snap := &replica.Snapshot{At: at, Format: 7, Body: bodies[round]}
		if kept, err := d.Keep(ctx, id, &at, snap); kept || err != nil {
			t.Fatalf("in the place of one that is not the newest: %v, %v", kept, err)
		}
		if kept, err := d.Keep(ctx, id, &was, snap); !kept || err != nil {
			t.Fatalf("%v, %v", kept, err)
		}
		for i, before := range []bool{false, true} {
			s, err := d.Snapshot(ctx, before)
			if err != nil || !bytes.Equal(s.Body, bodies[round-i]) || s.Format != 7 {
				t.Fatalf("round %d, before: %v: %v", round, before, err)
			}
		}
		tail, err := d.After(ctx, was, false)
		if err != nil || tail.First != was.N+1 || len(tail.Entries) != 10 || tail.Snapshot != at ||
			tail.SnapshotBytes != int64(len(snap.Body)) {
			t.Fatalf("behind the snapshot before: %+v, %v", tail, err)
		}
		ends, was = append(ends, at), at
	}
	tail, err := d.After(ctx, start, false)
	if err != nil || tail.First != ends[0].N+1 || len(tail.Entries) != 0 || tail.Head != at {
		t.Fatalf("behind what was trimmed: %+v, %v", tail, err)
	}
	Put(t, d, at, entry("more"), nil)
}

// testWatch: it returns soon after head has moved, and at once if it had moved before.
func testWatch(t *testing.T, open Open) {
	d, other := open(t, "watch"), open(t, "watch")
	at := Make(t, d)
	seen := make(chan *replica.Tail, 1)
	go func() {
		tail, err := d.After(Soon(t), at, true)
		if err != nil {
			t.Error(err)
		}
		seen <- tail
	}()
	time.Sleep(500 * time.Millisecond) // it stands
	moved := time.Now()
	now := Put(t, other, at, entry("one"), nil)
	if tail := <-seen; tail == nil || tail.Head != now || len(tail.Entries) != 1 || time.Since(moved) > time.Second {
		t.Fatalf("after %v: %+v", time.Since(moved), tail)
	}
	if tail, err := d.After(Soon(t), at, true); err != nil || tail.Head != now {
		t.Fatal(tail, err)
	}
	short, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := d.After(short, now, true); err == nil {
		t.Fatal("nothing has changed")
	}
}

// testAtOnce: what writers append at once is in the log once, in an order that each of them has seen, however
// they take turns.
func testAtOnce(t *testing.T, open Open) {
	start := Make(t, open(t, "at once"))
	const writers, each = 4, 12
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			w := &Writer{Driver: open(t, "at once"), At: start, Name: fmt.Sprint(i)}
			for range each {
				if err := w.Write(Soon(t), entry(w.Next())); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	seen := make(map[string]bool)
	tail, err := open(t, "at once").After(Soon(t), start, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range tail.Entries {
		seen[string(e)] = true
	}
	if len(seen) != writers*each || len(tail.Entries) != writers*each {
		t.Errorf("%d entries, %d of them different, and not %d", len(tail.Entries), len(seen), writers*each)
	}
}

// Writer appends entries as package replica does, without a file.
type Writer struct {
	Driver replica.Driver
	At     replica.Position
	Name   string
	count  int
}

// Next returns a text that no other entry has.
func (w *Writer) Next() string { w.count++; return fmt.Sprintf("%s.%d;", w.Name, w.count) }

// Write puts an entry, and returns when its outcome is known or the context ends.
func (w *Writer) Write(ctx context.Context, entry []byte) error {
	var turn replica.Turn
	defer func() {
		if turn != nil {
			turn.Leave()
		}
	}()
	lost := false
	for losses := 0; ; {
		tail, err := w.Driver.Append(ctx, w.At, entry, turn)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, replica.ErrLost):
			lost = true
			continue // the same bytes again
		case errors.Is(err, replica.ErrAway):
			continue
		case err != nil:
			return err
		case tail == nil:
			w.At = w.At.After(entry)
			return nil
		case lost && tail.Head == w.At: // what was sent before may still arrive
			continue
		}
		mine, err := w.follow(ctx, tail, entry)
		if mine || err != nil {
			return err
		}
		lost = false
		if losses++; losses < 2 && !tail.Waiting {
			continue
		}
		if turn != nil {
			turn.Leave()
		}
		for turn, err = w.Driver.Turn(ctx); err != nil; turn, err = w.Driver.Turn(ctx) {
			if ctx.Err() != nil {
				turn = nil
				return ctx.Err()
			}
		}
		if tail, err = w.after(ctx); err == nil {
			_, err = w.follow(ctx, tail, entry)
		}
		if err != nil {
			return err
		}
	}
}

func (w *Writer) after(ctx context.Context) (tail *replica.Tail, err error) {
	for tail, err = w.Driver.After(ctx, w.At, false); err != nil; tail, err = w.Driver.After(ctx, w.At, false) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return tail, nil
}

// follow goes to the end of the log. It reports whether one of the entries is the writer's.
func (w *Writer) follow(ctx context.Context, tail *replica.Tail, entry []byte) (mine bool, err error) {
	for {
		for _, e := range tail.Entries {
			w.At = w.At.After(e)
			mine = mine || bytes.Equal(e, entry)
		}
		if w.At == tail.Head {
			return mine, nil
		}
		if len(tail.Entries) == 0 {
			return mine, fmt.Errorf("the entries lead to %v, and head is %v", w.At, tail.Head)
		}
		if tail, err = w.after(ctx); err != nil {
			return mine, err
		}
	}
}

// testMembers: the clock is known to within a second, or not known.
func testMembers(t *testing.T, open Open) {
	d := open(t, "members")
	Make(t, d)
	m, err := d.Members(Soon(t))
	if err != nil || m.ClockKnown && m.Ahead.Abs() > 1500*time.Millisecond || m.NoSpace {
		t.Fatalf("%+v, %v", m, err)
	}
}
