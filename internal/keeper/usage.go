package keeper

import (
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
)

// used returns the resources used by the attempt, as its warden or its control group counts them.
func (a *attendance) used() (u engine.ResourceUse) {
	if u = a.use; u == (engine.ResourceUse{}) {
		a.group.use(&u)
	} else {
		u.MemPeak = a.group.peak()
	}
	return u
}

// lookAtMemoryEvery is how often the memory of an attempt is read.
const lookAtMemoryEvery = time.Second

// lookAtMemory ends the attempt if its processes use more memory than it requested.
func (a *attendance) lookAtMemory() {
	var sum int64
	for _, pid := range a.tasks() {
		if s, err := statOf(pid); err == nil {
			sum += s.rss * int64(os.Getpagesize())
		}
	}
	if sum > a.begun.Memory && a.stopped == engine.OutcomeNone && !a.over {
		a.stop(engine.OutcomeOOM, exceeding(a.begun.Memory, sum))
		a.killAt = bootClock() // at once, without grace
	}
}

// exceeding says how much was requested and how much was used.
func exceeding(asked, used int64) string {
	return fmt.Sprintf("it asked for %s of memory and used %s", text.FormatSize(asked), text.FormatSize(used))
}

// trimAfter is how long there must be no turn or cycle before memory is returned, which takes time.
const trimAfter = 2 * time.Second

// trim returns unused memory to the system, unless the memory is that of a program of others.
func (r *Runner) trim() {
	if !r.Guest {
		debug.FreeOSMemory()
	}
}
