package runner

import (
	"context"
	"crypto/rand"
	"errors"
	"os"

	"github.com/placectl/placectl/store"
)

// A supervisor whose attempt has ended goes on with another one, if a cycle gives that the room:
// one commit reports the end, makes the cycle and claims what it has started. The next attempt
// has a directory, a lock and a journal before it is claimed, as any other has.

// Turn reports how an attempt has ended and, in the same commit, claims another one for this
// process: prepare says with which claim, and false for one that cannot be executed here now. It
// may be called more than once; the last call counts. The order is nil if there is no other
// attempt. Errors are those of Database.Report, or ErrNoTurn.
type Turn func(ctx context.Context, ended *store.Result, prepare func(Key) (store.Claim, bool)) (*Order, error)

// ErrNoTurn says that certainly nothing was reported or claimed: the report has to be made alone.
var ErrNoTurn = errors.New("the process does not go on")

// prepared is an attempt that this process is about to claim.
type prepared struct {
	dir     *dir
	journal *os.File
	nonce   store.Nonce
}

// prepare makes the directory and the journal of an attempt. It fails if anybody else is at it.
func (s *state) prepare(r *Runner, k Key) (*prepared, error) {
	d, err := s.lockDir(k, true)
	if err != nil {
		return nil, err
	}
	i := r.intent()
	journal, err := d.begin(i)
	if err != nil {
		d.close()
		return nil, err
	}
	return &prepared{d, journal, i.Nonce}, nil
}

// close gives the attempt's directory back. One that was certainly not claimed leaves nothing
// behind.
func (p *prepared) close(unclaimed bool) error {
	if p == nil {
		return nil
	}
	var err error
	if unclaimed {
		err = p.dir.remove()
	}
	p.dir.close()
	return errors.Join(err, p.journal.Close())
}

// turn reports a result and claims the next attempt, nil for none. It fails if it is
// unknown whether it was reported.
func (r *Runner) turn(ctx context.Context, s *state, result *store.Result) (*execution, error) {
	self, err := Self(r.Host)
	if err != nil {
		return nil, err
	}
	var next *prepared
	drop := func(unclaimed bool) {
		if err := next.close(unclaimed); err != nil {
			r.notef("%v", err)
		}
		next = nil
	}
	order, err := r.Turn(ctx, result, func(k Key) (store.Claim, bool) {
		if next != nil && next.dir.Key != k {
			drop(true)
		}
		if next == nil {
			var err error
			if next, err = s.prepare(r, k); err != nil {
				if !errors.Is(err, errHeld) && !errors.Is(err, os.ErrExist) {
					r.notef("%s: %v", k, err)
				}
				return store.Claim{}, false
			}
			r.at("prepared")
		}
		return store.Claim{Job: k.Job, Attempt: k.Number, By: store.BySupervisor, Nonce: next.nonce, Process: self}, true
	})
	switch {
	case err == nil && order != nil && next != nil && order.Key == next.dir.Key:
		r.at("turned")
		return &execution{Runner: r, dir: next.dir, order: order, nonce: next.nonce, journal: next.journal, state: s}, nil
	case errors.Is(err, ErrNoTurn):
		drop(true)
		r.notef("%d.%d: %v", result.Job, result.Attempt, err)
		return nil, err
	case settled(err):
		drop(true)
		if err != nil {
			r.notef("%d.%d: %v", result.Job, result.Attempt, err)
		}
		return nil, nil
	}
	drop(false) // perhaps it was claimed: a pass finds out
	return nil, err
}

// turn is the turn that the attempt's result is reported in; nil if this process is not to go
// on: something is wrong with this host, or with the attempt.
func (e *execution) turn(r *store.Result) func(context.Context) (*execution, error) {
	if e.Turn == nil || r.Outcome == store.OutcomeUnbegun || r.Outcome == store.OutcomeRefused || r.Outcome == store.OutcomeLost {
		return nil
	}
	return func(ctx context.Context) (*execution, error) { return e.Runner.turn(ctx, e.state, r) }
}

// close gives back what the attempt had open.
func (e *execution) close() {
	e.journal.Close()
	e.dir.close()
}

// drawNonce draws the nonce of an attempt.
func drawNonce() (n store.Nonce) {
	rand.Read(n[:]) //nolint:errcheck // it never fails
	return n
}
