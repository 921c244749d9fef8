package replica

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// A transaction that has lost the race to the log's end pauses a little before it runs again.
// One that has lost often, or takes long, waits in the line for its turn. Otherwise it would
// lose to short ones for ever.
const (
	pauseMost    = 4 * time.Millisecond // times the number of lost races
	patienceRuns = 8
	patienceTime = 250 * time.Millisecond
)

// Update runs fn on the replica. If fn returns keep, it puts the changes after the last entry
// of the log, if that is the last one that fn has seen. Otherwise it brings the replica up to
// date, and runs fn again. It returns nil once the entry is in the log. ErrUnknown means that
// it may be, and any other error that nothing was changed. A result of fn without changes, or
// an error, counts if the log has nothing newer than what fn has seen.
//
// fn runs beside readers of the replica, and they do not wait for the log. Other writers of
// this machine do.
func (rep *Replica) Update(fn func(*file.Recorder) (keep bool, err error)) error {
	return rep.update(fn, (*file.Reserved).Try)
}

// UpdateAlone is Update with exclusive access to the replica, for changes of more than rows.
func (rep *Replica) UpdateAlone(fn func(*file.Recorder) (keep bool, err error)) error {
	return rep.update(fn, func(h *file.Reserved, fn func(*file.Recorder) (bool, error)) (*file.Draft, error) {
		return nil, h.Alone(fn)
	})
}

// try runs a function on the replica. The draft, if any, holds changes that must still be
// written.
type try func(h *file.Reserved, fn func(*file.Recorder) (keep bool, err error)) (*file.Draft, error)

func (rep *Replica) update(fn func(*file.Recorder) (keep bool, err error), how try) error {
	s := &session{rep: rep, until: rep.until()}
	return s.joining(func() error {
		return rep.File().Reserve(func(h *file.Reserved) error {
			w := &writer{session: s, h: h, try: how, began: time.Now()}
			defer w.leave()
			return w.write(fn)
		})
	})
}

// writer is a session that is the only writer of this machine.
type writer struct {
	*session
	h       *file.Reserved
	try     try
	began   time.Time
	turn    Turn
	lost    int    // number of lost races
	waiting bool   // it was refused because another writer waits in the line
	pulse   *pulse // nil before it first enters the line
}

// write runs fn until its change is in the log.
func (w *writer) write(fn func(*file.Recorder) (keep bool, err error)) error {
	err := w.ready()
	for err == nil {
		if err = w.run(fn); errors.Is(err, errAgain) {
			err = w.wait()
		} else {
			return err
		}
	}
	return err
}

// leave gives up the turn. The log has done that if it answered that it took the entry.
func (w *writer) leave() {
	if w.turn != nil {
		w.turn.Leave()
	}
	w.pulse.end()
}

// run runs fn once, and appends its changes.
func (w *writer) run(fn func(*file.Recorder) (keep bool, err error)) error {
	var tail *Tail
	var stood Position
	appended := false
	draft, err := w.try(w.h, func(r *file.Recorder) (bool, error) {
		at, err := w.position(r)
		if err != nil {
			return false, err
		}
		stood = positionOf(at)
		began := time.Now()
		keep, err := fn(r)
		w.worked(began)
		if err != nil || !keep {
			said := answer(err)
			if errors.Is(err, context.Canceled) {
				return false, said
			}
			var late *lagError
			switch err := w.fresh(at); {
			case errors.As(err, &late):
				tail = late.tail
				return false, errAgain
			case err != nil:
				return false, err
			}
			return false, said
		}
		tail, err = w.commit(r, at)
		appended = err == nil && tail == nil
		if err != nil {
			return false, err
		}
		if tail != nil {
			return false, errAgain
		}
		return true, nil
	})
	switch {
	case appended:
		w.writeDown(draft, stood, err)
		return nil
	case !errors.Is(err, errAgain):
		return err
	}
	if w.waiting = tail.Waiting; !w.waiting {
		w.lost++
	}
	if err := w.catchUp(stood, tail); err != nil {
		return err
	}
	return errAgain
}

// writeDown applies the new entry to the replica, unless a reader has done it meanwhile. If it
// fails, the next transaction reads the log.
func (w *writer) writeDown(d *file.Draft, stood Position, err error) {
	done := err == nil
	if done && d != nil {
		done, err = w.h.Write(d, func(r *file.Recorder) (bool, error) {
			at, err := w.position(r)
			return err == nil && positionOf(at) == stood, err
		})
	}
	if err != nil {
		w.rep.warn("the change is made; this machine's replica does not have it yet: " + err.Error())
	} else if done {
		w.rep.wasFresh(time.Now())
	}
}

func (rep *Replica) warn(text string) {
	if rep.opt.Warn != nil {
		rep.opt.Warn(text)
	}
}

// commit appends the changes of a transaction, and moves the replica's position. If another
// writer was faster, it returns the entries after the position.
func (w *writer) commit(r *file.Recorder, at *row.Replica) (*Tail, error) {
	began := time.Now()
	entry, err := w.entry(r, at)
	if err != nil {
		return nil, err
	}
	w.worked(began.Add(-time.Duration(len(entry)>>20) * time.Second)) // allowance for sending it
	began = time.Now()
	tail, err := w.append(positionOf(at), entry)
	if err != nil {
		return nil, err
	}
	if tail != nil {
		err := w.compare(at, tail, began)
		var late *lagError
		if errors.As(err, &late) {
			err = nil
		}
		return tail, err
	}
	at.N, at.Chain = at.N+1, ChainOf(entry)
	w.known, w.asked = max(w.known, at.N), true
	countEntry(at, len(entry))
	w.rep.noteDue(at)
	return nil, r.PutReplica(at)
}

// entry makes an entry from the changes of a transaction.
func (w *writer) entry(r *file.Recorder, at *row.Replica) (b []byte, err error) {
	e := &Entry{Head: Head{Position: at.N + 1, Log: [4]byte(at.Log[:4]), Before: at.Chain, Format: r.Format(),
		Version: w.rep.opt.Version, Host: hostName(), User: userName(), Verb: w.rep.opt.Verb, Now: w.rep.opt.now()}}
	rand.Read(e.ID[:]) //nolint:errcheck // it never fails
	err = r.Previous(func(before func(t row.Table, key []byte) []byte) error {
		if e.tables, err = changesOf(r.Changes(), before); err != nil {
			return err
		}
		if b, err = e.Encode(); err != nil {
			return err
		}
		return prove(b, r.Changes(), before)
	})
	return b, err
}

var hostName = sync.OnceValue(func() string {
	name, _ := os.Hostname()
	return name
})

var userName = sync.OnceValue(func() string {
	if name := os.Getenv("USER"); name != "" {
		return name
	}
	return strconv.Itoa(os.Getuid())
})

// append sends an entry until it is known whether it is in the log. Meanwhile nothing else is
// tried, because what was sent may still be carried out, and only at its position.
func (w *writer) append(at Position, entry []byte) (*Tail, error) {
	ctx, cancel := within(w.until)
	defer cancel()
	lost := false
	for try := 1; ; try++ {
		var tail *Tail
		err := w.pulse.calling(func() (err error) {
			tail, err = w.rep.driver.Append(ctx, at, entry, w.turn)
			return err
		})
		switch {
		case err == nil && tail == nil:
			return nil, nil
		case err == nil && lost && tail.Head == at: // it waits, and what was sent before may still arrive
		case err == nil && lost && tail.Head.N > at.N && tail.First > at.N+1:
			return nil, fmt.Errorf("%w: no answer came to an entry, and the log begins behind it by now",
				file.ErrUnknown)
		case err == nil && tail.Head.N > at.N && len(tail.Entries) > 0 && bytes.Equal(tail.Entries[0], entry):
			return nil, nil
		case err == nil:
			return tail, nil
		case errors.Is(err, ErrLost):
			lost = true
		case !errors.Is(err, ErrAway):
			if lost {
				return nil, fmt.Errorf("%w: no answer came to an entry, and then: %w", file.ErrUnknown, err)
			}
			return nil, fmt.Errorf("nothing was changed: %w", w.rep.away(err))
		}
		if ctx.Err() != nil || time.Now().After(w.until) {
			if lost {
				return nil, fmt.Errorf("%w: no answer came to an entry%s; check whether it was done before you try "+
					"again, or use the same --key", file.ErrUnknown, because(err))
			}
			return nil, away(err)
		}
		pause(ctx, min(time.Duration(try)*5*time.Millisecond, 200*time.Millisecond))
	}
}

// because returns an error as the rest of a sentence.
func because(err error) string {
	if err == nil { // the last answer was only that others wait, which says nothing of the entry
		return ""
	}
	return ": " + err.Error()
}
