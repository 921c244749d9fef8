package replica

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/store/internal/file"
)

// watched notes a writer's calls to the log.
type watched struct {
	*Memory
	asked []string
}

func (w *watched) Append(ctx context.Context, at Position, entry []byte, place Place) (*Tail, error) {
	t, err := w.Memory.Append(ctx, at, entry, place)
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

func (w *watched) Turn(ctx context.Context, place Place, at Position) (Place, *Tail, error) {
	p, t, err := w.Memory.Turn(ctx, place, at)
	if err == nil {
		w.asked = append(w.asked, fmt.Sprintf("turn, %d new", len(t.Entries)))
	}
	return p, t, err
}

// TestLineUp: a machine whose write had to wait for others enters the line first for its next
// writes. It stops once no one is before it, or after some time.
func TestLineUp(t *testing.T) {
	t.Parallel()
	m := newLog(t)
	other := machine(t, m)
	w := &watched{Memory: m}
	rep := machine(t, w)
	write := func(rep *Replica, key string) {
		t.Helper()
		if err := rep.Update(func(r *file.Recorder) (bool, error) { return true, set(r, key, "x") }); err != nil {
			t.Fatal(err)
		}
	}
	first, _, err := m.Turn(context.Background(), nil, Position{})
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(30*time.Millisecond, first.Leave)
	write(rep, "a")
	write(other, "b") // no one waits any more
	again := machineAgain(t, rep, w)
	write(again, "c")
	write(again, "d")
	rep.noteCrowd(true)
	touch(rep.linePath(), time.Now().Add(-2*crowdedFor))
	write(again, "e")
	want := []string{"others wait", "turn, 0 new", "put", "turn, 1 new", "put", "put", "put"}
	if diff := cmp.Diff(want, w.asked); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(contents(t, other), contents(t, rep)); diff != "" {
		t.Error(diff)
	}
}

// muffled is a log that loses its first answer to a writer in the line, and that records which
// writer gave up its place.
type muffled struct {
	*Memory
	lost bool
	left int
}

type mufflePlace struct {
	Place
	d *muffled
}

func (p *mufflePlace) Leave() { p.d.left++; p.Place.Leave() }

func (d *muffled) Append(ctx context.Context, at Position, entry []byte, place Place) (*Tail, error) {
	mine, _ := place.(*mufflePlace)
	if mine == nil {
		return d.Memory.Append(ctx, at, entry, nil)
	}
	t, err := d.Memory.Append(ctx, at, entry, mine.Place)
	if !d.lost {
		d.lost = true
		return nil, ErrLost
	}
	return t, err
}

func (d *muffled) Turn(ctx context.Context, place Place, at Position) (Place, *Tail, error) {
	if mine, _ := place.(*mufflePlace); mine != nil {
		place = mine.Place
	}
	p, t, err := d.Memory.Turn(ctx, place, at)
	return &mufflePlace{p, d}, t, err
}

// TestLostAnswerInLine: a writer whose entry was accepted gives up its place, even if it only
// learns that when it asks again.
func TestLostAnswerInLine(t *testing.T) {
	t.Parallel()
	d := &muffled{Memory: newLog(t)}
	rep := machine(t, d)
	rep.noteCrowd(true)
	if err := rep.Update(func(r *file.Recorder) (bool, error) { return true, set(r, "k", "v") }); err != nil {
		t.Fatal(err)
	}
	if n := d.Head().N; n != 1 || !d.lost || d.left != 1 {
		t.Errorf("%d entries, an answer was lost: %v; the place was left %d times", n, d.lost, d.left)
	}
}
