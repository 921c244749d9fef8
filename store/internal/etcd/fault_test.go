//go:build etcd

package etcd

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/placectl/placectl/store/internal/replica"
)

// isTransaction reports whether a request is a transaction, as appends are.
func isTransaction(r *http.Request) bool { return r.URL.Path == "/v3/kv/txn" }

// TestHangingMember: a member that hangs or is missing makes no call fail or wait for long.
func TestHangingMember(t *testing.T) {
	f := newFake()
	hang := make(chan struct{})
	hanging := f.member(t, func(*http.Request, bool) bool { <-hang; return false })
	t.Cleanup(func() { close(hang) }) // before the server waits for it
	for name, broken := range map[string]string{"hangs": hanging, "is not there": unused(t)} {
		t.Run(name, func(t *testing.T) {
			d := connect(t, "hanging-"+strings.ReplaceAll(name, " ", "-"), broken, f.member(t, nil))
			d.best.Store(0)
			began := time.Now()
			at := made(t, d)
			if took := time.Since(began); took > 3*askNext {
				t.Errorf("making a log took %v", took)
			}
			began = time.Now()
			at = appended(t, d, at, []byte("\x01one"), nil)
			if took := time.Since(began); took > askNext {
				t.Errorf("the member that has answered was not asked first: %v", took)
			}
			d.best.Store(0)
			appended(t, d, at, []byte("\x01two"), nil)
		})
	}
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

// TestLostAnswer: what was carried out, but not answered, is found after the position.
func TestLostAnswer(t *testing.T) {
	f := newFake()
	var cut atomic.Bool
	torn := f.member(t, func(r *http.Request, after bool) bool { return !(after && isTransaction(r) && cut.Load()) })
	d := connect(t, "torn", torn, f.member(t, nil))
	at := made(t, d)
	d.best.Store(0)
	cut.Store(true)
	entry := []byte("\x01one")
	tail, err := d.Append(ending(t), at, entry, nil)
	if err != nil || tail == nil || len(tail.Entries) != 1 || string(tail.Entries[0]) != string(entry) {
		t.Fatalf("%+v, %v", tail, err)
	}
}

// TestLateCopy: as long as a copy may be under way and head has not moved, a refusal because
// of the line says nothing about the entry.
func TestLateCopy(t *testing.T) {
	f := newFake()
	hold, let := make(chan struct{}), make(chan struct{}, 1)
	var hanging atomic.Bool
	slow := f.member(t, func(r *http.Request, after bool) bool {
		if !after && isTransaction(r) && hanging.Load() {
			<-hold
			let <- struct{}{}
		}
		return true
	})
	release := sync.OnceFunc(func() { close(hold) })
	t.Cleanup(release) // before the server waits for hanging requests
	d, other := connect(t, "late", slow, f.member(t, nil)), connect(t, "late", f.member(t, nil))
	at := made(t, d)
	p, _, err := other.Turn(ending(t), nil, at)
	if err != nil {
		t.Fatal(err)
	}
	d.best.Store(0)
	hanging.Store(true)
	entry := []byte("\x01one")
	for range 2 { // the second time none of its own requests is under way
		if tail, err := d.Append(ending(t), at, entry, nil); !errors.Is(err, replica.ErrLost) {
			t.Fatalf("%+v, %v", tail, err)
		}
		hanging.Store(false)
	}
	p.Leave()
	other.leaving.Wait()
	release()
	<-let
	for {
		tail, err := other.After(ending(t), at)
		if err != nil {
			t.Fatal(err)
		}
		if len(tail.Entries) == 1 {
			break // the member that hung has carried it out, after the caller stopped waiting
		}
		time.Sleep(time.Millisecond)
	}
	tail, err := d.Append(ending(t), at, entry, nil)
	if err != nil || tail == nil || len(tail.Entries) != 1 || string(tail.Entries[0]) != string(entry) {
		t.Fatalf("%+v, %v", tail, err)
	}
}

// TestDoubledAndTrimmed: one member has carried out a request and answers slowly, another
// refuses the copy that it gets, and meanwhile the entry is trimmed. Whether it was put is
// unknown. Treating the refusal as the answer would put it twice.
func TestDoubledAndTrimmed(t *testing.T) {
	f := newFake()
	done, hold := make(chan struct{}), make(chan struct{})
	var slow atomic.Bool
	first := f.member(t, func(r *http.Request, after bool) bool {
		if after && isTransaction(r) && slow.CompareAndSwap(true, false) {
			close(done)
			<-hold
		}
		return true
	})
	t.Cleanup(func() { close(hold) }) // before the server waits for hanging requests
	trimmed := make(chan struct{})
	second := f.member(t, func(r *http.Request, after bool) bool {
		if !after && isTransaction(r) {
			<-trimmed
		}
		return true
	})
	d, other := connect(t, "doubled", first, second), connect(t, "doubled", f.member(t, nil))
	start := made(t, other)
	d.best.Store(0)
	slow.Store(true)
	entry := []byte("\x01one")
	go func() {
		defer close(trimmed)
		<-done
		at := start.After(entry)
		if kept, err := other.Keep(ending(t), start, &replica.Snapshot{At: at}); err != nil || !kept {
			t.Error(kept, err)
		}
		if err := other.Trim(ending(t), at.N+1); err != nil {
			t.Error(err)
		}
	}()
	tail, err := d.Append(ending(t), start, entry, nil)
	if !errors.Is(err, replica.ErrLost) {
		t.Errorf("the copy was refused: %+v, %v", tail, err)
	}
	if tail, err = d.Append(ending(t), start, entry, nil); err != nil || tail == nil || tail.First != 2 ||
		len(tail.Entries) != 0 {
		t.Errorf("when it is asked again: %+v, %v", tail, err)
	}
}

// TestSilence: with no listener, calls fail with ErrAway. Without an answer, a change fails
// with ErrLost, and a read with ErrAway.
func TestSilence(t *testing.T) {
	soon := func() context.Context {
		ctx, cancel := context.WithTimeout(context.Background(), 400*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	d := connect(t, "silence", unused(t), unused(t))
	if _, err := d.Append(soon(), testID.Start(), []byte("\x01one"), nil); !errors.Is(err, replica.ErrAway) {
		t.Errorf("no listener: %v", err)
	}
	hang := make(chan struct{})
	d = connect(t, "silence", newFake().member(t, func(*http.Request, bool) bool { <-hang; return false }))
	t.Cleanup(func() { close(hang) })
	if _, err := d.Append(soon(), testID.Start(), []byte("\x01one"), nil); !errors.Is(err, replica.ErrLost) {
		t.Errorf("no answer: %v", err)
	}
	if _, err := d.After(soon(), testID.Start()); !errors.Is(err, replica.ErrAway) {
		t.Errorf("no answer to a question: %v", err)
	}
}

// TestNotEtcd: errors that a retry cannot help fail at once, and say why.
func TestNotEtcd(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	began := time.Now()
	_, err := connect(t, "other", strings.TrimPrefix(other.URL, "http://")).After(ending(t), replica.Position{})
	if err == nil || !strings.Contains(err.Error(), "--enable-grpc-gateway") || time.Since(began) > time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	began = time.Now()
	_, err = connectWith(t, replica.Config{Scheme: schemeSecure, Members: []string{newFake().member(t, nil)},
		Prefix: "x"}, nil).After(ending(t), replica.Position{})
	if err == nil || !strings.Contains(err.Error(), "HTTP response to HTTPS client") ||
		time.Since(began) > time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}

// TestNoSpace: etcd that is full changes nothing, and the error says what to do.
func TestNoSpace(t *testing.T) {
	f := newFake()
	d := connect(t, "full", f.member(t, nil))
	at := made(t, d)
	f.noSpace = true
	_, err := d.Append(ending(t), at, []byte("\x01one"), nil)
	if !errors.Is(err, replica.ErrFull) || !strings.Contains(err.Error(), "alarm disarm") {
		t.Errorf("%v", err)
	}
	if size, err := d.Size(ending(t)); err != nil || !size.NoSpace {
		t.Errorf("%+v, %v", size, err)
	}
	f.noSpace = false
	appended(t, d, at, []byte("\x01one"), nil)
}

// TestPartsRunOut: parts that were deleted with their lease are put again.
func TestPartsRunOut(t *testing.T) {
	f := newFake()
	var passes atomic.Int32
	var late atomic.Bool
	f.now = func() time.Time { return time.Now().Add(time.Duration(passes.Load()) * time.Hour) }
	d := connect(t, "parts", f.member(t, func(r *http.Request, after bool) bool {
		if after || !isTransaction(r) || !late.Load() {
			return true
		}
		if r.ContentLength < 3000 { // it is not one of the parts, but what makes them count
			late.Store(false)
			passes.Add(1)
		}
		return true
	}))
	at := made(t, d)
	entry := append([]byte{1}, make([]byte, 2*pieceBytes-1)...)
	late.Store(true)
	at = appended(t, d, at, entry, nil)
	if late.Load() {
		t.Fatal("no lease has run out")
	}
	passes.Add(1)
	tail, err := d.After(ending(t), testID.Start())
	if err != nil || tail.Head != at || len(tail.Entries) != 1 || len(tail.Entries[0]) != len(entry) {
		t.Fatalf("%+v, %v", tail.Head, err)
	}
}

// TestLatePart: a copy of a part that arrives after the entry counts does not bind it to a
// lease again, with which it would be deleted.
func TestLatePart(t *testing.T) {
	f := newFake()
	var passed atomic.Int64
	f.now = func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }
	hold, done := make(chan struct{}), make(chan struct{}, 1)
	var first atomic.Bool
	slow := f.member(t, func(r *http.Request, after bool) bool {
		switch {
		case !isTransaction(r) || r.ContentLength < pieceBytes:
		case !after && first.CompareAndSwap(false, true):
			<-hold
			r.Header.Set("Late", "yes")
		case after && r.Header.Get("Late") != "":
			done <- struct{}{}
		}
		return true
	})
	d := connect(t, "late-part", slow, f.member(t, nil))
	at := made(t, d)
	d.best.Store(0)
	entry := append([]byte{1}, make([]byte, 2*pieceBytes-1)...)
	appended(t, d, at, entry, nil)
	close(hold)
	<-done
	passed.Store(int64(time.Hour))
	if tail, err := d.After(ending(t), at); err != nil || len(tail.Entries) != 1 || len(tail.Entries[0]) != len(entry) {
		t.Fatalf("the entry has gone: %v", err)
	}
}

// TestTwoSnapshots: of two writers that replace the same snapshot, one succeeds.
func TestTwoSnapshots(t *testing.T) {
	f := newFake()
	var other *driver
	var at replica.Position
	var once atomic.Bool
	d := connect(t, "two", f.member(t, func(r *http.Request, after bool) bool {
		if r.URL.Path == "/v3/lease/grant" && !after && once.CompareAndSwap(false, true) {
			if kept, err := other.Keep(ending(t), at, &replica.Snapshot{At: at, Body: []byte("theirs")}); err != nil ||
				!kept {
				t.Errorf("%v, %v", kept, err)
			}
		}
		return true
	}))
	other = connect(t, "two", f.member(t, nil))
	once.Store(true)
	at = made(t, other)
	once.Store(false)
	if kept, err := d.Keep(ending(t), at, &replica.Snapshot{At: at, Body: []byte("ours")}); err != nil || kept {
		t.Errorf("the newest has changed meanwhile: %v, %v", kept, err)
	}
	if s, err := d.Snapshot(ending(t)); err != nil || string(s.Body) != "theirs" {
		t.Errorf("%+v, %v", s, err)
	}
	if left := leased(t, d, "two/snap/"); left != 0 {
		t.Errorf("%d pieces are left of the other", left)
	}
}

// TestHole: an entry, or a part of one, that another program has deleted is reported, not
// skipped.
func TestHole(t *testing.T) {
	f := newFake()
	d := connect(t, "hole", f.member(t, nil))
	start := made(t, d)
	at := start
	for i := range 5 {
		at = appended(t, d, at, append([]byte{1, byte(i)}, make([]byte, i/4*pieceBytes)...), nil)
	}
	whole, err := d.After(ending(t), start)
	if err != nil || len(whole.Entries) != 5 {
		t.Fatalf("%+v, %v", whole, err)
	}
	parts := d.keys.parts(5, idOf(whole.Entries[4]))
	for n, key := range map[string][]byte{"parts of entry 5": nth(parts, 1), "entry 5": d.keys.entry(5),
		"entry 2": d.keys.entry(2)} {
		f.mu.Lock()
		was := f.pairs[string(key)]
		delete(f.pairs, string(key))
		f.mu.Unlock()
		if tail, err := d.After(ending(t), start); err == nil || !strings.Contains(err.Error(), n) {
			t.Errorf("without %s: %d entries, %v", key, len(tail.Entries), err)
		}
		f.mu.Lock()
		f.pairs[string(key)] = was
		f.mu.Unlock()
	}
}
