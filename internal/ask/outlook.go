package ask

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/placectl/placectl/internal/cluster"
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/shares"
	"github.com/placectl/placectl/placer"
)

// Outlook tells why jobs wait and when they are expected to start, in the present state. A
// planned job has its planned start, and a late one has none. Any other has the earliest start
// that its hold, its begin time, its dependencies, the share of its class and the plans of
// others allow. Jobs without plans may still take nodes first: an outlook does not predict
// their turns.
//
// Jobs with equal requests are examined once, so a long list costs only as much as its
// different requests. An outlook is valid until its transaction writes.
type Outlook struct {
	tx       *kernel.Tx
	requests *requests
	jobs     [2]map[uint64]Prospect // prospects of the jobs asked about last, and of those before
	letting  queue.Letting
	claims   bool              // the last job asked about has a claim of its own
	asked    row.Job           // the last job asked about
	delays   bool              // the setting set_delay is in use: how long a job has waited matters
	shares   *shares.Allotment // nil until needed
	first    *uint64           // the job whose turn is next; nil until needed
	overdue  *bool             // whether a job is overdue; nil until needed
	rival    struct {          // a job that comes before those that were asked about
		Value float64
		ID    uint64
	}
	scans     int // how often such a job was searched for
	arraysDue map[row.Dependency]dueTime
}

// Wait is what a job waits for first.
type Wait string

// What jobs wait for. Programs read these words.
const (
	WaitsNot   Wait = ""            // for nothing: it runs or has ended
	WaitsNever Wait = "never"       // for nothing: it can never run
	WaitsHeld  Wait = "held"        // for the release of its hold
	WaitsJob   Wait = "dependency"  // for other jobs
	WaitsBegin Wait = "begin"       // for its begin time
	WaitsUser  Wait = "unattended"  // for a process of its user
	WaitsClass Wait = "class"       // its class may start nothing more
	WaitsPlan  Wait = "planned"     // for its planned start
	WaitsLate  Wait = "late"        // for a new plan, because it could not start as planned
	WaitsLimit Wait = "limit"       // for others under a limit to finish, whether or not there is room
	WaitsNodes Wait = "unavailable" // for nodes or devices that are out of service
	WaitsRoom  Wait = "room"        // for nodes
	WaitsTurn  Wait = "turn"        // for nothing but a cycle
)

// Prospect tells why a job waits and when it may start.
type Prospect struct {
	Wait           Wait      // "" for a job that neither waits nor has a plan
	Throttled      bool      // the limit is the throttle of its array
	Cause          row.Cause // the cause of its state, for such a job
	Reason         string    // explains its state; "" if there is nothing to say
	Refused        error     // if a refusal explains it: its kind, placer.ErrNever or placer.ErrNotNow
	plan.Opening             // the expected start; zero if unknown. Only WhenJob and ExplainJob set its Plan
	queue.Forecast           // the forecast behind it; zero for a job with planned nodes
	After          time.Time // the job is behind those that were played, and starts later than this; zero if it is not
	// the overdue job that its planned start rests on, which makes it a guess; 0 if there is none
	Guess uint64
}

// Code returns the word for programs: what the job waits for, or the cause of its state.
func (p Prospect) Code() string { return cmp.Or(string(p.Wait), p.Cause.String()) }

// Words returns the reason, after the kind of refusal if there is one.
func (p Prospect) Words() string {
	if p.Refused == nil {
		return p.Reason
	}
	return (&placer.Refusal{Kind: p.Refused, Why: p.Reason}).Error()
}

// explain makes an error, and what follows it, the reason.
func (p *Prospect) explain(err error, more string) {
	p.Reason = placer.Shortage(err) + more
	if r, ok := err.(*placer.Refusal); ok {
		p.Refused = r.Kind
	}
}

// Outlook begins an outlook.
func (ak Ask) Outlook() (*Outlook, error) {
	set, err := ak.tx.Settings()
	if err != nil {
		return nil, err
	}
	l, err := queue.LettingOf(ak.tx)
	if err != nil {
		return nil, err
	}
	o := &Outlook{tx: ak.tx, jobs: [2]map[uint64]Prospect{{}}, letting: l, delays: set.SetDelay != 0}
	o.requests = newRequests(o)
	return o, nil
}

// Prospect tells why a job waits and when it is expected to start.
func (o *Outlook) Prospect(j *kernel.Job) (Prospect, error) {
	if j.State == row.JobRunning || !j.State.Live() {
		return decided(j.State, j.Ending, j.Reason, plan.Opening{Start: j.Start, End: j.End}), nil
	}
	o.asked = j.Row()
	return o.Look(&o.asked)
}

// Keeps tells what keeps a job from its turn, but not when its turn will come. It is much
// faster than Prospect.
func (o *Outlook) Keeps(j *kernel.Job) (Prospect, error) {
	if j.State != row.JobHeld && j.State != row.JobQueued {
		return decided(j.State, j.Ending, j.Reason, plan.Opening{Start: j.Start, End: j.End}), nil
	}
	o.asked = j.Row()
	return o.kept(&o.asked)
}

// decided returns the prospect of a job that is neither held nor queued.
func decided(state row.JobState, ending bool, because row.Reason, runs plan.Opening) Prospect {
	reason := kernel.Why(ending, because.String())
	switch state {
	case row.JobReserved:
		return Prospect{Wait: WaitsPlan, Reason: reason, Opening: runs}
	case row.JobLate:
		return Prospect{Wait: WaitsLate, Reason: reason}
	}
	return Prospect{Cause: because.Cause, Reason: reason}
}

func (o *Outlook) Look(j *row.Job) (p Prospect, err error) {
	if j.State != row.JobHeld && j.State != row.JobQueued {
		p = decided(j.State, j.Ending, j.Reason, plan.Opening{Start: kernel.Instant(j.Start),
			End: kernel.Instant(j.End)})
		if err = o.guess(j, &p); err != nil {
			return p, err
		}
		return p, o.sooner(j, &p)
	}
	for _, asked := range o.jobs {
		if p, known := asked[j.ID]; known {
			return p, nil
		}
	}
	claims, err := o.tx.Counters().Rules.Claims()
	if err != nil {
		return p, err
	}
	o.claims = claims[j.ID] != nil
	err = o.tx.Counters().Rules.Unclaimed(j.ID, func() error {
		if p, err = o.kept(j); err != nil {
			return err
		}
		if p.Wait != WaitsNever && p.Wait != WaitsHeld {
			return o.expect(j, &p)
		}
		return nil
	})
	if err == nil {
		o.remember(j.ID, p)
	}
	return p, err
}

// remembered is the number of cached prospects; as many older ones are kept. Jobs mostly
// depend on jobs with nearby numbers, and a list may have any length.
const remembered = 1 << 13

func (o *Outlook) remember(id uint64, p Prospect) {
	if len(o.jobs[0]) == remembered {
		o.jobs = [2]map[uint64]Prospect{make(map[uint64]Prospect, remembered), o.jobs[0]}
	}
	o.jobs[0][id] = p
}

// kept tells what keeps a job without a plan from its turn. Wait is empty if nothing does.
func (o *Outlook) kept(j *row.Job) (Prospect, error) {
	w, err := o.requests.find(j)
	if err != nil {
		return Prospect{}, err
	}
	held := j.State == row.JobHeld
	switch {
	case w.never != nil:
		p, hold := Prospect{Wait: WaitsNever}, ""
		if why := j.Reason.String(); held && why != "" {
			hold = "; held: " + why
		}
		p.explain(w.never, hold)
		return p, nil
	case held:
		return Prospect{Wait: WaitsHeld, Reason: j.Reason.String()}, nil
	}
	waitsFor, err := jobs.Ready(o.tx, j)
	switch {
	case errors.Is(err, kernel.ErrUnmet):
		return Prospect{Wait: WaitsNever, Reason: err.Error()}, nil
	case err != nil:
		return Prospect{}, err
	case waitsFor != "":
		return Prospect{Wait: WaitsJob, Reason: waitsFor}, nil
	case j.Begin > o.tx.Now:
		return Prospect{Wait: WaitsBegin, Reason: "is to begin at " + kernel.Stamp(j.Begin)}, nil
	}
	absent, err := queue.Unattended(o.tx, j)
	if err != nil {
		return Prospect{}, err
	}
	if absent != "" {
		return Prospect{Wait: WaitsUser, Reason: absent}, nil
	}
	if w.absent != nil {
		p := Prospect{Wait: WaitsNodes}
		p.explain(w.absent, "")
		return p, nil
	}
	limit, throttled, err := o.limited(j) // shares do not count a job that a limit holds back
	if err != nil {
		return Prospect{}, err
	}
	if limit != "" {
		return Prospect{Wait: WaitsLimit, Throttled: throttled, Reason: limit}, nil
	}
	class, err := o.capped(j)
	switch {
	case err != nil || class == "":
		return Prospect{}, err
	case j.Reason != (row.Reason{}): // for example, stopped for another class
		return Prospect{Wait: WaitsClass, Reason: j.Reason.String()}, nil
	}
	return Prospect{Wait: WaitsClass, Reason: "class " + class + " may start nothing more now"}, nil
}

// expect finds the start of a job that is not held and can run.
func (o *Outlook) expect(j *row.Job, p *Prospect) error {
	fs, err := queue.CycleOf(o.tx).Forecasts()
	if err != nil || p.Wait == WaitsUser {
		return err
	}
	if due, err := o.allDue(j, p); !due || err != nil {
		return err
	}
	known := false
	if fs != nil {
		if p.Forecast, known = fs.Of(j.ID); known {
			start := max(kernel.Unix(p.Likely), o.tx.Now, j.Begin)
			p.Start, p.End = kernel.Instant(start), kernel.Instant(start+j.Walltime)
		} else if fs.IsBehind(j.ID) {
			p.After = fs.After
		}
	}
	if p.Wait != "" {
		return nil
	}
	short, err := o.requests.short(j)
	if err != nil {
		return err
	}
	late := j.Deadline != 0 && o.tx.Now+j.Walltime > j.Deadline
	if p.Wait = WaitsTurn; known && kernel.Unix(p.Start) > o.tx.Now || !known && (short != nil || late) {
		p.Wait = WaitsRoom
	}
	if p.Reason = j.Reason.String(); p.Reason != "" {
		return nil
	}
	switch {
	case late, !known && j.Deadline != 0 && fs != nil && p.After.IsZero():
		p.Reason = "it would not end by its deadline, " + kernel.Stamp(j.Deadline)
	case j.ID >= o.tx.State.Looked || j.Never: // no cycle has examined it yet
	case p.Wait == WaitsRoom && short == nil:
		p.Reason = "jobs before it come first"
	case short != nil:
		p.explain(short, "")
	}
	return nil
}

// placed finds the nodes that a job could have at its expected start, as far as they are planned
// now.
func (o *Outlook) placed(j *row.Job, p *Prospect) error {
	if p.Start.IsZero() || j.State == row.JobReserved {
		return nil
	}
	for _, after := range [...]int64{max(o.tx.Now, j.Begin), kernel.Unix(p.Start)} {
		plan, _, err := o.requests.earliest(j, after)
		if err != nil {
			return err
		}
		if plan != nil && plan.Start == kernel.Unix(p.Start) {
			p.Plan = plan
			return nil
		}
	}
	return nil
}

// capped returns a job's class if that may start nothing more now while other classes may,
// else "".
func (o *Outlook) capped(j *row.Job) (string, error) {
	if o.shares == nil {
		a, err := cluster.AllottedShares(o.tx)
		if err != nil {
			return "", err
		}
		o.shares = a
	}
	if !slices.ContainsFunc(o.shares.Left, func(units int) bool { return units > 0 }) {
		return "", nil // all classes wait for room
	}
	at, err := o.shares.Place(j)
	if err != nil || o.shares.Left[at] > 0 {
		return "", err
	}
	return o.shares.State.Classes[at].Name, nil
}

// limited returns the rule that keeps a job from starting now, or "".
func (o *Outlook) limited(j *row.Job) (text string, throttled bool, err error) {
	w, err := o.requests.find(j)
	if err != nil || len(w.ask.Demands) == 0 {
		return "", false, err
	}
	if d := w.ask.Demands.Short(o.tx.Now, w.ask.Duration, true); d != nil {
		return d.Text(o.tx.Now, w.ask.Duration), d.Own, nil
	}
	return "", false, nil
}

// kind returns a key that is equal for jobs with equal requests.
func (o *Outlook) kind(j *row.Job) (string, error) {
	apart, err := queue.TellsApart(o.tx, j, o.letting)
	key := queue.RequestKind(j, apart)
	if o.claims {
		key += "claims" + strconv.FormatUint(j.ID, 10)
	}
	if o.delays {
		key += strconv.FormatInt(j.Submit, 10)
	}
	return key, err
}
