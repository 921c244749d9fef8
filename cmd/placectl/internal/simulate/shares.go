package simulate

import (
	"strconv"

	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/backfill/swf"
	"github.com/placectl/placectl/placer/fairshare"
)

// Shares are class shares in a simulation: each job's class, and on how many cpus each class may start
// jobs in a pass. No job is stopped.
type Shares struct {
	by       string // the field with a job's requestor
	settings *fairshare.Settings
	matcher  *fairshare.Matcher
	places   map[string]int
	class    []int // one for each job
}

// requestorColumns are the fields of a log that can be a requestor.
var requestorColumns = map[string]func(swf.Job) int64{
	"user":      func(j swf.Job) int64 { return j.User },
	"group":     func(j swf.Job) int64 { return j.Group },
	"queue":     func(j swf.Job) int64 { return j.Queue },
	"partition": func(j swf.Job) int64 { return j.Partition },
	"program":   func(j swf.Job) int64 { return j.App },
}

// requestorWords are the names of those fields.
var requestorWords = []string{"user", "group", "queue", "partition", "program"}

// CheckRequestor refuses fields of a log that cannot be a requestor.
func CheckRequestor(by string) error {
	if requestorColumns[by] == nil {
		return text.NotOneOf(by, requestorWords)
	}
	return nil
}

// NewShares makes shares from settings. by is the field of the log with a job's requestor.
func NewShares(by string, settings *fairshare.Settings) (*Shares, error) {
	s := &Shares{by: by, settings: settings}
	if err := CheckRequestor(by); err != nil {
		return nil, err
	}
	matcher, err := settings.Matcher()
	if err != nil {
		return nil, err
	}
	s.matcher = matcher
	_, s.places = settings.NewClasses()
	return s, nil
}

// take records the class of the next job. A queue with a name in the log, behind its number, goes by
// that name. Everything else goes by its number.
func (s *Shares) take(rec swf.Job) {
	requestor := strconv.FormatInt(requestorColumns[s.by](rec), 10)
	if n := len(rec.Extra); s.by == "queue" && n >= 2 {
		requestor = rec.Extra[n-2]
	}
	class, _ := s.matcher.Class(requestor)
	s.class = append(s.class, s.places[class])
}

// gate returns the shares for a run.
func (s *Shares) gate(t *Trace) *shareGate {
	classes, _ := s.settings.NewClasses()
	return &shareGate{shares: s, jobs: t.jobs, state: fairshare.State{TotalWorkers: int(t.procs), Classes: classes},
		left: make([]int, len(classes)), due: make([]int, len(classes))}
}

// shareGate lets a class start jobs until its allotment in a pass is used up. It counts cpus.
type shareGate struct {
	shares  *Shares
	jobs    []backfill.Job
	state   fairshare.State
	planner fairshare.Planner
	left    []int // of each class's allotment
	due     []int // entitlements
}

// Count implements backfill.Gate, as do the other methods.
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
		g.left[i], g.due[i] = plan.Classes[i].Start, plan.Classes[i].Entitlement
	}
	return nil
}

func (g *shareGate) Open(job int32) bool { return g.left[g.shares.class[job]] > 0 }

// entitled reports whether a job may start at the expense of others: its class's allotment is not used
// up, or the class is entitled to more than it has.
func (g *shareGate) entitled(job int32) bool {
	at := g.shares.class[job]
	return g.left[at] > 0 || g.due[at]-g.state.Classes[at].Running >= int(g.jobs[job].Procs)
}

// simClass is the result of a class, as JSON shows it.
type simClass struct {
	Class       string  `json:"class"`
	Jobs        int     `json:"jobs"`
	AvgWait     float64 `json:"avg_wait"`
	AvgSlowdown float64 `json:"avg_slowdown"`
	Utilisation float64 `json:"utilisation"` // of the whole machine, until its own last end
}

// classes sums up a run by class.
func (s *Shares) classes(t *Trace, run *Run) []simClass {
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
