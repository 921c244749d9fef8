package replica_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/internal/file"
	. "github.com/placectl/placectl/internal/replica"
	"github.com/placectl/placectl/internal/replica/memlog"
)

// watched notes a writer's calls to the log. What is before it in the line leaves once it enters.
type watched struct {
	*memlog.Log
	asked []string
	first Turn
}

func (w *watched) Append(ctx context.Context, at Position, entry []byte, turn Turn) (*Tail, error) {
	t, err := w.Log.Append(ctx, at, entry, turn)
	switch {
	case t == nil:
		w.asked = append(w.asked, "put")
	case t.Waiting:
		w.asked = append(w.asked, "others wait")
	default:
		w.asked = append(w.asked, "lost")
	}
	return t, err
}

func (w *watched) Turn(ctx context.Context) (Turn, error) {
	time.AfterFunc(30*time.Millisecond, w.first.Leave)
	turn, err := w.Log.Turn(ctx)
	if err == nil {
		w.asked = append(w.asked, "turn")
	}
	return turn, err
}

// TestLineUp: a machine whose write had to wait for others enters the line first for its next
// writes. It stops once no one is before it, or after some time.
func TestLineUp(t *testing.T) {
	t.Parallel()
	m := newLog(t)
	other := machine(t, m)
	w := &watched{Log: m}
	rep := machine(t, w)
	write := func(rep *Replica, key string) {
		t.Helper()
		if err := rep.Update(func(r *file.Recorder) (bool, error) { return true, set(r, key, "x") }); err != nil {
			t.Fatal(err)
		}
	}
	first, err := m.Turn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	w.first = first
	write(rep, "a")
	write(other, "b") // no one waits any more
	again := machineAgain(t, rep, w)
	write(again, "c")
	write(again, "d")
	rep.NoteCrowd(true)
	Touch(rep.LinePath(), time.Now().Add(-2*CrowdedFor))
	write(again, "e")
	want := []string{"others wait", "turn", "put", "turn", "put", "put", "put"}
	if diff := cmp.Diff(want, w.asked); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(contents(t, other), contents(t, rep)); diff != "" {
		t.Error(diff)
	}
}

// muffled is a log that loses its first answer to a writer in the line, and that records how often turns were
// given up.
type muffled struct {
	*memlog.Log
	lost bool
	left int
}

type muffledTurn struct {
	Turn
	d *muffled
}

func (t *muffledTurn) Leave() { t.d.left++; t.Turn.Leave() }

func (d *muffled) Append(ctx context.Context, at Position, entry []byte, turn Turn) (*Tail, error) {
	mine, _ := turn.(*muffledTurn)
	if mine == nil {
		return d.Log.Append(ctx, at, entry, nil)
	}
	t, err := d.Log.Append(ctx, at, entry, mine.Turn)
	if !d.lost {
		d.lost = true
		return nil, ErrLost
	}
	return t, err
}

func (d *muffled) Turn(ctx context.Context) (Turn, error) {
	t, err := d.Log.Turn(ctx)
	return &muffledTurn{t, d}, err
}

// TestLostAnswerInLine: a writer whose entry was accepted gives up its turn, even if it only
// learns that when it asks again.
func TestLostAnswerInLine(t *testing.T) {
	t.Parallel()
	d := &muffled{Log: newLog(t)}
	rep := machine(t, d)
	rep.NoteCrowd(true)
	write(t, rep, "k", "v")
	if n := d.Head().N; n != 1 || !d.lost || d.left != 1 {
		t.Errorf("%d entries, an answer was lost: %v; the turn was left %d times", n, d.lost, d.left)
	}
}

// TestHungOwner: a writer that makes no progress in its turn loses it, however busy the rest of
// its process is; one that works keeps it.
func TestHungOwner(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells how much a thread works")
	}
	m := newLog(t)
	hung, other := machine(t, m), machine(t, m)
	const beat = 200 * time.Millisecond
	hung.SetBeat(beat)
	for _, c := range []struct {
		name string
		runs int
		work time.Duration // how long the transaction takes
		do   func(time.Duration)
	}{{"hangs", 2, 20 * time.Second, nil}, {"works", 1, 5 * beat, spin}} {
		passed, busy := make(chan error, 1), make(chan bool)
		go func() {
			for {
				select {
				case <-busy:
					return
				default:
					spin(time.Millisecond)
				}
			}
		}()
		runs := 0
		hung.NoteCrowd(true) // so that it enters the line at once
		err := hung.Update(func(r *file.Recorder) (bool, error) {
			if runs++; runs == 1 {
				go func() {
					passed <- other.Update(func(r *file.Recorder) (bool, error) {
						return true, set(r, "other", c.name)
					})
				}()
				if c.do != nil {
					c.do(c.work)
				} else {
					select {
					case err := <-passed:
						passed <- err
					case <-time.After(c.work):
						t.Error("a writer that hangs stops the others")
					}
				}
				select {
				case err := <-passed:
					if passed <- err; c.do != nil {
						t.Error("another writer came first")
					}
				default:
				}
			}
			return true, set(r, "k", c.name)
		})
		close(busy)
		if err != nil || runs != c.runs {
			t.Errorf("a writer that %s: %d runs, %v", c.name, runs, err)
		}
		if err := <-passed; err != nil {
			t.Error(err)
		}
	}
}

func spin(d time.Duration) {
	for began := time.Now(); time.Since(began) < d; {
	}
}
