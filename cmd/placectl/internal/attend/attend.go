// Package attend has a queue looked after without a daemon. A command that has changed the
// database leaves a process behind, the attendant, which makes cycles and starts jobs, and
// ends when there is nothing left to do. There is at most one for each host, user and
// database: the one that holds a lock.
//
// No change is overlooked. A command commits, and then tries the lock. If it gets it, it
// starts an attendant, which has the lock from its first instant. If not, it rings the bell
// of the one that has it. An attendant that leaves lets go of the lock, and only then looks
// once more whether anything was committed since it last looked; if so, it tries the lock
// again. So a command whose try was refused had committed before that last look. The model
// in protocol_test.go goes through every interleaving of the steps.
package attend

import (
	"fmt"
	"time"
)

// Leave starts an attendant if there is none, with the lock, and rings the bell of the one
// that is there. A reader does not ring: it has changed nothing. An attendant that is stopped,
// or has not heard its bell for a second, gets another one beside it; one that was killed
// and still has the lock is waited for.
func (p Place) Leave(ring bool, now time.Time, look Look, start func(*Lock) error) error {
	l, is, err := p.try()
	for tries := 0; l == nil; tries++ {
		if err != nil {
			return err
		}
		unheard := p.ring(ring)
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
		l, is, err = p.try()
	}
	defer l.Close() // the attendant holds it
	if last := l.read(); last.Paused(now) > 0 {
		return fmt.Errorf("the last attendant failed: %s; the next one is started in %v", last.Why, last.Paused(now).Round(time.Second))
	}
	return start(l)
}

// Look looks at the process of a pid that began at an instant, 0 for any.
type Look func(pid int, born uint64) (lives, stopped bool)

// The threads of a process that was killed end one by one, and the lock is free behind the last.
const (
	dyingTries = 50
	dyingPause = 2 * time.Millisecond
)

// Steps are what an attendant does between the steps that keep changes from being overlooked.
type Steps[S comparable] struct {
	Begin func(*Lock) error // it has the lock from now on, and is to listen
	State func() S          // of the database; those of two instants differ if something was committed between them
	Act   func()            // looks at the database, and does what it finds to do
	Wait  func() bool       // until something may have happened; false: it is time to leave
}

// Attend attends until it is time to leave and nothing was overlooked, or another process has
// the lock.
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

// stay acts until it is time to leave. It returns the state that was acted on last.
func (s Steps[S]) stay() S {
	for {
		seen := s.State()
		s.Act()
		if s.State() == seen && !s.Wait() {
			return seen
		}
	}
}
