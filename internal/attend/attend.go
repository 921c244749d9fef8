// Package attend runs a queue without a daemon. A command that has changed the database leaves a
// process behind, the attendant. It makes cycles and starts jobs, and ends when there is nothing left
// to do. Each host, user and database has at most one: the process that holds a lock.
//
// No change is overlooked. A command commits, and then tries the lock. If it gets the lock, it
// starts an attendant, which holds it from its first instant. If not, it rings the bell of the
// attendant that holds it. An attendant that leaves releases the lock. Only then does it check once
// more whether anything was committed since it last looked. If so, it tries the lock again. So a
// command that did not get the lock had committed before that last check. The model in
// protocol_test.go goes through every interleaving of the steps.
package attend

import (
	"fmt"
	"time"
)

// Leave starts an attendant that holds the lock, or rings the bell of the one that runs already. A
// reader does not ring: it has changed nothing. If the attendant is stopped, or has not heard its
// bell for a second, Leave starts another beside it. If it was killed but still holds the lock,
// Leave waits for the lock.
func (p Place) Leave(ring bool, now time.Time, look Look, start func(*Lock) error) error {
	l, err := p.openLock()
	if err != nil {
		return err
	}
	defer l.Close() // an attendant that was started holds it by then
	got, err := l.take()
	for tries := 0; !got; tries++ {
		if err != nil {
			return err
		}
		is, unheard := l.read(), p.ring(ring)
		lives, stopped := look(is.PID, is.Born)
		switch {
		case is.PID == 0 || tries == dyingTries:
			return nil
		case lives && !p.second && (unheard || stopped):
			return p.Second().Leave(ring, now, look, start)
		case lives:
			return nil
		}
		time.Sleep(dyingPause)
		got, err = l.take()
	}
	if last := l.read(); last.Paused(now) > 0 {
		return fmt.Errorf("the last queue runner failed: %s; the next one is started in %v", last.Why,
			last.Paused(now).Round(time.Second))
	}
	return start(l)
}

// Look reports on the process with a pid that was started at born, 0 for any.
type Look func(pid int, born uint64) (lives, stopped bool)

// The threads of a killed process end one by one, and the last of them frees the lock.
const (
	dyingTries = 50
	dyingPause = 2 * time.Millisecond
)

// Steps is what an attendant does between the steps that keep changes from being overlooked.
type Steps[S comparable] struct {
	Begin func(*Lock) error // the process holds the lock from now on, and must listen
	State func() S          // of the database; two states differ if something was committed in between
	Act   func()            // reads the database, and does the work that it finds
	Wait  func() bool       // waits for something to happen; false: it is time to leave
}

// Attend runs the steps until it is time to leave and nothing was overlooked, or until another
// process holds the lock.
func Attend[S comparable](l *Lock, s Steps[S]) error {
	for {
		if err := s.Begin(l); err != nil {
			l.Close()
			return err
		}
		seen := s.stay()
		l.Close()
		if s.State() == seen {
			return nil
		}
		var err error
		if l, err = l.place.Try(); l == nil {
			return err
		}
	}
}

// stay acts until it is time to leave. It returns the last state on which it acted.
func (s Steps[S]) stay() S {
	for {
		seen := s.State()
		s.Act()
		if s.State() == seen && !s.Wait() {
			return seen
		}
	}
}
