package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// A signal that ends a process during its commit would leave nobody knowing whether it
// was done. So from the moment that a commit is certain until its answer is written,
// signals only ask the verb to stop after it.

// answerTime is how long an answer may take to be written when a signal waits for it:
// whoever reads it may not read on.
const answerTime = time.Second

// shield keeps signals off a commit and its answer.
type shield struct {
	interrupt         context.CancelFunc
	signals           chan os.Signal
	committed, passed chan struct{}
}

// raiseShield keeps signals off from now on.
func (r *runner) raiseShield() *shield {
	s := &shield{r.stop, make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})}
	signal.Notify(s.signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go s.watch()
	return s
}

// watch waits for a signal, and lets it have its effect if it came in time and the
// answer does not get away.
func (s *shield) watch() {
	select {
	case <-s.passed:
	case sig := <-s.signals:
		s.interrupt()
		<-s.committed
		select {
		case <-s.passed:
		case <-time.After(answerTime):
			dieBy(sig.(syscall.Signal))
		}
	}
}

// drop lets signals have their usual effect again.
func (s *shield) drop() {
	signal.Stop(s.signals)
	close(s.passed)
}

// dieBy ends the process as a signal does.
func dieBy(sig syscall.Signal) {
	signal.Reset(sig)
	syscall.Kill(os.Getpid(), sig) //nolint:errcheck // it is followed by an exit
	time.Sleep(time.Second)
	os.Exit(128 + int(sig))
}
