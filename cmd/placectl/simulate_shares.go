package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/backfill/swf"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// simShares are class shares in a simulation: which class each job is in, and how
// many cpus each class may start on in a pass. Nobody is stopped.
type simShares struct {
	by       string // the column that says who a job's requestor is
	settings *fairshare.Settings
	matcher  *fairshare.Matcher
	places   map[string]int
	class    []int // of each job
}

// requestorColumns are the fields of a log that can be a requestor.
var requestorColumns = map[string]func(swf.Job) int64{
	"user":      func(j swf.Job) int64 { return j.User },
	"group":     func(j swf.Job) int64 { return j.Group },
	"queue":     func(j swf.Job) int64 { return j.Queue },
	"partition": func(j swf.Job) int64 { return j.Partition },
	"program":   func(j swf.Job) int64 { return j.App },
}

var requestorWords = []string{"user", "group", "queue", "partition", "program"}

// readShares reads the flags that are about class shares: the settings are those of
// the command line, else those of the database.
func (r *runner) readShares(c *cli.Context, o *simulateOptions) error {
	if !c.IsSet("shares") {
		if c.IsSet("class") || c.IsSet("class-map") {
			return usagef("--class and --class-map are for --shares, which says what a job's requestor is")
		}
		return nil
	}
	s := &simShares{by: c.String("shares"), settings: new(fairshare.Settings)}
	switch {
	case requestorColumns[s.by] == nil:
		return usagef("--shares: %w", spell.NotOneOf(s.by, requestorWords))
	case slices.Contains(o.policies, backfill.Conservative):
		return usagef("--shares goes with fcfs and easy; conservative promises every job a start, which shares would take back")
	}
	if !c.IsSet("class") {
		if err := r.view(func(tx *store.Tx) (err error) { s.settings, err = tx.Shares(); return err }); err != nil {
			return err
		}
		if len(s.settings.Loads) == 0 {
			return usagef("--shares: %s has no classes; name them with --class NAME=LOAD", r.DB)
		}
	}
	if err := s.add(c); err != nil {
		return usagef("%w", err)
	}
	matcher, err := s.settings.Matcher()
	if err != nil {
		return usagef("%w", err)
	}
	s.matcher = matcher
	_, s.places = s.settings.NewClasses()
	o.shares = s
	return nil
}

// add reads the classes and mappings of the command line.
func (s *simShares) add(c *cli.Context) error {
	loads, err := classPairs(c.StringSlice("class"), "LOAD")
	if err != nil {
		return fmt.Errorf("--class: %w", err)
	}
	for _, p := range loads {
		load, err := parseClassLoad(p)
		if err != nil {
			return fmt.Errorf("--class: %w", err)
		}
		s.settings.Loads = append(s.settings.Loads, load)
	}
	mappings, err := classPairs(c.StringSlice("class-map"), "REGEXP")
	if err != nil {
		return fmt.Errorf("--class-map: %w", err)
	}
	for _, p := range mappings {
		s.settings.Map = append(s.settings.Map, fairshare.Mapping{Class: p.class, Requestor: p.value})
	}
	return nil
}

// take notes which class the next job is in. A queue that the log names, behind its
// numbers, goes by that name; everything else is its number.
func (s *simShares) take(rec swf.Job) {
	requestor := strconv.FormatInt(requestorColumns[s.by](rec), 10)
	if n := len(rec.Extra); s.by == "queue" && n >= 2 {
		requestor = rec.Extra[n-2]
	}
	class, _ := s.matcher.Class(requestor)
	s.class = append(s.class, s.places[class])
}

// gate is the shares of a run.
func (s *simShares) gate(t *trace) *shareGate {
	classes, _ := s.settings.NewClasses()
	return &shareGate{shares: s, jobs: t.jobs, state: fairshare.State{TotalWorkers: int(t.procs), Classes: classes}, left: make([]int, len(classes))}
}

// shareGate lets a class start jobs while what it is allotted in a pass is not used
// up. It counts cpus.
type shareGate struct {
	shares  *simShares
	jobs    []backfill.Job
	state   fairshare.State
	planner fairshare.Planner
	left    []int // of what each class is allotted
}

// Count makes it a backfill.Gate, as the others.
func (g *shareGate) Count(job int32, waiting, running int) {
	at, cpus := g.shares.class[job], int(g.jobs[job].Procs)
	c := &g.state.Classes[at]
	c.Waiting += waiting * cpus
	c.Running += running * cpus
	if running > 0 {
		g.left[at] -= cpus
	}
}

func (g *shareGate) Pass() error {
	plan, err := g.planner.Plan(&g.state)
	if err != nil {
		return err
	}
	for i := range plan.Classes {
		g.left[i] = plan.Classes[i].Start
	}
	return nil
}

func (g *shareGate) Open(job int32) bool { return g.left[g.shares.class[job]] > 0 }

// simClass is what came of a class, as JSON shows it.
type simClass struct {
	Class       string  `json:"class"`
	Jobs        int     `json:"jobs"`
	AvgWait     float64 `json:"avg_wait"`
	AvgSlowdown float64 `json:"avg_slowdown"`
	Utilisation float64 `json:"utilisation"` // of the whole machine, until its own last end
}

// classes sums a run up by class.
func (s *simShares) classes(t *trace, run *simulated) []simClass {
	out := make([]simClass, len(s.settings.Loads))
	for at := range out {
		var jobs []backfill.Job
		var starts []int64
		for i, class := range s.class {
			if class == at {
				jobs, starts = append(jobs, t.jobs[i]), append(starts, run.starts[i])
			}
		}
		sum := backfill.Summarise(t.procs, jobs, starts)
		out[at] = simClass{s.settings.Loads[at].Class, sum.Jobs, sum.AvgWait, sum.AvgSlowdown, sum.Utilisation}
	}
	return out
}
