package replica

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/store/internal/file"
)

// watched notes what a writer asks of the log.
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

// TestLineUp: who had to wait for others lines up first with the next writes of his machine,
// and no longer once nobody was before him, or some time after.
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
	write(other, "b") // nobody waits any more
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
