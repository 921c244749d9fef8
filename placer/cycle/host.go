package cycle

import (
	"math"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// A Job waits in the queue. Instants are in Unix seconds.
type Job struct {
	ID       uint64 // of jobs of one priority the lower comes first
	Priority int64
	Owner    uint64 // of its stretches on the calendar
	Submit   int64  // since when it waits
	Begin    int64  // it starts no earlier
	Deadline int64  // it ends no later; 0 for none
	Planned  bool
	Start    int64  // of its plan
	Promised int64  // the latest start that it was promised; 0 for none
	Earliest int64  // the earliest start that it had then
	Delayed  bool   // an overdue job is in the way of its plan
	Late     bool   // its plan is off the nodes already, and cannot be had any more
	Placed   bool   // placed at an instant, not queued: it counts for no depth and holds up no queue
	Class    int    // where classes have shares
	Lifts    []bool // of each other class, whether its plans are lifted for this job; nil: those of all are
	kind     *kind  // as pass has found it
	pass     *Pass
	memory   *Memory
	Around   bool // it starts before a job that stands higher and waits
	Never    bool // passes before have found that it can never run
	Beyond   bool // it would go beyond a soft limit: it has its turn after all others

	// Alike is how many jobs are directly behind it in the queue, not listed, that this pass would
	// decide alike: without plans, of its kind and class, and equal to it in all that a Job says.
	Alike int
}

// Renew has a job say what it is in another pass that remembers the one before.
func (j *Job) Renew(is Job) {
	is.kind, is.pass, is.memory = j.kind, j.pass, j.memory
	*j = is
}

// place is where a job stands in the queue.
func (j *Job) place() Place { return Place{j.Priority, j.ID} }

// Place is a place in the queue.
type Place struct {
	Priority int64
	ID       uint64
}

func (p Place) before(o Place) bool {
	return p.Priority > o.Priority || p.Priority == o.Priority && p.ID < o.ID
}

// Spec is how a pass goes about it.
type Spec struct {
	// Depth is how many jobs that do not fit now are planned at most.
	Depth int
	// InOrder lets nobody pass a job that does not fit: first come, first served.
	InOrder bool
	// WidestFirst lets, of the jobs that could start around those that are planned,
	// those that ask for most processors go first, whatever their priority.
	WidestFirst bool
	// Relaxed has plans stand. The first that does not fit is promised a start, Slack times its
	// walltime after its earliest, and planned for that. It is tried in each pass; the others go
	// shortest first.
	Relaxed bool
	Slack   float64
	// Enough is asked between jobs whether the pass has taken long enough; nil: it
	// never has.
	Enough func() bool
	// Spare is at most how many cpus are free now, where requests are kept from one pass to the next:
	// those that ask for more, and nothing but nodes, are not looked for. Nil: that is not known.
	Spare func() (int64, error)
	// Memory is what passes before have found out, and hand on; nil: nothing.
	Memory *Memory
	// Preempter says who makes way for whom; nil: nobody for anybody.
	Preempter Preempter
}

// All is the depth of conservative backfilling: every job is planned.
const All = math.MaxInt

// Host has the jobs and the nodes, and carries out what a pass decides.
type Host interface {
	Requests
	Plans
	Claims
	Jobs
}

// Requests are what jobs ask for, and on what that is decided.
type Requests interface {
	// Kind is equal for jobs whose requests are decided alike.
	Kind(*Job) (string, error)
	// Request reads what a job, and all of its kind, asks for.
	Request(*Job) (*Request, error)
	// Snapshot is the state of the nodes now, as the job's queue sees it.
	Snapshot(*Job) (*placer.Snapshot, error)
}

// Plans are carried out, taken away and put back.
type Plans interface {
	// Take carries a plan out, in place of the one that the job had: it starts, now or
	// at the plan's start. The room of the old plan is others' to use. Of a job that was
	// promised a start before the plan's the host says that this falls.
	Take(*Job, *placer.Ask, *placer.Plan) error
	// Hold takes the room of a plan that starts now for a job, which starts by Begin. Until
	// then it can be lifted and put back as a plan.
	Hold(*Job, *placer.Ask, *placer.Plan) error
	// Begin starts a job whose room is held.
	Begin(*Job) error
	// Drop gives up a lifted start that was held: the job waits as before.
	Drop(*Job) error
	// Lift takes a job's plan off the nodes, for it to be put back or replaced.
	Lift(*Job) error
	// PutBack puts a lifted plan back, and reports false where others have taken its
	// place since it was lifted.
	PutBack(*Job) (bool, error)
	// Withdraw gives a lifted plan up whose place others have taken, or have not given
	// back in time.
	Withdraw(*Job) error
}

// Jobs are told of what concerns them beside plans.
type Jobs interface {
	// Nodes are those of a job's plan.
	Nodes(*Job) []uint32
	// MayStart reports whether a job may start in this pass, if it fits.
	MayStart(*Job) (bool, error)
	// Beyond reports whether a job would go beyond a soft limit if it started now.
	Beyond(*Job) (bool, error)
	// Alike lists the first of the jobs that are behind one and alike.
	Alike(*Job) (*Job, error)
	// Followers are jobs that may have their turn now that a job has started in this pass.
	Followers(*Job) ([]*Job, error)
	// Never is told of a job without a plan that can never run, and why.
	Never(j *Job, why error) error
}

// A Request is what jobs of a kind ask for.
type Request struct {
	placer.Ask
	// Refused is why the request cannot be decided: it is not understood any more.
	Refused error
	// Buckets are those whose nodes the request could use. Where other nodes matter as
	// well, Beyond is true.
	Buckets []*index.Bucket
	Beyond  bool

	comparable bool
	defs       *index.Defs
	cpus       int64 // that it asks for
	each       int64 // that one of its first chunks asks for
	waited     bool  // it did not fit, and can run
}

// NewRequest finds out what a pass needs to know of what is asked for.
func NewRequest(s *placer.Snapshot, a placer.Ask) (*Request, error) {
	r := &Request{Ask: a, defs: s.Index.Defs()}
	r.Buckets, r.Beyond = s.Buckets(a)
	r.comparable = len(s.Rules.GroupKey) == 0 && len(a.Chunks) == 1 && !r.Beyond && len(a.Grants) == 0 && !a.Place.HasGroup &&
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
