package locality

import (
	"errors"
	"fmt"
)

// Errors that callers branch on.
var (
	ErrInvalid = errors.New("invalid")             // a job, file or setting is invalid
	ErrNoJob   = errors.New("no such job")         // the batch has no job with that number
	ErrNotHeld = errors.New("not in its hands")    // a host reports a job that it does not hold
	ErrCorrupt = errors.New("rows contradict")     // rows contradict each other
	ErrPolicy  = errors.New("no such policy")      // see Policies
	ErrIdle    = errors.New("nothing for it now")  // there is work, but none for this host now
	ErrOver    = errors.New("everything is given") // no job waits for a host
)

// Credit is work in micro-credits: a job of credit 1 has a million of them.
type Credit = int64

// Micro is one credit.
const Micro = 1_000_000

// Day is the unit of time in rates, in seconds.
const Day = 86_400

// Batch is a batch's own row: its settings and its sums.
type Batch struct {
	Name     string
	Settings Settings
	Files    int  // files 0..Files-1
	Used     int  // files that some job uses
	Bound    int  // the smallest possible number of transfers: each file to as many hosts as a job wants results
	Jobs     int  // jobs 0..Jobs-1
	Layers   int  // the greatest quorum
	Layered  bool // slots are numbered layer by layer; otherwise job by job
	Total    Credit
	Created  int64 // Unix seconds
	Ended    int64 // 0 while a job is unfinished

	Remaining Credit // of slots that are not terminal
	Waiting   Credit // of those in no host's hands
	Rate      int64  // micro-credits a day of all hosts that work in it now
	Active    int    // hosts that work in it now
	Done      int    // jobs
	Failed    int    // jobs
	Transfers int    // files sent
	Moves     int    // how often hosts changed their range
	// only one answer in a hundred takes more than this many times as long as its credit alone suggests
	Stretch float64
	Rates   Rates // of the hosts that have a record
}

// Settings are the settings of a batch. Zero values mean the defaults.
type Settings struct {
	Policy    string // see Policies
	Team      int    // hosts in a range, for policies with teams (5)
	Hosts     int    // hosts expected (100)
	Cushion   int    // instances kept generated ahead of a cursor (0)
	LeastJobs int    // the smallest number of jobs in a team's range (10)
	MaxErrors int    // failures of a job before it is failed for good (3)
	Lease     int64  // seconds that an unmeasured host has for its jobs (86400)
	Away      int64  // seconds of silence after which a host leaves the sums (Lease)
	Keep      int    // files that a host may keep although nothing needs them
}

// withDefaults sets defaults, and refuses invalid settings.
func (s Settings) withDefaults() (Settings, error) {
	for _, d := range []struct {
		n    *int
		name string
		def  int
	}{{&s.Team, "team", 5}, {&s.Hosts, "hosts", 100}, {&s.Cushion, "cushion", 0}, {&s.LeastJobs, "least jobs", 10},
		{&s.MaxErrors, "max errors", 3}, {&s.Keep, "keep", 0}} {
		if *d.n < 0 {
			return s, fmt.Errorf("%w: %s is %d, less than 0", ErrInvalid, d.name, *d.n)
		}
		if *d.n == 0 {
			*d.n = d.def
		}
	}
	if s.Lease < 0 || s.Away < 0 {
		return s, fmt.Errorf("%w: a lease cannot be negative", ErrInvalid)
	}
	if s.Lease == 0 {
		s.Lease = Day
	}
	if s.Away == 0 {
		s.Away = s.Lease
	}
	if s.Policy == "" {
		s.Policy = DefaultPolicy
	}
	_, err := findPolicy(s.Policy)
	return s, err
}

// Slots returns the number of slots of the batch.
func (b *Batch) Slots() int { return b.Jobs * b.Layers }

// Slot returns the slot of a job and layer. Layers count from 0, and are less than the
// greatest quorum of the batch.
func (b *Batch) Slot(job, layer int) int {
	if b.Layered {
		return layer*b.Jobs + job
	}
	return job*b.Layers + layer
}

// JobOf returns the job and layer of a slot.
func (b *Batch) JobOf(slot int) (job, layer int) {
	if b.Layered {
		return slot % max(1, b.Jobs), slot / max(1, b.Jobs)
	}
	return slot / max(1, b.Layers), slot % max(1, b.Layers)
}

// mean returns the mean credit of a slot.
func (b *Batch) mean() Credit { return max(1, b.Total/Credit(max(1, b.Slots()))) }

// TimeLeft estimates the seconds until the batch is finished, with the hosts that work in it
// now. It is infinite if there are none.
func (b *Batch) TimeLeft() float64 { return seconds(b.Remaining, b.Rate) }

// Over reports whether every job is finished.
func (b *Batch) Over() bool { return b.Done+b.Failed == b.Jobs }

// Valid returns an error that describes an invalid setting.
func (s Settings) Valid() error {
	_, err := s.withDefaults()
	return err
}
