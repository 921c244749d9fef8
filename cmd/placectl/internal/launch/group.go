package launch

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// group runs functions at once. A panic in one of them comes out where they are waited for: in a
// goroutine of its own it would end the process with a status that means something else. The
// zero value has none.
type group struct {
	running sync.WaitGroup
	once    sync.Once
	crash   *Crash
}

// Crash is a panic with the stack of the goroutine that it came from.
type Crash struct {
	Value any
	stack []byte
}

// Stack is where the panic comes from.
func (c *Crash) Stack() []byte { return c.stack }

func (c *Crash) String() string { return fmt.Sprint(c.Value) }

// Go runs a function in a goroutine of its own.
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

// Wait waits until all functions have returned. Where one has panicked it panics, with a
// *Crash.
func (g *group) Wait() {
	g.running.Wait()
	if g.crash != nil {
		panic(g.crash)
	}
}
