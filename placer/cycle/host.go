package cycle

import (
	"math"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// A Job waits in the queue. Instants are in Unix seconds.
type Job struct {
	ID       uint64 // among jobs of equal priority the lower number comes first
	Priority int64
	Owner    uint64 // its owner number on the calendar
	Submit   int64  // when it was submitted
	Begin    int64  // earliest start
	Deadline int64  // latest end; 0 for none
	Planned  bool
	Start    int64  // of its plan
	Promised int64  // latest promised start; 0 for none
	Earliest int64  // its earliest start when that was promised
	Delayed  bool   // an overdue job is in the way of its plan
	Late     bool   // its plan is off the nodes already and cannot be kept
	Placed   bool   // placed at an instant, not queued: it does not count toward the depth and blocks no queue
	Class    int    // if classes have shares
	Lifts    []bool // by class: its plans are lifted for this job; nil: all plans are
	kind     *kind  // as found by pass
	pass     *Pass
	memory   *Memory
	Around   bool // it starts before a waiting job of higher order
	Never    bool // an earlier pass has found that it can never run
	Beyond   bool // it would exceed a soft limit: its turn comes after all others

	// Alike is the number of equal jobs directly after it in the queue that are not listed: without
	// plans, of its kind and class, and with the same fields.
	Alike int
}

// Renew resets a job for another pass with the memory of the last one.
func (j *Job) Renew(is Job) {
	is.kind, is.pass, is.memory = j.kind, j.pass, j.memory
	*j = is
}

// place returns a job's place in the queue.
func (j *Job) place() Place { return Place{j.Priority, j.ID} }

// Place is a place in the queue.
type Place struct {
	Priority int64
	ID       uint64
}

func (p Place) before(o Place) bool {
	return p.Priority > o.Priority || p.Priority == o.Priority && p.ID < o.ID
}

// Spec configures a pass.
type Spec struct {
	// Depth is the most jobs that do not fit now and get a plan.
	Depth int
	// InOrder is first come, first served: no job passes one that does not fit.
	InOrder bool
	// WidestFirst lets the jobs with the most processors go first among those that could start
	// around the planned ones, whatever their priority.
	WidestFirst bool
	// Relaxed keeps plans where they are. The first job that does not fit is promised a start,
	// Slack times its walltime after its earliest, and planned for that. Each pass tries it first;
	// the others go shortest first.
	Relaxed bool
	Slack   float64
	// Enough is called between jobs, and ends the pass if it returns true; nil for no limit.
	Enough func() bool
	// Spare is an upper bound of the cpus that are free now, for passes with a memory:
	// requests for more cpus, and nothing but nodes, are refused without a search. It is nil
	// if unknown.
	Spare func() (int64, error)
	// Memory holds the findings of earlier passes; nil for none.
	Memory *Memory
	// Preempter says which jobs can be preempted; nil for none.
	Preempter Preempter
}

// All is the depth of conservative backfilling: every job is planned.
const All = math.MaxInt

// Host owns the jobs and the nodes, and carries out what a pass decides.
type Host interface {
	Requests
	Plans
	Claims
	Jobs
}

// Requests gives a pass what jobs ask for, and the state of the nodes.
type Requests interface {
	// Kind is the same for jobs whose requests get the same decision.
	Kind(*Job) (string, error)
	// Request reads what a job, and all of its kind, asks for.
	Request(*Job) (*Request, error)
	// Snapshot returns the state of the nodes now, as the job's queue sees it.
	Snapshot(*Job) (*placer.Snapshot, error)
}

// Plans carries plans out, takes them away and puts them back.
type Plans interface {
	// Take carries out a plan, which replaces the job's old one: the job starts now, or at the
	// plan's start. The room of the old plan is free. If the plan starts after the promised
	// start, the host reports the broken promise.
	Take(*Job, *placer.Ask, *placer.Plan) error
	// Hold takes the room of a plan that starts now. The job starts with Begin; until then it can
	// be lifted and put back like a plan.
	Hold(*Job, *placer.Ask, *placer.Plan) error
	// Begin starts a job whose room is held.
	Begin(*Job) error
	// Drop gives up a lifted start that was held: the job waits as before.
	Drop(*Job) error
	// Lift takes a job's plan off the nodes, to put it back or replace it.
	Lift(*Job) error
	// PutBack puts a lifted plan back, and reports false if its place has been taken since.
	PutBack(*Job) (bool, error)
	// Withdraw gives up a lifted plan whose place has been taken, or was not given back in time.
	Withdraw(*Job) error
}

// Jobs is the part of a host about jobs, apart from their plans.
type Jobs interface {
	// Nodes returns the nodes of a job's plan.
	Nodes(*Job) []uint32
	// MayStart reports whether a job may start in this pass, if it fits.
	MayStart(*Job) (bool, error)
	// Beyond reports whether a job would go beyond a soft limit if it started now.
	Beyond(*Job) (bool, error)
	// Alike lists the first of the equal jobs after one.
	Alike(*Job) (*Job, error)
	// Followers returns the jobs that may have a turn because a job has started in this pass.
	Followers(*Job) ([]*Job, error)
	// Never reports a job without a plan that can never run, or only once nodes are back in service
	// (placer.ErrAbsent), and why.
	Never(j *Job, why error) error
}

// A Request is what jobs of a kind ask for.
type Request struct {
	placer.Ask
	// Refused says why the request has become invalid.
	Refused error
	// Buckets have the nodes that the request could use. Beyond is true if other nodes matter,
	// too.
	Buckets []*index.Bucket
	Beyond  bool

	comparable bool
	defs       *index.Defs
	cpus       int64 // the cpus asked for
	each       int64 // the cpus of each of its first chunks
	waited     bool  // it did not fit, and can run
}

// NewRequest prepares a request for a pass.
func NewRequest(s *placer.Snapshot, a placer.Ask) (*Request, error) {
	r := &Request{Ask: a, defs: s.Index.Defs()}
	r.Buckets, r.Beyond = s.Buckets(a)
	r.comparable = len(s.Rules.GroupKey) == 0 && len(a.Chunks) == 1 && !r.Beyond && len(a.Grants) == 0 &&
		!a.Place.HasGroup &&
		a.Place.Arrange != placer.Pack && a.Policy != placer.Contiguous && a.Demands.Comparable()
	for _, w := range a.Totals(r.defs) {
		if w.Res == index.NCPUs {
			r.cpus = w.Value.Num
		}
	}
	if len(a.Chunks) > 0 {
		for _, w := range a.Chunks[0].Wants {
			if w.Res == index.NCPUs {
				r.each = w.Value.Num
			}
		}
	}
	return r, s.Index.Err()
}
