package sharefile

import (
	"fmt"

	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer/fairshare"
)

// check finds what a file lacks or says twice, if a plan would not notice.
func (f *File) check() error {
	switch {
	case f.TotalWorkers == nil:
		return f.Errorf(0, "total_workers is missing: expected the number of workers, such as %s", example)
	case len(f.Classes) == 0:
		return f.Errorf(0, "classes is missing or empty: expected a state, such as %s", example)
	case f.Rebalance.ExceededFor < -1:
		return f.Errorf(0, "rebalance.exceeded_for_s is %d: expected seconds, or -1 for never", f.Rebalance.ExceededFor)
	}
	names := make(map[string]bool)
	running := 0
	for i, c := range f.Classes {
		if c.Name == "" {
			return f.Errorf(0, "class %d has no name", i+1)
		}
		if names[c.Name] {
			return f.Errorf(0, "class %s appears twice", text.Quoted(c.Name))
		}
		names[c.Name] = true
		if c.Running < 0 || c.Running > fairshare.MaxCount {
			return f.Errorf(0, "class %s runs %d: expected 0 to %d", text.Quoted(c.Name), c.Running,
				int64(fairshare.MaxCount))
		}
		running += c.Running
	}
	return f.checkWorkers(running)
}

// checkWorkers verifies that the numbers of workers agree: those of the classes, idle ones, and all.
func (f *File) checkWorkers(running int) error {
	if f.RunningWorkers != nil && *f.RunningWorkers < running {
		return f.Errorf(0, "running_workers is %d, but the classes run %d", *f.RunningWorkers, running)
	}
	if f.RunningWorkers != nil {
		running = *f.RunningWorkers
	}
	if idle := f.IdleWorkers; idle != nil && (*idle < 0 || *idle > max(0, *f.TotalWorkers-running)) {
		return f.Errorf(0, "idle_workers is %d, but of %d workers %d are running", *idle, *f.TotalWorkers, running)
	}
	return nil
}

// State returns the file's state at an instant in Unix seconds. Workers that are neither idle nor run
// something for a class are away.
func (f *File) State(now int64) *fairshare.State {
	s := &fairshare.State{TotalWorkers: *f.TotalWorkers, ClassOrder: f.ClassOrder, Now: now,
		Rebalance: fairshare.Rebalance{Threshold: f.Rebalance.Threshold, MinDuration: f.Rebalance.MinDuration}}
	if f.Rebalance.ExceededFor >= 0 {
		s.Timer = fairshare.Timer{Running: true, Since: now - f.Rebalance.ExceededFor}
	}
	running := 0
	for _, c := range f.Classes {
		class := fairshare.Class{Name: c.Name, Load: c.Load, Running: c.Running, Waiting: c.Waiting}
		for _, j := range c.Jobs {
			class.Jobs = append(class.Jobs, fairshare.Job{Running: j.Running, Waiting: j.Waiting})
		}
		s.Classes = append(s.Classes, class)
		running += c.Running
	}
	switch {
	case f.IdleWorkers != nil:
		s.Away = max(0, s.TotalWorkers-running-*f.IdleWorkers)
	case f.RunningWorkers != nil:
		s.Away = max(0, *f.RunningWorkers-running)
	}
	return s
}

// JobID returns the file's name for a job of a class, or the job's index in the class if it has none.
func (f *File) JobID(class, job int) string {
	if id := f.Classes[class].Jobs[job].ID; id != "" {
		return id
	}
	return fmt.Sprintf("#%d", job+1)
}
