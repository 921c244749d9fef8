package work

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/placectl/placectl/internal/attend"
	"github.com/placectl/placectl/internal/dispatch"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/hook"
	"github.com/placectl/placectl/internal/keeper"
)

// runsEvery is how often to check whether runs on this host were killed.
const runsEvery = 5 * time.Second

// Cycle makes a cycle, unless check fails in its transaction: passes find what it has started. ends ends the jobs of
// killed runs on this host, and reports whether there are others.
func Cycle(tx *engine.Tx, ends func(*engine.Tx) (others bool, err error), check func(*engine.Tx) error) (
	is keeper.Cycled, err error) {
	if is.Startable, err = dispatch.Startable(tx); err != nil {
		return is, err
	}
	runs, failed := ends(tx)
	if err := errors.Join(check(tx), failed); err != nil {
		return is, err
	}
	report, err := tx.Cycle().Run(engine.CycleSpec{By: engine.BySupervisor})
	if err == nil {
		is.Due = report.Next
	}
	if again := tx.Now().Add(runsEvery); runs && (is.Due.IsZero() || again.Before(is.Due)) {
		is.Due = again
	}
	return is, err
}

// forecastEvery is how often to check whether expected starts are out of date.
const forecastEvery = 30 * time.Second

// Forecasts keeps expected starts up to date beside passes, when those have nothing to do. A forecast that is running
// does not delay a pass. open returns a handle on the database.
func Forecasts(ctx context.Context, open func() (*engine.DB, error), detail func(string, ...any)) (idle func()) {
	var busy atomic.Bool
	var next time.Time
	began := time.Now()
	return func() {
		if time.Now().Before(next) || !busy.CompareAndSwap(false, true) {
			return
		}
		next = time.Now().Add(forecastEvery)
		few := time.Since(began) > forecastEvery
		db, err := open()
		if err != nil {
			busy.Store(false)
			return // the next pass reports it
		}
		go func() {
			defer busy.Store(false)
			err := db.Forecast(engine.ForecastSpec{Rarely: true, Few: few,
				Done: func() bool { return ctx.Err() != nil }})
			if err != nil {
				detail("no starts are expected: %v", err)
			}
		}()
	}
}

// Serve makes passes until the context ends, or fails with engine.ErrCopy. If they make cycles, this process takes the
// seat of the one that runs the queue, and commands ring for it.
func Serve(ctx context.Context, passes *keeper.Passes, wakes keeper.Wakes, seat *Seat, events *hook.Hook) error {
	if seat != nil {
		leave, err := seat.take(ctx)
		if err != nil {
			return err
		}
		defer leave()
		wakes.Rung = seat.rung
	}
	beside := &hook.Beside{Hook: *events}
	defer beside.End()
	var here attend.Presence
	defer here.Close()
	here.Keep(passes.ID, passes.Epoch)
	passes.After = func(v *keeper.View) {
		here.Keep(passes.ID, passes.Epoch)
		if v.Hooked {
			beside.Start(ctx)
		}
	}
	return passes.Work(ctx, wakes)
}
