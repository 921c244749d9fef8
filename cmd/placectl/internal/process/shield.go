// Package process is the process that a run lives in: signals, what it waits with, and
// whether its answer gets away.
package process

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// A signal that ended a process during its commit would leave the outcome unknown. So from the
// moment that a commit is certain until its answer is written, signals only ask the verb to stop
// after it.

// answerTime is how long writing an answer may take when a signal waits for it: its reader may not
// read on.
const answerTime = time.Second

// Shield keeps signals off a commit and its answer.
type Shield struct {
	interrupt         context.CancelFunc
	signals           chan os.Signal
	committed, passed chan struct{}
}

// Raise keeps signals off from now on. One that comes interrupts the run.
func Raise(interrupt context.CancelFunc) *Shield {
	s := &Shield{interrupt, make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})}
	signal.Notify(s.signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go s.watch()
	return s
}

// watch waits for a signal, and lets it have its effect if it came in time and the
// answer does not get away.
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

// Committed says that the commit is over: what is left is the answer.
func (s *Shield) Committed() { close(s.committed) }

// Drop lets signals have their usual effect again.
func (s *Shield) Drop() {
	signal.Stop(s.signals)
	close(s.passed)
}

// DieBy ends the process as a signal does.
func DieBy(sig syscall.Signal) {
	signal.Reset(sig)
	syscall.Kill(os.Getpid(), sig) //nolint:errcheck // it is followed by an exit
	time.Sleep(time.Second)
	os.Exit(128 + int(sig))
}
