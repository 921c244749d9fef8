package replica

import (
	"runtime"
	"sync/atomic"
	"time"
)

// A writer whose turn has come keeps all others waiting. If the disk of its machine hangs, its
// thread is stuck, while other goroutines of the process continue. So the writer stays on one
// thread, and keeps its place only while that thread uses processor time or a call to the log
// is under way. Such a call has a timeout.

// beatEvery is the interval at which a writer whose turn it is must have worked.
const beatEvery = 3 * time.Second

// pulse reports whether a writer works.
type pulse struct {
	thread  int
	used    atomic.Int64  // processor time, in nanoseconds, at the last call of beats
	calls   atomic.Int32  // number of calls to the log under way
	heedful bool          // used is valid: the thread's clock can be read
	over    chan struct{} // closed when the turn that is guarded is over; nil if there is none
}

// feel binds the calling goroutine to its thread until it calls end.
func feel() *pulse {
	runtime.LockOSThread()
	p := &pulse{thread: threadID()}
	used, err := p.time()
	p.used.Store(used)
	p.heedful = err == nil
	return p
}

// end ends the pulse. A writer that was never in the line has none.
func (p *pulse) end() {
	if p != nil {
		p.rest()
		runtime.UnlockOSThread()
	}
}

// rest ends the guard of a turn.
func (p *pulse) rest() {
	if p.over != nil {
		close(p.over)
		p.over = nil
	}
}

// guard gives up a turn when its owner no longer works, because all others wait.
func (p *pulse) guard(turn Turn, every time.Duration) {
	p.rest()
	over := make(chan struct{})
	p.over = over
	go func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				if !p.beats() {
					turn.Leave()
					return
				}
			}
		}
	}()
}

// calling runs a function that calls the log. A writer outside the line has no pulse.
func (p *pulse) calling(do func() error) error {
	if p != nil {
		p.calls.Add(1)
		defer p.calls.Add(-1)
	}
	return do()
}

// littleWork is less processor time than a thread uses between two checks, even if it reads
// only a few rows.
const littleWork = 100 * time.Microsecond

// beats reports whether the writer has worked since beats was called last.
func (p *pulse) beats() bool {
	if p.calls.Load() > 0 || !p.heedful {
		return true
	}
	used, err := p.time()
	return err != nil || used-p.used.Swap(used) >= int64(littleWork)
}
