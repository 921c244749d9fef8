package launch

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// group runs functions concurrently. If one of them panics, Wait panics: in its own goroutine the
// panic would end the process with a status that means something else. The zero value is ready to use.
type group struct {
	running sync.WaitGroup
	once    sync.Once
	crash   *Crash
}

// Crash is a panic with the stack of the goroutine in which it occurred.
type Crash struct {
	Value any
	stack []byte
}

// Stack returns the stack of the panic.
func (c *Crash) Stack() []byte { return c.stack }

func (c *Crash) String() string { return fmt.Sprint(c.Value) }

// Go runs fn in a goroutine of its own.
func (g *group) Go(fn func()) {
	g.running.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				g.once.Do(func() { g.crash = &Crash{p, debug.Stack()} })
			}
		}()
		fn()
	})
}

// Wait waits until all functions have returned. If one has panicked, Wait panics with a *Crash.
func (g *group) Wait() {
	g.running.Wait()
	if g.crash != nil {
		panic(g.crash)
	}
}
