package work

import (
	"context"
	"os"
	"syscall"
	"time"

	"github.com/placectl/placectl/internal/attend"
	"github.com/placectl/placectl/internal/keeper"
)

// Seat is the place of the process that runs the queue, for one that works until it is stopped. An attendant gives way
// to it. Another such process does not: this one serves beside it, and takes the seat when it is free.
type Seat struct {
	attend.Place
	Clock        func() time.Time
	Note, Detail func(format string, args ...any)

	rung   chan struct{} // receives when commands ring the bell
	beside int           // the process that works already, as last said
}

// seatEvery is how often to look whether the seat is free.
const seatEvery = 50 * time.Millisecond

// take waits for the seat until an attendant has left it. If it is taken by another work --cycle, the
// wait goes on in the background. leave ends both.
func (s *Seat) take(ctx context.Context) (leave func(), err error) {
	s.rung = make(chan struct{}, 1)
	ctx, stop := context.WithCancel(ctx)
	var lock *attend.Lock
	var rung <-chan struct{}
	for lock == nil && s.beside == 0 && err == nil {
		lock, err = s.try(ctx)
	}
	if lock != nil {
		rung, err = s.hold(lock)
	}
	if err != nil {
		stop()
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for lock == nil && ctx.Err() == nil {
			lock, _ = s.try(ctx) // the next try may succeed
			if lock != nil {
				if rung, err = s.hold(lock); err != nil {
					s.Detail("commands cannot wake this process: %v", err)
				}
				s.ring() // what was committed meanwhile
			}
		}
		if lock != nil {
			s.sit(ctx, rung)
			lock.Close() //nolint:errcheck // the process ends
		}
	}()
	return func() { stop(); <-done }, nil
}

// hold notes that this process holds the lock. rung receives when the bell is rung.
func (s *Seat) hold(lock *attend.Lock) (rung <-chan struct{}, err error) {
	self, err := keeper.Self("")
	if err == nil {
		err = lock.Stay(self.PID, self.Born, s.Clock())
	}
	if err == nil {
		rung, err = lock.Listen()
	}
	return rung, err
}

// sit passes rings on until the context ends.
func (s *Seat) sit(ctx context.Context, rung <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-rung:
			s.ring()
		}
	}
}

func (s *Seat) ring() {
	select {
	case s.rung <- struct{}{}:
	default:
	}
}

// try takes the seat if it is free. Otherwise it asks an attendant to leave, and pauses.
func (s *Seat) try(ctx context.Context) (*attend.Lock, error) {
	lock, err := s.Place.Try()
	if lock != nil {
		return lock, err
	}
	is := s.Place.Read()
	lives := is.PID != 0 && is.PID != os.Getpid() && keeper.Lives(is.PID, is.Born)
	switch {
	case !lives:
	case !is.Stays:
		syscall.Kill(is.PID, syscall.SIGTERM) //nolint:errcheck // the process may have ended
		syscall.Kill(is.PID, syscall.SIGCONT) //nolint:errcheck // so that it ends if it is stopped
	case s.beside != is.PID:
		s.beside = is.PID
		s.Note("process %d is the queue runner already: this one works beside it", is.PID)
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(seatEvery):
		return nil, err
	}
}
