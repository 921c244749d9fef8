package jobs

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/access"
	"github.com/placectl/placectl/store/internal/booking"
	"github.com/placectl/placectl/store/internal/kernel"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/usage"
)

// Submission is a job, or an array of jobs, for the queue.
type Submission struct {
	placer.Request
	Priority  int64     // the greater, the earlier
	Array     int       // so many equal jobs that differ by their index; 0 for one job
	Indexes   []int     // in place of Array: the index of each job, ascending
	Throttle  int       // of an array: at most so many of its jobs run at once; 0: any number
	Begin     time.Time // no start before; zero: whenever
	Deadline  time.Time // no end after; zero: whenever
	After     []kernel.Dependency
	AfterCorr []uint64 // arrays: each job waits until the one of the same index has ended well
	Hold      bool
	Reason    string    // why it is held
	NoRequeue bool      // not queued again when it is stopped for another class
	Each      []Element // instead of Array: what each of its jobs executes
	Comment   string    // a word of the submitter
	Attended  bool      // the submitter waits for the start and launches it himself
	Command   []string
	Payload   *kernel.Payload // script, environment and so on, or nil
	Sign      Signer          // signs the job; nil: it stays unsigned
	Notes     []string        // notes for the submitter: events of the job, or of the array's first

	retryOf []uint64 // the job that each one does once more
}

// count returns the number of jobs.
func (s *Submission) count() int { return max(1, s.Array, len(s.Indexes), len(s.Each)) }

// isArray reports whether the submission is an array, which may have a single job.
func (s *Submission) isArray() bool { return s.Array > 0 || len(s.Indexes) > 0 || len(s.Each) > 0 }

// index returns the index of the i-th job.
func (s *Submission) index(i int) int {
	if len(s.Indexes) > 0 {
		return s.Indexes[i]
	}
	return i
}

// Element is the part of an array's job that differs from the others.
type Element struct {
	Command []string
	Line    string // the line that it is for, "" for none
}

// Limits of arrays in a submission.
const (
	MaxArray = 100_000
	MaxIndex = 1_000_000_000
)

// Submit puts a job, or the jobs of an array, into the queue. The jobs of an array have consecutive
// numbers. It fails with ErrNotFound if a job that they depend on does not exist. A job that can
// never run, as the cluster is, still waits, marked Never.
func (js Jobs) Submit(s Submission) ([]*kernel.Job, error) {
	return kernel.JobsResult(submit(js.tx, s))
}

func submit(tx *kernel.Tx, s Submission) ([]*row.Job, error) {
	if !tx.Writable() {
		return nil, kernel.ErrReadOnly
	}
	if err := mayRank(tx, s.Priority); err != nil {
		return nil, err
	}
	j, never, err := submitted(tx, s)
	if err != nil {
		return nil, err
	}
	begins := Step{To: row.JobQueued}
	if s.Hold {
		begins = Step{To: row.JobHeld, Reason: tx.Wish(s.Reason)}
	}
	list := make([]*row.Job, s.count())
	after, err := corresponding(tx, j, s)
	if err != nil {
		return nil, err
	}
	if j.Payload, err = carry(tx, s.Payload, len(list)); err != nil {
		return nil, tx.Spoil(err)
	}
	signing := signing(tx, s.Sign)
	for i := range list {
		one := *j
		one.ID = tx.State.NextJob
		if s.isArray() {
			one.Array, one.Index = one.ID-uint64(i), s.index(i)
		}
		if after != nil {
			one.After = after[i]
		}
		if len(s.Each) > 0 {
			one.Command, one.Line = s.Each[i].Command, s.Each[i].Line
		}
		if len(s.retryOf) > 0 {
			one.RetryOf = s.retryOf[i]
		}
		tx.State.NextJob++
		if err := signing(&one); err != nil {
			return nil, tx.Spoil(err)
		}
		if err := MachineOf(tx).Do(&one, begins); err != nil {
			return nil, err
		}
		if never != "" {
			if err := NeverRuns(tx, &one, never); err != nil {
				return nil, tx.Spoil(err)
			}
		}
		list[i] = &one
	}
	if err := noted(tx, list[0], s.Notes); err != nil {
		return nil, tx.Spoil(err)
	}
	if s.Throttle > 0 {
		return list, tx.Spoil(Throttle(tx, list[0].ID, int64(s.Throttle), nil))
	}
	return list, nil
}

// mayRank fails with ErrNotPermitted for a priority that only operators may give.
func mayRank(tx *kernel.Tx, priority int64) error {
	set, err := tx.Settings()
	if err != nil || priority >= set.PriorityMin && priority <= set.PriorityMax {
		return err
	}
	return access.RolesOf(tx).Permit(access.Operators, fmt.Sprintf("a priority of %d, outside %d to %d (the settings priority_min and priority_max)", priority, set.PriorityMin, set.PriorityMax))
}

// noted records notes that the job's owner should see.
func noted(tx *kernel.Tx, j *row.Job, notes []string) error {
	for _, note := range notes {
		if err := tx.Happened(row.Event{Job: j.ID, Event: "note", Old: j.State.String(), New: j.State.String(), Reason: row.Because(row.CauseNone, note)}); err != nil {
			return err
		}
	}
	return nil
}

// ascending reports whether indexes are valid and ascend without repeats.
func ascending(indexes []int) bool {
	last := -1
	for _, i := range indexes {
		if i <= last || i > MaxIndex {
			return false
		}
		last = i
	}
	return true
}

// submitted makes and verifies the job of a submission. never says why it can never run, "" if it
// can.
func submitted(tx *kernel.Tx, s Submission) (j *row.Job, never string, err error) {
	a, err := booking.AskingOf(tx, s.Request).Read()
	if err != nil {
		return nil, "", err
	}
	if err := access.RolesOf(tx).Asks(s.Request); err != nil {
		return nil, "", err
	}
	begin, deadline := kernel.Unix(s.Begin), kernel.Unix(s.Deadline)
	switch {
	case s.Array < 0 || s.Array > MaxArray:
		return nil, "", fmt.Errorf("%w: an array of %d jobs; it must be from 1 to %d", kernel.ErrInvalid, s.Array, MaxArray)
	case s.Array > 0 && len(s.Indexes) > 0, len(s.Indexes) > MaxArray, !ascending(s.Indexes):
		return nil, "", fmt.Errorf("%w: the indexes of an array, in place of their number: at most %d, ascending, from 0 to %d", kernel.ErrInvalid, MaxArray, MaxIndex)
	case s.Array > 0 && len(s.Each) > 0, len(s.Each) > MaxArray, len(s.Each) > 0 && len(s.Indexes) > 0 && len(s.Each) != len(s.Indexes):
		return nil, "", fmt.Errorf("%w: what each job of an array executes, in place of its size: at most %d", kernel.ErrInvalid, MaxArray)
	case s.Throttle < 0 || s.Throttle > MaxArray:
		return nil, "", fmt.Errorf("%w: %d jobs of an array at once; it must be from 1 to %d", kernel.ErrInvalid, s.Throttle, MaxArray)
	case s.Throttle > 0 && !s.isArray():
		return nil, "", fmt.Errorf("%w: at most %d jobs at once, and it is one job: that is for arrays", kernel.ErrInvalid, s.Throttle)
	case s.Priority < -kernel.MaxPriority || s.Priority > kernel.MaxPriority:
		return nil, "", badPriority(s.Priority)
	case deadline != 0 && deadline < max(begin, tx.Now)+a.Duration:
		return nil, "", fmt.Errorf("%w: it cannot end by its deadline, %s: its walltime is %d s, and it starts at %s at the earliest", kernel.ErrInvalid,
			kernel.Stamp(deadline), a.Duration, kernel.Stamp(max(begin, tx.Now)))
	}
	if err := s.Payload.Check(); err != nil {
		return nil, "", err
	}
	if err := s.Payload.Fits(s.Select); err != nil {
		return nil, "", err
	}
	after, err := dependencies(tx, kernel.Dependencies(s.After))
	if err != nil {
		return nil, "", err
	}
	defs, err := tx.Resources()
	if err != nil {
		return nil, "", err
	}
	j = newcomer(tx, s.Request, a, defs)
	j.Queued, j.Attended, j.NoRequeue = true, s.Attended, s.NoRequeue
	j.Priority, j.Begin, j.Deadline, j.After, j.Command, j.Comment = s.Priority, begin, deadline, after, s.Command, s.Comment
	if err := booking.Admit(tx, j, a.Spec, int64(s.count()), true); err != nil {
		return nil, "", err
	}
	never, err = whyNever(tx, s, a)
	j.Never = never != ""
	return j, never, err
}

// Array returns the jobs of an array by index. The number of an array is that of its first job. It
// fails with ErrNotFound if there is no array with that number.
func (js Jobs) Array(array uint64) ([]*kernel.Job, error) {
	return kernel.JobsResult(js.tx.ArrayJobs(array))
}

// Ready reports whether everything a job depends on has happened. If not, it says what the job
// waits for, or, with ErrUnmet, what can no longer happen.
func Ready(tx *kernel.Tx, j *row.Job) (waitsFor string, err error) {
	for _, d := range j.After {
		other, err := tx.Job(d.Job)
		if err != nil {
			return "", err
		}
		met, err := kernel.Met(d, other)
		if err != nil {
			return "", fmt.Errorf("%w: %s, and job %d is %s", err, d, d.Job, other.State)
		}
		if !met && waitsFor == "" {
			waitsFor = fmt.Sprintf("waits for job %d (%s)", d.Job, d.When)
		}
	}
	return waitsFor, nil
}

// dependencies verifies that the jobs exist, and sorts them.
func dependencies(tx *kernel.Tx, list []row.Dependency) ([]row.Dependency, error) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b row.Dependency) int {
		if a.Job != b.Job {
			return int(int64(a.Job) - int64(b.Job))
		}
		return int(a.When) - int(b.When)
	})
	list = slices.Compact(list)
	for _, d := range list {
		if d.When < row.After || d.When > row.AfterAny {
			return nil, fmt.Errorf("%w: %s is no kind of dependency", kernel.ErrInvalid, d.When)
		}
		if _, err := tx.Job(d.Job); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// corresponding returns the dependencies of each job of an array if they differ: those of all, and
// the job with its index in other arrays. It is nil without such arrays.
func corresponding(tx *kernel.Tx, j *row.Job, s Submission) ([][]row.Dependency, error) {
	if len(s.AfterCorr) == 0 {
		return nil, nil
	}
	if !s.isArray() {
		return nil, fmt.Errorf("%w: only the jobs of an array have others that correspond to them", kernel.ErrInvalid)
	}
	after := make([][]row.Dependency, s.count())
	for _, array := range s.AfterCorr {
		others, err := tx.ArrayJobs(array)
		if err != nil {
			return nil, err
		}
		numbers := make(map[int]uint64, len(others))
		for _, o := range others {
			numbers[o.Index] = o.ID
		}
		for i := range after {
			id, ok := numbers[s.index(i)]
			if !ok {
				return nil, fmt.Errorf("%w: array %d has no job of index %d", kernel.ErrInvalid, array, s.index(i))
			}
			after[i] = append(after[i], row.Dependency{When: row.AfterOK, Job: id})
		}
	}
	for i := range after {
		var err error
		if after[i], err = dependencies(tx, append(after[i], j.After...)); err != nil {
			return nil, err
		}
	}
	return after, nil
}

// Alteration lists changes to a waiting job; nil fields stay as they are. A changed request is
// parsed again, as if it came now.
type Alteration struct {
	Name, User, Account, Queue, Class *string
	Comment                           *string
	Select, Place, Reservation        *string
	Policy, Access, Exclude           *string
	Prefer                            *[]string
	Walltime                          *time.Duration
	Priority                          *int64
	Begin, Deadline                   *time.Time
	After                             *[]kernel.Dependency
	NoRequeue                         *bool
	Payload                           func(*kernel.Payload) error // changes its payload, which only its owner may
	Sign                              Signer                      // signs that; nil: it stays unsigned
	Notes                             []string                    // events of the job say them
}

// bare reports whether an alteration changes nothing.
func (a Alteration) bare() bool {
	a.Notes, a.Sign = nil, nil
	return reflect.ValueOf(a).IsZero()
}

// Alter changes a waiting job, held or not; a planned one gives its plan up, and is planned again.
// The job keeps its number, its place among those of its priority, and its payload. A running job
// can change its name, comment, priority and walltime, the latter as with Extend. Notes alone
// change nothing. It fails with a Conflict if the job has ended, or runs and something else
// changes, and with the errors of Submit.
func (js Jobs) Alter(id uint64, a Alteration) (*kernel.Job, error) {
	return kernel.JobResult(alter(js.tx, id, &a))
}

func alter(tx *kernel.Tx, id uint64, a *Alteration) (*row.Job, error) {
	if a.bare() && len(a.Notes) > 0 {
		j, err := forChange(tx, id, "altered", row.JobHeld, row.JobQueued, row.JobReserved, row.JobRunning)
		if err != nil {
			return nil, err
		}
		return j, tx.Spoil(noted(tx, j, a.Notes))
	}
	j, err := forChange(tx, id, "altered", row.JobHeld, row.JobQueued, row.JobReserved, row.JobRunning)
	if err != nil {
		return nil, err
	}
	if j.State == row.JobRunning {
		return alterRunning(tx, j, a)
	}
	if !j.Queued {
		return nil, row.Clash("job "+strconv.FormatUint(id, 10), "it was placed, not submitted: it does not wait in the queue")
	}
	if a.Priority != nil {
		if err := mayRank(tx, *a.Priority); err != nil {
			return nil, err
		}
	}
	var next *row.Job
	never := ""
	without := tx.Counters().Rules.Without(j, func() { next, never, err = submitted(tx, a.of(j)) })
	if without != nil {
		return nil, tx.Spoil(without)
	}
	var carried *kernel.Payload
	if err == nil && a.Payload != nil {
		carried, err = changed(tx, j, next.Select, a.Payload)
	} else if err == nil && a.Select != nil {
		var has *kernel.Payload
		if has, err = tx.Payloads().Of(j); err == nil {
			err = has.Fits(next.Select)
		}
	}
	if err == nil && slices.ContainsFunc(next.After, func(d row.Dependency) bool { return d.Job >= id }) {
		err = fmt.Errorf("%w: job %d cannot depend on one that came after it, or on itself", kernel.ErrInvalid, id)
	}
	if err != nil {
		return nil, err
	}
	if j.State == row.JobReserved {
		if err := MachineOf(tx).Do(j, Step{To: row.JobQueued, Reason: row.Because(row.CauseAltered, "it was altered")}); err != nil {
			return nil, err
		}
	}
	if carried != nil {
		if err := replace(tx, j, carried, a.Sign); err != nil {
			return nil, tx.Spoil(err)
		}
	}
	return j, tx.Spoil(errors.Join(noted(tx, j, a.Notes), altered(tx, j, next, never)))
}

// alterRunning changes a running job: its allocation stays.
func alterRunning(tx *kernel.Tx, j *row.Job, a *Alteration) (*row.Job, error) {
	rest := *a
	if rest.Name, rest.Priority, rest.Walltime, rest.Comment = nil, nil, nil, nil; !rest.bare() {
		return nil, row.Clash("job "+strconv.FormatUint(j.ID, 10), "it is running: only its name, its comment, its priority and its walltime can change")
	}
	if a.Priority != nil {
		if err := mayRank(tx, *a.Priority); err != nil {
			return nil, err
		}
		if *a.Priority < -kernel.MaxPriority || *a.Priority > kernel.MaxPriority {
			return nil, badPriority(*a.Priority)
		}
	}
	if a.Walltime != nil {
		var err error
		if j, err = extend(tx, j.ID, kernel.Seconds(*a.Walltime)); err != nil {
			return nil, err
		}
	}
	change := func() {
		set(&j.Name, a.Name)
		set(&j.Priority, a.Priority)
		set(&j.Comment, a.Comment)
	}
	err := errors.Join(noted(tx, j, a.Notes), tx.Happened(row.Event{Job: j.ID, Event: "alter", Old: j.State.String(), New: j.State.String()}))
	if err != nil {
		return nil, tx.Spoil(err)
	}
	return j, MachineOf(tx).Do(j, Step{To: j.State, Reason: j.Reason, change: change})
}

func badPriority(p int64) error {
	return fmt.Errorf("%w: a priority of %d; it must be from %d to %d", kernel.ErrInvalid, p, -kernel.MaxPriority, kernel.MaxPriority)
}

// of is the submission that a job would be of, altered.
func (a *Alteration) of(j *row.Job) Submission {
	s := Submission{Request: j.Request(), Comment: j.Comment, Priority: j.Priority, Begin: kernel.Instant(j.Begin), Deadline: kernel.Instant(j.Deadline), NoRequeue: j.NoRequeue,
		Attended: j.Attended, After: kernel.Converted(j.After, func(d row.Dependency) kernel.Dependency { return kernel.Dependency(d) })}
	s.Walltime = time.Duration(j.Walltime) * time.Second
	for to, is := range map[*string]*string{&s.Name: a.Name, &s.User: a.User, &s.Account: a.Account, &s.Queue: a.Queue, &s.Class: a.Class,
		&s.Select: a.Select, &s.Place: a.Place, &s.Reservation: a.Reservation, &s.Policy: a.Policy, &s.Access: a.Access} {
		set(to, is)
	}
	set(&s.Prefer, a.Prefer)
	set(&s.Exclude, a.Exclude)
	set(&s.Comment, a.Comment)
	set(&s.Walltime, a.Walltime)
	set(&s.Priority, a.Priority)
	set(&s.Begin, a.Begin)
	set(&s.Deadline, a.Deadline)
	set(&s.After, a.After)
	set(&s.NoRequeue, a.NoRequeue)
	return s
}

// set gives a variable a value, if there is one.
func set[T any](to, is *T) {
	if is != nil {
		*to = *is
	}
}

// altered writes a waiting job with its changes.
func altered(tx *kernel.Tx, j, next *row.Job, never string) error {
	had := make(usage.Totals)
	if err := tx.Loaded.Book.Whole(j, had); err != nil {
		return err
	}
	j.Name, j.User, j.UID, j.Group, j.Account, j.Queue, j.Class = next.Name, next.User, next.UID, next.Group, next.Account, next.Queue, next.Class
	j.Select, j.Place, j.Walltime, j.Access, j.Reservation, j.Prefer, j.Exclude = next.Select, next.Place, next.Walltime, next.Access, next.Reservation, next.Prefer, next.Exclude
	j.Bind, j.Policy, j.NoPolicy, j.Pools = next.Bind, next.Policy, next.NoPolicy, next.Pools
	j.Comment, j.Promised, j.Earliest = next.Comment, 0, 0
	j.Priority, j.Begin, j.Deadline, j.After, j.NoRequeue, j.Never = next.Priority, next.Begin, next.Deadline, next.After, next.NoRequeue, next.Never
	if err := tx.Loaded.Book.Kept(j, had); err != nil {
		return err
	}
	tx.Loaded.Freed.Count() // the decision about it was for the old request
	err := tx.Happened(row.Event{Job: j.ID, Event: "alter", Old: j.State.String(), New: j.State.String()})
	if err == nil && never != "" {
		err = NeverRuns(tx, j, never)
	}
	return errors.Join(err, PutJob(tx, j, j.State))
}
