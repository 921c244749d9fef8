package store

import (
	"fmt"
	"time"

	"github.com/placectl/placectl/store/internal/row"
)

// States of attempts. A job that has its nodes has a current attempt. The process that will execute
// the command claims the attempt first, so that no other process does, and reports how it ended.
// Until then the job runs and keeps its nodes.
type (
	// AttemptState is the state of an attempt.
	AttemptState = row.AttemptState
	// Claimant is the process that has claimed an attempt.
	Claimant = row.Claimant
	// Outcome is how an attempt has ended.
	Outcome = row.Outcome
	// Nonce tells the process that executes an attempt from all others. It is drawn at
	// random before the claim.
	Nonce = row.Nonce
	// Process names a process so that it can be told from all others that there were:
	// Born is the start time of /proc/PID/stat.
	Process = row.Process
)

// The states of an attempt.
const (
	AttemptStarted = row.AttemptStarted // the job has its nodes; the attempt is not claimed yet
	AttemptClaimed = row.AttemptClaimed // a process executes it
	AttemptEnding  = row.AttemptEnding  // a process executes it, and must stop it
	AttemptEnded   = row.AttemptEnded
)

// Claimants of attempts.
const (
	ByNobody     = row.ByNobody
	BySupervisor = row.BySupervisor
	ByRun        = row.ByRun
	ByLauncher   = row.ByLauncher
)

// How attempts end.
const (
	OutcomeNone     = row.OutcomeNone     // it has not ended, or how it ended was not reported
	OutcomeExited   = row.OutcomeExited   // its command has ended of itself
	OutcomeSignal   = row.OutcomeSignal   // a signal has ended its command
	OutcomeWalltime = row.OutcomeWalltime // it was ended because its walltime was over
	OutcomeOOM      = row.OutcomeOOM      // it had more memory than it had asked for
	OutcomeUnbegun  = row.OutcomeUnbegun  // certainly nothing of it was executed
	OutcomeRefused  = row.OutcomeRefused  // the host could not execute it
	OutcomeLost     = row.OutcomeLost     // it may have been executed; how it ended is unknown
	OutcomeStopped  = row.OutcomeStopped  // it was stopped on request
)

// Attempt is one start of a job.
type Attempt struct {
	Job    uint64
	Number int // 1, 2, ...
	State  AttemptState
	By     Claimant
	Nonce  Nonce
	Process
	Began   time.Time // when the job had its nodes
	Claimed time.Time // zero: never
	Ended   time.Time // zero: it has not
	Outcome Outcome
	Exit    int // as a shell says it: 128 and the signal's number where a signal ended it
	Signal  int
	Why     string // an explanation of its end
	Use     ResourceUse
	Log     string // where its output lies, if not where the job wanted it

	// Becomes is the job's state after an ending attempt has ended; 0: as its outcome says.
	Becomes JobState

	Chunks  []JobChunk // the nodes that it had
	Along   []uint32
	Devices string // its devices, or those when it ended, on nodes that name them: g1:ngpus=0,3:ncpus=0-7

	Signals []int // that wait to be sent to its processes: see Tx.Signal
	Sent    int   // how many they were sent before those
}

// AllNodes lists the nodes that it had, each once, by number.
func (a *Attempt) AllNodes() []uint32 { return (&Job{Chunks: a.Chunks, Along: a.Along}).AllNodes() }

// HasExit reports whether Exit says how the command ended: it was executed and its end was
// observed, even if another process stopped it.
func (a *Attempt) HasExit() bool {
	return (&row.Attempt{Outcome: a.Outcome, Exit: a.Exit, Use: a.Use.row()}).HasExit()
}

// ResourceUse is what an attempt used.
type ResourceUse struct {
	CPUUser   time.Duration
	CPUSystem time.Duration
	MaxRSS    int64 // bytes, of its largest process
	MemPeak   int64 // bytes, of all its processes together; 0 if not measured
	Leftover  int   // processes that outlived its command and were ended
}

// row is the use as rows hold it.
func (u ResourceUse) row() row.ResourceUse {
	return row.ResourceUse{CPUUser: u.CPUUser.Microseconds(), CPUSystem: u.CPUSystem.Microseconds(), MaxRSS: u.MaxRSS, MemPeak: u.MemPeak, Leftover: u.Leftover}
}

func attemptOf(a *row.Attempt) *Attempt {
	return &Attempt{Job: a.Job, Number: a.Number, State: a.State, By: a.By, Nonce: a.Nonce, Process: a.Process,
		Began: instant(a.Began), Claimed: instant(a.Claimed), Ended: instant(a.Ended),
		Outcome: a.Outcome, Exit: a.Exit, Signal: a.Signal, Why: a.Why.String(),
		Use: ResourceUse{time.Duration(a.Use.CPUUser) * time.Microsecond, time.Duration(a.Use.CPUSystem) * time.Microsecond, a.Use.MaxRSS, a.Use.MemPeak, a.Use.Leftover},
		Log: a.Log, Becomes: a.Becomes, Chunks: converted(a.Chunks, chunkOf), Along: a.Along, Devices: a.Devices,
		Signals: converted(a.Signals, func(n uint8) int { return int(n) }), Sent: a.Sent}
}

// chunkOf is a chunk as callers get it.
func chunkOf(c row.JobChunk) JobChunk {
	return JobChunk{c.Count, converted(c.Nodes, func(n row.JobNode) JobNode { return JobNode(n) })}
}

// Attempt is one of a job's attempts, 0 for the one that it is at or was at last. It fails
// with ErrNotFound when there is no such job, or it has not started so often.
func (tx *Tx) Attempt(job uint64, number int) (*Attempt, error) {
	j, err := tx.job(job)
	if err != nil {
		return nil, err
	}
	if number == 0 {
		number = j.CurrentAttempt()
	}
	if number < 1 || number > j.CurrentAttempt() {
		return nil, row.Missing("attempt", fmt.Sprintf("%d.%d", job, number))
	}
	a, err := tx.attempts().withDevices(j, number)
	if err != nil {
		return nil, err
	}
	return attemptOf(a), nil
}

// EachAttempt goes through the attempts of a job, or of all with 0, in the order of their
// jobs and numbers, until fn fails.
func (tx *Tx) EachAttempt(job uint64, fn func(*Attempt) error) error {
	each := func(j *row.Job) error {
		for number := 1; number <= j.CurrentAttempt(); number++ {
			a, err := tx.attempts().withDevices(j, number)
			if err == nil {
				err = fn(attemptOf(a))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if job == 0 {
		return tx.eachJob(each)
	}
	j, err := tx.job(job)
	if err != nil {
		return err
	}
	return each(j)
}

// attempts is the part of a transaction that deals with the attempts of jobs, and with what follows
// for a job from an attempt's end.
type attempts struct{ *Tx }

func (tx *Tx) attempts() attempts { return attempts{tx} }

// of returns an attempt of a job. An attempt without a row is the last one and unclaimed: the job's
// own row describes it.
func (as attempts) of(j *row.Job, number int) (*row.Attempt, error) {
	key := row.AttemptKey(j.ID, number)
	payload, err := as.loaded.attempts.Read(key)
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
	} else if a.Began, err = as.began(j, number); err != nil {
		return nil, err
	}
	if number == j.CurrentAttempt() && len(a.Chunks) == 0 {
		a.Chunks, a.Along = j.Chunks, j.Along
	}
	return a, nil
}

// withDevices adds the devices to an attempt that has not ended.
func (as attempts) withDevices(j *row.Job, number int) (*row.Attempt, error) {
	a, err := as.of(j, number)
	if err == nil && number == j.CurrentAttempt() && len(j.Devices) > 0 {
		a.Devices, err = as.Tx.Devices(jobOf(j))
	}
	return a, err
}

// onlyDevices reports whether a is the unclaimed last attempt of its job. Its row exists only to
// record the devices; the job's own row has the rest.
func onlyDevices(a *row.Attempt) bool {
	return a.State == row.AttemptEnded && a.Outcome == row.OutcomeNone
}

// keepDevices records the devices of a job's last attempt if that was never claimed.
func (as attempts) keepDevices(j *row.Job, number int) error {
	began, err := as.began(j, number)
	if err != nil {
		return err
	}
	held, err := as.Tx.Devices(jobOf(j))
	if err != nil {
		return err
	}
	return as.put(&row.Attempt{Job: j.ID, Number: number, State: row.AttemptEnded, Began: began, Ended: as.instant(), Devices: held})
}

// unclaimed makes an attempt from the job's row if the attempt has no row of its own.
func unclaimed(j *row.Job, number int) *row.Attempt {
	a := &row.Attempt{Job: j.ID, Number: number, State: row.AttemptStarted}
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

// began is when an attempt has begun: its job's start, or the end of the attempt before it,
// where it follows on the same nodes.
func (as attempts) began(j *row.Job, number int) (int64, error) {
	at := j.Start
	if number == 1 {
		return at, nil
	}
	key := row.AttemptKey(j.ID, number-1)
	payload, err := as.loaded.attempts.Read(key)
	if err != nil || payload == nil {
		return at, err
	}
	before, err := row.DecodeAttempt(key, payload)
	if err == nil {
		at = max(at, before.Ended)
	}
	return at, err
}

// put writes an attempt, and records whether it is being executed on a host.
func (as attempts) put(a *row.Attempt) error { return as.loaded.attempts.Put(a) }

// end records that the current attempt of a job has ended; how fills in the outcome. If the job
// goes on without its nodes, the attempt remembers them. For an unclaimed last attempt the job's
// own row is enough, except for the devices.
func (as attempts) end(j *row.Job, goesOn bool, how func(*row.Attempt)) error {
	number := j.CurrentAttempt()
	if number == 0 {
		return nil
	}
	if j.EndsByClock() {
		if err := as.file.Remove(row.Changes, row.TimeKey(j.End, row.JobOwner(j.ID))); err != nil {
			return err
		}
	}
	if !goesOn && !j.Claimed && !j.Launched {
		if len(j.Devices) > 0 {
			return as.keepDevices(j, number)
		}
		return nil
	}
	j.Attempt = number
	a, err := as.withDevices(j, number)
	if err != nil || a.State == row.AttemptEnded {
		return err
	}
	a.State, a.Ended = row.AttemptEnded, as.instant()
	if a.Outcome == row.OutcomeNone {
		a.Outcome = row.OutcomeStopped
		if a.By == row.ByNobody && !j.Launched {
			a.Outcome = row.OutcomeUnbegun
		}
	}
	if how != nil {
		how(a)
	}
	if !goesOn {
		a.Chunks, a.Along = nil, nil
	}
	j.Claimed, j.Ending, j.Paused = false, false, false
	return as.put(a)
}

// remove forgets the attempts of a job that goes.
func (as attempts) remove(job uint64) error {
	var keys [][]byte
	err := as.file.Each(row.Attempts, row.Key64(job), func(key, _ []byte) (bool, error) {
		keys = append(keys, append([]byte(nil), key...))
		return true, nil
	})
	for _, key := range keys {
		if err == nil {
			err = as.loaded.attempts.Remove(key)
		}
	}
	return err
}
