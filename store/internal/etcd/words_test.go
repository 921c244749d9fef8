//go:build etcd

package etcd

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/placectl/placectl/store/internal/replica"
)

// asking is a writer that waits in the line with words.
type asking struct {
	came chan *replica.Tail
	err  error
}

func asksFor(ctx context.Context, d *driver, at replica.Position, words string) *asking {
	w := &asking{came: make(chan *replica.Tail, 1)}
	go func() {
		place, tail, err := d.Turn(ctx, nil, at, []byte(words))
		if place != nil {
			place.Leave()
		}
		w.err = err
		w.came <- tail
	}()
	return w
}

// heardBehind waits until a place learns of count writers that ask behind it.
func heardBehind(t testing.TB, d *driver, p replica.Place, at replica.Position, count int) (replica.Place,
	[]replica.Asked) {
	t.Helper()
	for until := time.Now().Add(placeLease / 2 * time.Second); ; time.Sleep(time.Millisecond) {
		var tail *replica.Tail
		var err error
		if p, tail, err = d.Turn(ending(t), p, at, []byte("the first")); err != nil || p == nil {
			t.Fatal(p, tail, err)
		}
		if len(tail.Asked) == count {
			return p, tail.Asked
		}
		if time.Now().After(until) {
			t.Fatalf("%d ask, not %d", len(tail.Asked), count)
		}
	}
}

// TestWords: the first in the line gets what those behind it want, in their order, and each
// gets its answer from the step that puts the entry.
func TestWords(t *testing.T) {
	eachEtcd(t, func(t *testing.T, hosts []string) {
		d := connect(t, "words", hosts...)
		at := made(t, d)
		p, tail, err := d.Turn(ending(t), nil, at, []byte("the first"))
		if err != nil || p == nil || len(tail.Asked) != 0 {
			t.Fatal(p, tail, err)
		}
		var waiting []*asking
		for i := range 3 {
			waiting = append(waiting, asksFor(ending(t), connect(t, "words", hosts...), at, fmt.Sprint("words ", i)))
			heardBehind(t, d, p, at, i+1)
		}
		p, asked := heardBehind(t, d, p, at, 3)
		var answers []replica.Answer
		for i, a := range asked {
			if string(a.Words) != fmt.Sprint("words ", i) {
				t.Errorf("%d asks for %s", i, a.Words)
			}
			if i != 1 { // it goes alone
				answers = append(answers,
					replica.Answer{Place: a.Place, Text: append([]byte("answer to "), a.Words...)})
			}
		}
		if tail, err := d.Append(ending(t), at, []byte("\x01one"), p, answers...); tail != nil || err != nil {
			t.Fatal(tail, err)
		}
		for i, w := range waiting {
			tail := <-w.came
			switch {
			case w.err != nil:
				t.Error(i, w.err)
			case i == 1 && (tail.Answer != nil || len(tail.Entries) != 1):
				t.Errorf("who goes alone: %+v", tail)
			case i != 1 && string(tail.Answer) != fmt.Sprint("answer to words ", i):
				t.Errorf("%d: %q", i, tail.Answer)
			}
		}
	})
}

// TestWordsTakenBack: words are either run or withdrawn, never both; a writer that runs them
// too late puts nothing.
func TestWordsTakenBack(t *testing.T) {
	eachEtcd(t, func(t *testing.T, hosts []string) {
		d, other := connect(t, "words", hosts...), connect(t, "words", hosts...)
		at := made(t, d)
		p, _, err := d.Turn(ending(t), nil, at, []byte("the first"))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(ending(t))
		w := asksFor(ctx, other, at, "one")
		p, asked := heardBehind(t, d, p, at, 1)
		cancel()
		if tail := <-w.came; w.err == nil {
			t.Fatalf("%+v", tail)
		}
		answer := replica.Answer{Place: asked[0].Place, Text: []byte("done")}
		tail, err := d.Append(ending(t), at, []byte("\x01one"), p, answer)
		if err != nil || tail == nil || tail.Head != at || !tail.Waiting {
			t.Fatalf("words that were taken back are run: %+v, %v", tail, err)
		}
		mine, _, err := other.enter(ending(t), at, []byte("two"))
		if err != nil {
			t.Fatal(err)
		}
		p, asked = heardBehind(t, d, p, at, 1)
		if tail, err := d.Append(ending(t), at, []byte("\x01two"), p,
			replica.Answer{Place: asked[0].Place, Text: []byte("done two")}); tail != nil || err != nil {
			t.Fatal(tail, err)
		}
		if got, err := mine.Withdraw(ending(t)); string(got) != "done two" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// TestWordsOfTheFirst: a writer that was the first, and did not know that it no longer is, has
// run the words of the next: that one puts nothing, and has its answer.
func TestWordsOfTheFirst(t *testing.T) {
	t.Parallel()
	f := newFake()
	host := f.member(t, nil)
	d, other := connect(t, "words", host), connect(t, "words", host)
	at := made(t, d)
	p, _, err := d.Turn(ending(t), nil, at, []byte("the first"))
	if err != nil {
		t.Fatal(err)
	}
	mine, _, err := other.enter(ending(t), at, []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	p, asked := heardBehind(t, d, p, at, 1)
	if tail, err := d.Append(ending(t), at, []byte("\x01one"), p,
		replica.Answer{Place: asked[0].Place, Text: []byte("done")}); tail != nil || err != nil {
		t.Fatal(tail, err)
	}
	tail, err := other.Append(ending(t), at, []byte("\x01one by itself"), mine)
	if err != nil || tail == nil || string(tail.Answer) != "done" {
		t.Errorf("%+v, %v", tail, err)
	}
}

// TestLateWords: a copy of the request that put words into the line is carried out long after
// they were run: they do not appear again.
func TestLateWords(t *testing.T) {
	t.Parallel()
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
	host := f.member(t, nil)
	d, other := connect(t, "words", host), connect(t, "words", slow, host)
	at := made(t, d)
	p, _, err := d.Turn(ending(t), nil, at, []byte("the first"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.leaseOfPlace(ending(t)); err != nil { // what hangs is what puts the words
		t.Fatal(err)
	}
	other.best.Store(0)
	hanging.Store(true)
	mine, _, err := other.enter(ending(t), at, []byte("one")) // and its writer is killed
	if err != nil || !mine.doubled {
		t.Fatal(mine, err)
	}
	p, asked := heardBehind(t, d, p, at, 1)
	if tail, err := d.Append(ending(t), at, []byte("\x01one"), p,
		replica.Answer{Place: asked[0].Place, Text: []byte("done")}); tail != nil || err != nil {
		t.Fatal(tail, err)
	}
	at = at.After([]byte("\x01one"))
	close(hold)
	<-done
	p, tail, err := d.Turn(ending(t), nil, at, []byte("again"))
	if err != nil || p == nil {
		t.Fatal(tail, err)
	}
	if _, tail, err = d.Turn(ending(t), p, at, nil); err != nil || len(tail.Asked) != 0 {
		t.Errorf("%+v, %v", tail, err)
	}
}

// TestTrimmedWords: words are not handed over if their answers may have been trimmed.
func TestTrimmedWords(t *testing.T) {
	t.Parallel()
	f := newFake()
	host := f.member(t, nil)
	d, other := connect(t, "words", host), connect(t, "words", host)
	at := made(t, d)
	p, _, err := d.Turn(ending(t), nil, at, []byte("the first"))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.read(ending(t), "/v3/kv/txn",
		transaction{Then: []operation{putting(d.keys.first(), encodeFirst(at.N+2))}}, nil); err != nil {
		t.Fatal(err)
	}
	mine, _, err := other.enter(ending(t), at, []byte("one"))
	if err != nil || mine.words {
		t.Errorf("words: %v, %v", mine, err)
	}
	heardBehind(t, d, p, at, 0)
}
