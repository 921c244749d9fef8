package replica

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestMemory: entries are put after the last one, or not at all; a waiting writer comes first.
func TestMemory(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	m := NewMemory()
	if _, err := m.After(ctx, Position{}); !errors.Is(err, ErrNoLog) {
		t.Fatalf("before there is a log: %v", err)
	}
	id := ID{1, 2, 3, 4, 5, 6, 7, 8, 9}
	at := id.Start()
	if err := m.Create(ctx, id, &Snapshot{At: at}); err != nil {
		t.Fatal(err)
	}
	if err := m.Create(ctx, id, &Snapshot{At: at}); !errors.Is(err, ErrLog) {
		t.Fatalf("made twice: %v", err)
	}
	one := []byte("one")
	if tail, err := m.Append(ctx, at, one, nil); tail != nil || err != nil {
		t.Fatalf("%+v, %v", tail, err)
	}
	tail, err := m.Append(ctx, at, []byte("two"), nil)
	if err != nil || tail == nil || tail.Head != at.After(one) || len(tail.Entries) != 1 || tail.Waiting {
		t.Fatalf("behind the last but one: %+v, %v", tail, err)
	}
	at = tail.Head
	place, behind, err := m.Turn(ctx, nil, id.Start())
	if err != nil || behind.Head != at || len(behind.Entries) != 1 {
		t.Fatal(behind, err)
	}
	if tail, err = m.Append(ctx, at, []byte("two"), nil); err != nil || tail == nil || !tail.Waiting {
		t.Fatalf("a writer waits: %+v, %v", tail, err)
	}
	waited := make(chan error)
	go func() {
		second, _, err := m.Turn(ctx, nil, at)
		if err == nil {
			second.Leave()
		}
		waited <- err
	}()
	if tail, err = m.Append(ctx, at, []byte("two"), place); err != nil || tail != nil {
		t.Fatalf("with the first place: %+v, %v", tail, err)
	}
	if err := <-waited; err != nil {
		t.Fatalf("the line is another's: %v", err)
	}
	at = at.After([]byte("two"))
	if kept, err := m.Keep(ctx, id.Start(), &Snapshot{At: at}); err != nil || !kept {
		t.Fatalf("%v, %v", kept, err)
	}
	if err := m.Trim(ctx, at.N+1); err != nil {
		t.Fatal(err)
	}
	tail, err = m.After(ctx, id.Start())
	if err != nil || tail.First != 3 || len(tail.Entries) != 0 || tail.Head != at {
		t.Fatalf("what is behind %v was trimmed: %+v, %v", id.Start(), tail, err)
	}
}
