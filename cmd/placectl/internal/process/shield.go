// Package process handles the process of a run: signals, the runtime's poller, and whether the answer
// could be written.
package process

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// A signal that ends a process during its commit would leave the outcome unknown. So from the moment
// that a commit is certain until its answer is written, signals only ask the verb to stop afterwards.

// answerTime bounds how long writing an answer may take once a signal has come, because its reader may
// have stopped reading.
const answerTime = time.Second

// Shield protects a commit and its answer from signals.
type Shield struct {
	interrupt         context.CancelFunc
	signals           chan os.Signal
	committed, passed chan struct{}
}

// Raise starts the protection. A signal now interrupts the run.
func Raise(interrupt context.CancelFunc) *Shield {
	s := &Shield{interrupt, make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})}
	signal.Notify(s.signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go s.watch()
	return s
}

// watch waits for a signal. It ends the process by it if the answer is not written in time after the
// commit.
func (s *Shield) watch() {
	select {
	case <-s.passed:
	case sig := <-s.signals:
		s.interrupt()
		<-s.committed
		select {
		case <-s.passed:
		case <-time.After(answerTime):
			DieBy(sig.(syscall.Signal))
		}
	}
}

// Committed says that the commit is over, so that only the answer is left.
func (s *Shield) Committed() { close(s.committed) }

// Drop ends the protection.
func (s *Shield) Drop() {
	signal.Stop(s.signals)
	close(s.passed)
}

// DieBy ends the process as a signal would.
func DieBy(sig syscall.Signal) {
	signal.Reset(sig)
	syscall.Kill(os.Getpid(), sig) //nolint:errcheck // an exit follows
	time.Sleep(time.Second)
	os.Exit(128 + int(sig))
}
