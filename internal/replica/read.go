package replica

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// lagError means that the replica is behind the log. It holds the entries after the replica's
// position.
type lagError struct {
	from Position
	tail *Tail
}

func (*lagError) Error() string { return "the replica is behind the log" }

// errJoin means that the replica is unusable and must be made again. Unwrap returns the
// reason.
type errJoin struct{ why error }

func (e *errJoin) Error() string { return e.why.Error() }
func (e *errJoin) Unwrap() error { return e.why }

// ErrGoneBack means that an older state of a log was restored.
var ErrGoneBack = fmt.Errorf("%w: the log has gone back to an earlier state", row.ErrDamaged)

// ErrVanished means that the log of this machine's replica no longer exists.
var ErrVanished = fmt.Errorf("%w: the log is gone", row.ErrDamaged)

// wayOut is the remedy if a replica is ahead of its log.
const wayOut = "back that up (placectl backup, with --stale any), and begin a new log with init --from"

// View runs fn on a snapshot of the replica that has everything that the log held when View
// was called. If the handle accepts stale replicas, it may have less.
func (rep *Replica) View(fn func(*file.Recorder) error) error {
	s := &session{rep: rep, until: rep.until()}
	return s.joining(func() error {
		err := rep.File().View(func(r *file.Recorder) error {
			at, err := s.position(r)
			if err != nil {
				return err
			}
			if !rep.contentWith() {
				if err := s.fresh(at); err != nil {
					return err
				}
			}
			return answer(fn(r))
		})
		var late *lagError
		if !errors.As(err, &late) {
			return err
		}
		if err := s.catchUp(late.from, late.tail); err != nil {
			return err
		}
		return errAgain
	})
}

// answered is an error that a transaction's function returned. It is an answer, not a fault of
// the replica.
type answered struct{ error }

func (a *answered) Unwrap() error { return a.error }

func answer(err error) error {
	if err == nil {
		return nil
	}
	return &answered{err}
}

// errAgain means that the transaction must run again.
var errAgain = errors.New("run again")

// session is one transaction, through all its runs.
type session struct {
	rep   *Replica
	until time.Time
	joins int       // how often the replica was made again
	known uint64    // the end of the log at some time since the transaction began
	asked bool      // known is set
	heard time.Time // when the log was last asked for newer entries
	at    Position  // of the replica, when it was last brought up to date
}

// joinsMost is how often a transaction makes the replica again because it is too far behind.
// There is no good reason for that to happen repeatedly.
const joinsMost = 3

// joining runs try until it returns an answer. A replica that is damaged, or differs from the
// log, is made again once.
func (s *session) joining(try func() error) error {
	for {
		err := try()
		var join *errJoin
		switch {
		case errors.Is(err, errAgain):
			continue
		case errors.As(err, &join) && s.joins < joinsMost:
		case s.joins == 0 && isDamage(err): // the file stays until it is replaced
		default:
			return s.rep.wanted(saidBy(err), s.until)
		}
		s.joins++
		s.rep.detail("the replica is made anew: " + err.Error())
		if err := s.rep.join(s.until); err != nil {
			return err
		}
	}
}

// isDamage reports whether an error is about this machine's replica, not about the log.
func isDamage(err error) bool {
	for _, is := range []error{errEntry, ErrSnapshot, ErrGoneBack, ErrVanished} {
		if errors.Is(err, is) {
			return false
		}
	}
	var said *answered
	gone := errors.Is(err, row.ErrNotFound) && !errors.As(err, &said)
	return gone || errors.Is(err, row.ErrDamaged) || errors.Is(err, file.ErrNotOurs)
}

// saidBy returns an error as the function of a transaction returned it.
func saidBy(err error) error {
	var said *answered
	if errors.As(err, &said) {
		return said.error
	}
	return err
}

// wanted adds to the error about a newer log which version last wrote to it.
func (rep *Replica) wanted(err error, until time.Time) error {
	if !errors.Is(err, file.ErrNewer) || errors.Is(err, errNamed) {
		return err
	}
	ctx, cancel := within(until)
	defer cancel()
	tail, failed := rep.driver.After(ctx, nowhere, false)
	if failed != nil || tail.Head.N == 0 {
		return err
	}
	tail, failed = rep.driver.After(ctx, Position{N: tail.Head.N - 1}, false)
	if failed != nil || len(tail.Entries) == 0 {
		return err
	}
	if h, _ := DecodeHead(tail.Entries[0]); h != nil {
		err = fmt.Errorf("%w: install placectl %s or later%w", err, h.Version, errNamed)
	}
	return err
}

func (rep *Replica) detail(text string) {
	if rep.opt.Detail != nil {
		rep.opt.Detail(text)
	}
}

// position returns the replica's position.
func (s *session) position(r *file.Recorder) (*row.Replica, error) {
	at, err := r.Replica()
	if err == nil && (at == nil || at.Log != s.rep.ID()) {
		err = fmt.Errorf("%w: the file is not the replica of log %s", row.ErrDamaged, s.rep.ID())
	}
	return at, err
}

func positionOf(at *row.Replica) Position { return Position{at.N, at.Chain} }

// fresh verifies that the log had nothing newer than the replica when the transaction began.
// Otherwise it fails with a lagError.
func (s *session) fresh(at *row.Replica) error {
	if s.asked && at.N >= s.known {
		if !s.heard.IsZero() {
			s.rep.wasFresh(s.heard)
		}
		return nil
	}
	ctx, cancel := within(s.until)
	defer cancel()
	began := time.Now()
	tail, err := s.rep.driver.After(ctx, positionOf(at), false)
	if err != nil {
		return s.rep.away(err)
	}
	return s.compare(at, tail, began)
}

// compare examines what the log held after the replica's position.
func (s *session) compare(at *row.Replica, tail *Tail, began time.Time) error {
	switch {
	case tail.Log != at.Log:
		return &errJoin{fmt.Errorf("the log has changed: it is %s, not %s", tail.Log, ID(at.Log))}
	case tail.Head.N < at.N || tail.Head.N == at.N && tail.Head.Chain != at.Chain:
		return fmt.Errorf("%w: it ends at %v, and this machine's replica stands at %v; "+wayOut, ErrGoneBack, tail.Head,
			positionOf(at))
	}
	s.known, s.asked, s.heard = max(s.known, tail.Head.N), true, began
	if tail.Head.N > at.N {
		return &lagError{positionOf(at), tail}
	}
	s.rep.wasFresh(began)
	return nil
}

// away converts the error of a call to the one that callers expect.
func (rep *Replica) away(err error) error {
	if errors.Is(err, ErrNoLog) {
		if _, err := os.Stat(rep.path(rep.ID())); err == nil {
			return fmt.Errorf("%w: there is none below %s, and this machine has a replica of it; "+wayOut, ErrVanished,
				rep.Name)
		}
		return fmt.Errorf("there is no database %s; make one with placectl init%w", rep.Name,
			file.Wordless(file.ErrNoDatabase))
	}
	return away(err)
}

// away converts the error of a call to a log that does not answer.
func away(err error) error {
	switch {
	case errors.Is(err, ErrAway), errors.Is(err, ErrLost), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", file.ErrLocked, err)
	}
	return err
}

// catchUp applies the entries after a position of the replica, or fails with errJoin if the
// replica should be made again. It fails with errAgain if another process has made it again
// meanwhile, so that the tail does not have the entry right after its position.
func (s *session) catchUp(from Position, tail *Tail) error {
	return s.rep.File().Follow(func(r *file.Recorder) (bool, error) {
		defer s.worked(time.Now())
		r.Unrecorded()
		at, err := s.position(r)
		if err != nil {
			return false, err
		}
		if s.at = positionOf(at); tail.Head.N <= at.N { // another process of this machine was faster
			return false, nil
		}
		if at.N < from.N {
			return false, errAgain
		}
		if ahead := at.N - from.N; ahead > 0 && ahead >= uint64(len(tail.Entries)) && at.N+1 >= tail.First {
			return false, errAgain // what was read does not reach that far
		}
		if why := s.tooFar(at, from, tail); why != "" {
			if err := follows(at, tail); err != nil {
				return false, err
			}
			return false, &errJoin{errors.New(why)}
		}
		newer(at, tail)
		if err := applyAll(r, at, tail); err != nil {
			return false, err
		}
		s.at = positionOf(at)
		s.rep.noteDue(at)
		return true, r.PutReplica(at)
	})
}

// tooFar says why the replica is too far behind to be brought up to date entry by entry, or
// returns "".
func (s *session) tooFar(at *row.Replica, from Position, tail *Tail) string {
	switch {
	case at.N+1 < tail.First:
		return fmt.Sprintf("the log begins at entry %d, and the replica stands at %d", tail.First, at.N)
	case s.joins > 0 || tail.Snapshot.N <= at.N:
	case from.N+uint64(len(tail.Entries)) < tail.Head.N: // there are more than a Tail holds
		return fmt.Sprintf("the replica is %d entries behind", tail.Head.N-at.N)
	}
	return ""
}

// follows verifies that a log which is too far ahead of the replica continues from the replica's
// position, if its entry there is still in the log.
func follows(at *row.Replica, tail *Tail) error {
	if len(tail.Entries) == 0 {
		return nil
	}
	h, err := DecodeHead(tail.Entries[0])
	if err == nil && h.Position == at.N+1 && h.Before != at.Chain {
		err = fmt.Errorf("%w: it has gone on from another entry %d than this machine's replica; "+wayOut, ErrGoneBack,
			at.N)
	}
	return err
}

// worked extends a transaction's timeout by the time that it has worked since an instant,
// because the timeout is only for waiting.
func (s *session) worked(since time.Time) { s.until = s.until.Add(time.Since(since)) }

// applyAll applies the entries of a tail after a position, and moves the position.
func applyAll(r *file.Recorder, at *row.Replica, tail *Tail) error {
	from := at.N
	for _, b := range tail.Entries {
		e, err := decodeEntry(b)
		switch {
		case err != nil:
			return err
		case e.Position <= at.N:
			continue
		case e.Position != at.N+1:
			return fmt.Errorf("%w: entry %d came behind entry %d", errEntry, e.Position, at.N)
		case e.Before != at.Chain || e.Log != [4]byte(at.Log[:4]):
			return fmt.Errorf("%w: entry %d, %s, does not follow the entry before it that this machine's replica has",
				ErrGoneBack, e.Position, e.author())
		}
		if err := e.apply(r); err != nil {
			return err
		}
		at.N, at.Chain = at.N+1, ChainOf(b)
		countEntry(at, len(b))
	}
	if at.N == from {
		return fmt.Errorf("%w: nothing came behind entry %d, and the log ends at %d", errEntry, from, tail.Head.N)
	}
	return nil
}

// countEntry counts the entry at the replica's new position.
func countEntry(at *row.Replica, bytes int) {
	if at.N > at.Since {
		at.Behind += uint64(bytes)
	}
}
