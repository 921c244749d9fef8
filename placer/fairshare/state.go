package fairshare

import "fmt"

// Limits of a State. Below them every product in this package fits an int64, except those of two
// unbounded factors. mulDiv computes these in 128 bits.
const (
	MaxCount   = 1 << 40 // workers; tasks running or waiting in a class or a job; a load
	MaxClasses = 1 << 12 // bounds the rounds, which are quadratic at worst
)

// A State is the input of a plan.
type State struct {
	// TotalWorkers counts all workers. Percentages are of these.
	TotalWorkers int
	// Away counts workers that are neither idle nor run a task of a class: those that are down or used
	// for something else. All other workers without a task are idle. Classes may run more than there are
	// workers.
	Away int

	// Classes may be in any order. A plan has the same order.
	Classes []Class
	// ClassOrder breaks ties between classes of equal load: the classes in it come first, in this order.
	// nil: by name.
	ClassOrder []string

	Rebalance Rebalance
	Timer     Timer // of the plan before; the zero Timer is not running
	Now       int64 // seconds; used only if Rebalance is on
}

// A Class is jobs that share a load.
type Class struct {
	Name    string
	Load    int // the class's share, relative to the other classes' loads; 0: only what the others leave
	Running int // tasks running
	Waiting int // tasks waiting
	// Jobs, in the order of their submission, are used to decide which of them start tasks. Their
	// waiting tasks must add up to Waiting; you may omit jobs without waiting tasks.
	Jobs []Job
	// Tasks are running tasks, in any order, used to decide which of them stop. You may pass any
	// part of them.
	Tasks []Task
}

// A Job is tasks that are equal to its class.
type Job struct {
	Running int
	Waiting int
}

func (s *State) check() error {
	switch {
	case !counts(s.TotalWorkers) || !counts(s.Away):
		return &StateError{Why: fmt.Sprintf("%d workers, %d away: expected 0 to %d", s.TotalWorkers, s.Away,
			int64(MaxCount))}
	case len(s.Classes) > MaxClasses:
		return &StateError{Why: fmt.Sprintf("%d classes: expected at most %d", len(s.Classes), MaxClasses)}
	case s.Rebalance.check() != "":
		return &StateError{Why: s.Rebalance.check()}
	}
	loaded := len(s.Classes) == 0
	for i := range s.Classes {
		c := &s.Classes[i]
		if why := c.check(); why != "" {
			return &StateError{Class: c.Name, Why: why}
		}
		loaded = loaded || c.Load > 0
	}
	if !loaded {
		return &StateError{Why: "no class has a load: expected at least one above 0"}
	}
	return nil
}

// check says what is impossible about a class, or "" if nothing is.
func (c *Class) check() string {
	if !counts(c.Load) || !counts(c.Running) || !counts(c.Waiting) {
		return fmt.Sprintf("load %d, %d running, %d waiting: expected 0 to %d", c.Load, c.Running, c.Waiting,
			int64(MaxCount))
	}
	if len(c.Jobs) == 0 {
		return ""
	}
	left := c.Waiting
	for i := range c.Jobs {
		j := &c.Jobs[i]
		if !counts(j.Running) || j.Waiting < 0 {
			return fmt.Sprintf("job %d: %d running, %d waiting: expected 0 to %d", i+1, j.Running, j.Waiting,
				int64(MaxCount))
		}
		if j.Waiting > left {
			return fmt.Sprintf("more than the class's %d tasks wait in its jobs", c.Waiting)
		}
		left -= j.Waiting
	}
	if left > 0 {
		return fmt.Sprintf("%d of %d waiting tasks are in no job", left, c.Waiting)
	}
	return ""
}

func counts(n int) bool { return n >= 0 && int64(n) <= MaxCount }

// idle counts the workers that could start a task.
func (s *State) idle() int64 {
	idle := int64(s.TotalWorkers) - int64(s.Away)
	for i := range s.Classes {
		idle -= int64(s.Classes[i].Running)
	}
	return max(0, idle)
}
