package jobs

import (
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
)

// Submission is a job, or an array of jobs, for the queue.
type Submission struct {
	placer.Request
	Priority  int64     // jobs of higher priority come first
	Array     int       // this many equal jobs that differ by their index; 0 for one job
	Indexes   []int     // instead of Array: the index of each job, ascending
	Throttle  int       // for an array: at most this many of its jobs run at once; 0 for any number
	Begin     time.Time // earliest start; zero for any
	Deadline  time.Time // latest end; zero for any
	After     []row.Dependency
	AfterCorr []uint64 // for arrays: each job waits until the one with its index has succeeded
	Hold      bool
	Reason    string    // why it is held
	Accept    string    // any or feasible, in place of the setting accept; "": as set
	NoRequeue bool      // not queued again after it was stopped for another class
	Each      []Element // instead of Array: what each of its jobs executes
	Comment   string    // a note by the submitter
	Attended  bool      // the submitter's process waits for the start and launches it
	Command   []string
	Payload   *kernel.Payload // script, environment and so on, or nil
	Sign      Signer          // signs the job; nil leaves it unsigned
	Notes     []string        // notes for the submitter: events of the job, or of the array's first job

	retryOf []uint64 // the job that each one repeats
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
	Line    string // its input line, or ""
}

// asks sets what a job asks for, besides its request.
func (s *Submission) asks(j *row.Job) {
	j.Priority, j.NoRequeue, j.Attended, j.After, j.Command, j.Comment = s.Priority, s.NoRequeue, s.Attended, s.After,
		s.Command, s.Comment
	j.Begin, j.Deadline = kernel.Unix(s.Begin), kernel.Unix(s.Deadline)
}

// submissionOf returns the submission that would make a job.
func submissionOf(j *row.Job) Submission {
	s := Submission{Request: j.Request(), Priority: j.Priority, NoRequeue: j.NoRequeue, Attended: j.Attended,
		After: slices.Clone(j.After), Command: j.Command,
		Comment: j.Comment, Begin: kernel.Instant(j.Begin), Deadline: kernel.Instant(j.Deadline)}
	s.Walltime = kernel.Lasting(j.Walltime)
	return s
}

// Limits of arrays in a submission. The setting max_array is at most MaxArray.
const (
	MaxArray   = kernel.MaxArray
	UsualArray = kernel.UsualArray // others go on as usual while one of so many jobs is submitted
	MaxIndex   = 1_000_000_000
)

// Alteration lists changes to a waiting job; nil fields stay as they are. A changed request is
// parsed again, as if it were new. Select may be a resource list, which changes only what it names.
type Alteration struct {
	Name, User, Group             *string
	Account, Queue, Class         *string
	Comment                       *string
	Select, Place, Reservation    *string
	Accept                        *string
	Policy, Access, Exclude, Bind *string
	Prefer                        *[]string
	Pools                         *[]placer.PoolAmount
	OverLimits                    *bool
	Walltime                      *time.Duration
	Priority                      *int64
	Begin, Deadline               *time.Time
	After                         *[]row.Dependency
	NoRequeue                     *bool
	Payload                       func(*kernel.Payload) error // changes its payload; only its owner may
	Sign                          Signer                      // signs the job; nil leaves it unsigned
	Notes                         []string                    // notes, added as events of the job
}

// bare reports whether an alteration changes nothing.
func (a Alteration) bare() bool {
	a.Notes, a.Sign = nil, nil
	return reflect.ValueOf(a).IsZero()
}

// term is a field of an Alteration, and what messages call it.
type term struct{ field, words string }

// whileRunning are those that can also change while a job runs.
var whileRunning = []term{{"Name", "its name"}, {"Comment", "its comment"}, {"Priority", "its priority"},
	{"Walltime", "its walltime"}}

// AltersRunning reports whether a field of an Alteration can also change while a job runs.
func AltersRunning(field string) bool {
	return slices.ContainsFunc(whileRunning, func(t term) bool { return t.field == field })
}

// forRunning returns a Conflict if an alteration changes more than a running job lets it.
func (a Alteration) forRunning(job uint64) error {
	its := make([]string, len(whileRunning))
	for i, t := range whileRunning {
		reflect.ValueOf(&a).Elem().FieldByName(t.field).SetZero()
		its[i] = t.words
	}
	if a.bare() {
		return nil
	}
	return row.Clash("job "+strconv.FormatUint(job, 10), "it is running: only "+text.List(its, "and")+" can change")
}

// change changes what a submission asks for, by the names of fields.
func (a *Alteration) change(s *Submission) {
	from, to := reflect.ValueOf(a).Elem(), reflect.ValueOf(s).Elem()
	for i := range from.NumField() {
		if is := from.Field(i); is.Kind() == reflect.Pointer && !is.IsNil() {
			to.FieldByName(from.Type().Field(i).Name).Set(is.Elem())
		}
	}
}

// changeOf changes what the submission of a waiting job asks for. Select may be a resource list
// (placer.Request.Amend); other fields go before what that names.
func (a Alteration) changeOf(tx *kernel.Tx, s *Submission) error {
	if a.Select != nil {
		defs, err := tx.Resources()
		if err != nil {
			return err
		}
		if s.Request, err = s.Request.Amend(defs, *a.Select); err != nil {
			return err
		}
		a.Select = nil
	}
	a.change(s)
	return nil
}
