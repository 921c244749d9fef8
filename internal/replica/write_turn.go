package replica

import (
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"github.com/placectl/placectl/internal/file"
)

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// wait waits before fn runs again: a little, or in the line. A writer that was refused because
// others wait there takes its place behind them.
func (w *writer) wait() error {
	ctx, cancel := within(w.until)
	defer cancel()
	enter := w.waiting || w.lost >= patienceRuns || time.Since(w.began) > patienceTime
	if time.Now().After(w.until) {
		return fmt.Errorf("%w: others were faster %d times", file.ErrLocked, w.lost)
	}
	if w.turn == nil && !enter {
		pause(ctx, time.Duration(mathrand.Int64N(int64(pauseMost)*int64(w.lost)+1)))
		return nil
	}
	return w.line(ctx)
}

// longSilent is how long a machine may go without reading the log before a writer asks what is
// new before deciding. Otherwise its decision would often be useless. And with a slow call,
// and a log trimmed meanwhile, it could not tell whether its entry was ever in the log.
const longSilent = 30 * time.Second

// ready prepares a writer to run fn. If writers had to wait lately, it first waits for its
// turn. If it has not read the log for long, it first asks for what is new.
func (w *writer) ready() error {
	crowded := w.rep.crowded()
	if age, known := w.rep.Age(); !crowded && known && age < longSilent {
		return nil
	}
	ctx, cancel := within(w.until)
	defer cancel()
	err := w.rep.File().View(func(r *file.Recorder) error {
		at, err := w.position(r)
		if err == nil {
			w.at = positionOf(at)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case crowded:
		return w.line(ctx)
	}
	tail, err := w.rep.driver.After(ctx, w.at, false)
	if err != nil {
		return w.rep.away(err)
	}
	return w.follow(tail)
}

// line waits in the line, and applies what was new at its turn. A turn that it had is over, or its
// entry would have been put.
func (w *writer) line(ctx context.Context) error {
	if w.turn != nil {
		w.turn.Leave()
	}
	if w.pulse == nil {
		w.pulse = feel()
	}
	var tail *Tail
	err := w.pulse.calling(func() (err error) {
		if w.turn, err = w.rep.driver.Turn(ctx); err == nil {
			w.pulse.guard(w.turn, w.rep.beat)
			tail, err = w.rep.driver.After(ctx, w.at, false)
		}
		return err
	})
	if err != nil {
		return w.rep.away(err)
	}
	w.rep.noteCrowd(w.turn.Waited() || w.waiting || w.lost > 0)
	return w.follow(tail)
}

// follow applies what was in the log at the writer's turn. Readers on this machine may have
// done so meanwhile; a different log is noticed at its end.
func (w *writer) follow(tail *Tail) error {
	if tail.Log != w.rep.ID() || tail.Head.N <= w.at.N {
		return nil
	}
	w.known, w.asked = max(w.known, tail.Head.N), true
	return w.catchUp(w.at, tail)
}
