package replica

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// A transaction that has lost the race to the log's end pauses a little before it is run
// again. One that has lost often, or takes long, waits in the line for its turn: it would
// lose to those that are short for ever.
const (
	pauseMost    = 4 * time.Millisecond // times how often it has lost
	patienceRuns = 2
	patienceTime = 250 * time.Millisecond
	longRun      = 50 * time.Millisecond
)

// Update runs fn on the replica and puts what it changed behind the last entry of the log,
// if that is the one that fn has seen, and if fn says to keep it; else the replica is
// brought up to date, and fn runs again. It returns nil once the entry is in the log.
// ErrUnknown means that it may be; every other error that nothing was changed. An answer of
// fn that changes nothing, or is an error, counts when nothing in the log is newer than
// what it has seen.
//
// fn runs beside those who read the replica, and they do not wait for the log either; other
// writers of this machine do.
func (rep *Replica) Update(fn func(*file.Recorder) (keep bool, err error)) error {
	_, err := rep.update(fn, (*file.Reserved).Try, nil)
	return err
}

// UpdateAlone is Update with the replica to itself, for what changes more of it than rows.
func (rep *Replica) UpdateAlone(fn func(*file.Recorder) (keep bool, err error)) error {
	_, err := rep.update(fn, func(h *file.Reserved, fn func(*file.Recorder) (bool, error)) (*file.Draft, error) {
		return nil, h.Alone(fn)
	}, nil)
	return err
}

// try runs a function on the replica. There is a draft where what it has changed is still to
// be written down.
type try func(h *file.Reserved, fn func(*file.Recorder) (keep bool, err error)) (*file.Draft, error)

func (rep *Replica) update(fn func(*file.Recorder) (keep bool, err error), how try, words *Words) (answer []byte, err error) {
	s := &session{rep: rep, until: rep.until()}
	err = s.joining(func() error {
		return rep.File().Reserve(func(h *file.Reserved) error {
			w := &writer{session: s, h: h, try: how, began: time.Now(), words: words}
			defer w.leave()
			err := w.settle(w.write(fn))
			answer = w.answer
			return err
		})
	})
	return answer, err
}

// writer is a session that is the only writer of this machine.
type writer struct {
	*session
	h       *file.Reserved
	try     try
	began   time.Time
	place   Place
	lost    int  // how many races
	long    bool // fn takes long
	waiting bool // it was refused because another writer waits in the line
	pulse   *pulse
	words   *Words  // nil: what fn does cannot be said in words
	behind  []Asked // the words of the places behind it
	answer  []byte  // of another writer, which has run the words
}

// write runs fn until its change is in the log, or another writer has run its words.
func (w *writer) write(fn func(*file.Recorder) (keep bool, err error)) error {
	err := w.ready()
	for err == nil {
		if err = w.run(fn); errors.Is(err, errAgain) {
			err = w.turn()
		} else {
			return err
		}
	}
	return err
}

// leave gives up the place in the line. The log has done that where it has answered that it
// took the entry; where that answer was lost whoever keeps the place alive does not know yet.
func (w *writer) leave() {
	if w.place != nil {
		w.place.Leave()
	}
	if w.pulse != nil {
		w.pulse.end()
	}
}

// run runs fn once, and appends what it changed.
func (w *writer) run(fn func(*file.Recorder) (keep bool, err error)) error {
	var tail *Tail
	var stood Position
	var answers []Answer
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
		w.long = w.long || time.Since(began) > longRun
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
		answers = w.others(r)
		tail, err = w.commit(r, at, answers)
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
	case errors.Is(err, errTooMuch):
		w.behind = nil
		return w.run(fn)
	case !errors.Is(err, errAgain):
		return err
	case tail.Answer != nil:
		w.answer = tail.Answer
		return errAnswered
	}
	if w.waiting = tail.Waiting; !w.waiting {
		w.lost++
	}
	if err := w.catchUp(stood, tail); err != nil {
		return err
	}
	return errAgain
}

// writeDown applies to the replica what is in the log, unless a reader has done it meanwhile. If it
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

// commit appends what a transaction has changed, and moves the replica's position. If another
// writer was faster, it returns the entries behind the position.
func (w *writer) commit(r *file.Recorder, at *row.Replica, answers []Answer) (*Tail, error) {
	began := time.Now()
	entry, err := w.entry(r, at, len(answers))
	if err == nil && tooMuch(entry, answers) {
		err = errTooMuch
	}
	if err != nil {
		return nil, err
	}
	w.worked(began.Add(-time.Duration(len(entry)>>20) * time.Second)) // so much for sending it
	began = time.Now()
	tail, err := w.append(positionOf(at), entry, answers)
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

// entry makes the entry of what a transaction has changed.
func (w *writer) entry(r *file.Recorder, at *row.Replica, others int) (b []byte, err error) {
	verb := w.rep.opt.Verb
	if others > 0 {
		verb = fmt.Sprintf("%s +%d", verb, others)
	}
	e := &Entry{Head: Head{Position: at.N + 1, Log: [4]byte(at.Log[:4]), Before: at.Chain, Format: r.Format(),
		Version: w.rep.opt.Version, Host: hostName(), User: userName(), Verb: verb, Now: w.rep.opt.now()}}
	rand.Read(e.ID[:]) //nolint:errcheck // it never fails
	err = r.Previous(func(before func(t row.Table, key []byte) []byte) error {
		if e.tables, err = changesOf(r.Changes(), before); err != nil {
			return err
		}
		if b, err = e.encode(); err != nil {
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

// append sends an entry until it is known whether it is in the log. While that is not known
// nothing else is tried: what was sent may be carried out yet, and only there.
func (w *writer) append(at Position, entry []byte, answers []Answer) (*Tail, error) {
	ctx, cancel := within(w.until)
	defer cancel()
	lost := false
	for try := 1; ; try++ {
		var tail *Tail
		err := w.pulse.calling(func() (err error) {
			tail, err = w.rep.driver.Append(ctx, at, entry, w.place, answers...)
			return err
		})
		switch {
		case err == nil && tail == nil:
			return nil, nil
		case err == nil && lost && tail.Head == at: // it waits, and what was sent before may come yet
		case err == nil && lost && tail.Head.N > at.N && tail.First > at.N+1:
			return nil, fmt.Errorf("%w: no answer came to an entry, and the log begins behind it by now", file.ErrUnknown)
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
				return nil, fmt.Errorf("%w: no answer came to an entry%s; check whether it was done before you try again, or use the same --key", file.ErrUnknown, because(err))
			}
			return nil, away(err)
		}
		pause(ctx, min(time.Duration(try)*5*time.Millisecond, 200*time.Millisecond))
	}
}

// because returns an error as the rest of a sentence.
func because(err error) string {
	if err == nil { // the last answer was that others wait, and said nothing of the entry
		return ""
	}
	return ": " + err.Error()
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// turn waits before fn is run again: a little, or in the line. Who was refused because others
// wait there takes his place behind them.
func (w *writer) turn() error {
	ctx, cancel := within(w.until)
	defer cancel()
	enter := w.waiting || w.words != nil || w.lost >= patienceRuns || time.Since(w.began) > patienceTime || w.lost > 0 && w.long
	if time.Now().After(w.until) {
		return fmt.Errorf("%w: others were faster %d times", file.ErrLocked, w.lost)
	}
	if w.place == nil && !enter {
		pause(ctx, time.Duration(mathrand.Int64N(int64(pauseMost)*int64(w.lost)+1)))
		return nil
	}
	return w.line(ctx)
}

// longSilent is how long a machine may go without reading the log before a writer asks what is new
// before deciding. Otherwise its decision would often be useless. And with a slow call, and a log
// trimmed meanwhile, it could not tell whether its entry was ever in it.
const longSilent = 30 * time.Second

// ready makes a writer ready to run fn: where others had to be waited for lately his turn comes
// first, and where nothing was heard of the log for long what is new.
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
	tail, err := w.rep.driver.After(ctx, w.at)
	if err != nil {
		return w.rep.away(err)
	}
	return w.follow(tail)
}

// line waits in the line, and applies what was new when the turn came; or another writer has
// run the words.
func (w *writer) line(ctx context.Context) error {
	if w.pulse == nil {
		w.pulse = feel()
	}
	var tail *Tail
	err := w.pulse.calling(func() (err error) {
		w.place, tail, err = w.rep.driver.Turn(ctx, w.place, w.at, w.words.request())
		return err
	})
	switch {
	case w.words != nil && errors.Is(err, ErrLost):
		return unknownAsked(err)
	case err != nil:
		return w.rep.away(err)
	}
	w.rep.noteCrowd(tail.Waiting || w.waiting || w.lost > 0)
	if w.answer = tail.Answer; w.answer != nil {
		return errAnswered
	}
	w.behind = tail.Asked
	if w.place != nil { // a log of tests may have no line
		w.place.While(w.pulse.beats)
	}
	return w.follow(tail)
}

// follow applies what was in the log when the writer's turn came. Readers on this machine may have
// done so meanwhile; a different log is noticed at its end.
func (w *writer) follow(tail *Tail) error {
	if tail.Log != w.rep.ID() || tail.Head.N <= w.at.N {
		return nil
	}
	w.known, w.asked = max(w.known, tail.Head.N), true
	return w.catchUp(w.at, tail)
}
