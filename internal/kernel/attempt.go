package kernel

import (
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/row"
)

// Attempt is one start of a job.
type Attempt struct {
	row.AttemptFacts
	Began   time.Time // when the job got its nodes
	Claimed time.Time // zero if it never was
	Ended   time.Time // zero if it has not
	Why     string    // explains its end
	Use     ResourceUse
	Signals []int // signals to send to its processes: see Attempts.Signal
}

// HasExit reports whether Exit tells how the command ended, because it was executed and its
// end was observed, even if another process stopped it.
func (a *Attempt) HasExit() bool {
	return (&row.Attempt{AttemptFacts: a.AttemptFacts, Use: row.UseOf(&a.Use, time.Duration.Microseconds)}).HasExit()
}

// ResourceUse is what an attempt used.
type ResourceUse = row.Use[time.Duration]

func AttemptOf(a *row.Attempt) *Attempt {
	out := &Attempt{a.AttemptFacts, Instant(a.Began), Instant(a.Claimed), Instant(a.Ended), a.Why.String(),
		row.UseOf(&a.Use, func(us int64) time.Duration { return time.Duration(us) * time.Microsecond }),
		Converted(a.Signals, func(n uint8) int { return int(n) })}
	out.Chunks = copiedChunks(a.Chunks)
	return out
}

// Attempts is the part of a transaction that deals with the attempts of jobs, and with what follows
// for a job from an attempt's end.
type Attempts struct{ tx *Tx }

func (tx *Tx) Attempts() Attempts { return Attempts{tx} }

// Of returns an attempt of a job. An attempt without a row is the last one and unclaimed: the job's
// own row describes it.
func (as Attempts) Of(j *row.Job, number int) (*row.Attempt, error) {
	key := row.AttemptKey(j.ID, number)
	payload, err := as.tx.Loaded.Attempts.Read(key)
	if err != nil {
		return nil, err
	}
	a := unclaimed(j, number)
	if payload != nil {
		kept, err := row.DecodeAttempt(key, payload)
		if err != nil {
			return nil, err
		}
		if onlyDevices(kept) {
			a.Devices, a.Began = kept.Devices, kept.Began
		} else {
			a = kept
		}
	} else if a.Began, err = as.Began(j, number); err != nil {
		return nil, err
	}
	if number == j.CurrentAttempt() && len(a.Chunks) == 0 {
		a.Chunks, a.Along = j.Chunks, j.Along
	}
	return a, nil
}

// onlyDevices reports whether a is the unclaimed last attempt of its job. Its row exists only to
// record the devices; the job's own row has the rest.
func onlyDevices(a *row.Attempt) bool {
	return a.State == row.AttemptEnded && a.Outcome == row.OutcomeNone
}

// unclaimed makes an attempt from the job's row if the attempt has no row of its own.
func unclaimed(j *row.Job, number int) *row.Attempt {
	a := &row.Attempt{AttemptFacts: row.AttemptFacts{Job: j.ID, Number: number, State: row.AttemptStarted}}
	switch {
	case j.Attended:
		a.By = row.ByRun
	case j.Launched && !j.OnlyPrinted():
		a.By = row.ByLauncher
	}
	if j.State != row.JobRunning {
		a.State, a.Ended, a.Exit, a.Why = row.AttemptEnded, j.End, j.Exit, j.Reason
		a.Outcome = row.OutcomeStopped
		if j.Exit != 0 || j.State == row.JobFinished {
			a.Outcome = row.OutcomeExited
		}
	} else if a.By != row.ByNobody {
		a.State = row.AttemptClaimed
	}
	return a
}

// Began returns when an attempt began, in Unix seconds: at its job's start or, if it follows
// another attempt on the same nodes, at that attempt's end.
func (as Attempts) Began(j *row.Job, number int) (int64, error) {
	at := j.Start
	if number == 1 {
		return at, nil
	}
	key := row.AttemptKey(j.ID, number-1)
	payload, err := as.tx.Loaded.Attempts.Read(key)
	if err != nil || payload == nil {
		return at, err
	}
	before, err := row.DecodeAttempt(key, payload)
	if err == nil {
		at = max(at, before.Ended)
	}
	return at, err
}

// Put writes an attempt, and records whether it is being executed on a host.
func (as Attempts) Put(a *row.Attempt) error { return as.tx.Loaded.Attempts.Put(a) }

// Values of the setting launch.
const (
	LaunchExec = "exec" // cycles tell the site's launcher
	LaunchWork = "work" // passes start jobs under a keeper
)

// HostOfNode returns the host of a node: the value of its resource host, else its name.
func HostOfNode(n *index.Node) string {
	if v, ok := n.Get(index.Host); ok && v.Str != "" {
		return v.Str
	}
	return n.Name
}

// SameHost compares host names, ignoring case, and the domain if one has none.
func SameHost(a, b string) bool {
	shortA, domainA, _ := strings.Cut(a, ".")
	shortB, domainB, _ := strings.Cut(b, ".")
	return strings.EqualFold(shortA, shortB) && (domainA == "" || domainB == "" || strings.EqualFold(domainA, domainB))
}
