// Package attempts is for programs that execute the commands of queued jobs. Such a program asks
// for the attempts that wait, claims each before it executes anything, and reports how
// it ended. A claim under a nonce can be repeated; so can a report. Jobs wait to be claimed if they
// have a Command and the setting launch is work; without it, the caller of Tx.Cycle executes what it
// starts.
//
//	tx.Set(store.Setting{Name: "launch", Value: "work"}) // once, when the database is made
//
//	for job, err := range attempts.Unclaimed(tx) { ... }
//	granted, err := attempts.Take(tx, attempts.Claim{Job: job.ID, Attempt: job.Attempt, Nonce: n, Process: self})
//	... commit, run the command ...
//	_, err = attempts.End(tx, attempts.Result{Job: job.ID, Attempt: job.Attempt, Nonce: n, Outcome: attempts.Exited})
//
// Each user may execute that user's jobs, and operators all. Nothing is executed from a copy of a
// database: Take then fails with store.ErrCopy.
package attempts

import (
	"iter"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/store"
)

// Attempt is one start of a job.
type Attempt struct {
	Job     uint64
	Number  int    // 1, 2, ...
	State   string // started, claimed, ending (its process is to stop it) or ended
	Nonce   Nonce
	Process Process
	Outcome Outcome
	Exit    int // as in a shell: 128 and the signal's number if a signal ended it
	Signal  int
	Why     string    // explains its end
	Began   time.Time // when the job got its nodes
	Claimed time.Time // zero if it never was
	Ended   time.Time // zero if it has not
	Use     Use
	Devices string // that it had when it ended: g1:ngpus=0,3:ncpus=0-7
	Signals []int  // to be sent to its processes: see Sent
	Before  int    // number of signals sent before those
}

// Nonce identifies the process that executes an attempt. Draw it at random before the claim.
type Nonce [16]byte

// Process identifies a process among all past and present ones. Take needs its Host; programs of the same host
// can tell by the others whether it lives.
type Process struct {
	Host  string // the name by which On finds its attempts; it need not be a node
	Boot  string // the host's boot: /proc/sys/kernel/random/boot_id
	PIDNS uint64 // inode of its PID namespace
	PID   int
	Born  uint64 // in clock ticks since the host started: the 22nd word of /proc/PID/stat
}

// Use is what an attempt used.
type Use struct {
	User, System time.Duration // of processors
	MaxRSS, Peak int64         // bytes: of its largest process, and of all together; 0 if not measured
}

// Outcome is how an attempt ended.
type Outcome string

// The outcomes.
const (
	Exited   Outcome = "exited"   // its command ended by itself
	Signal   Outcome = "signal"   // a signal ended its command
	Walltime Outcome = "walltime" // ended because its walltime was over
	OOM      Outcome = "oom"      // used more memory than it had asked for
	Unbegun  Outcome = "unbegun"  // certainly, nothing of it was executed
	Refused  Outcome = "refused"  // the host could not execute it
	Lost     Outcome = "lost"     // it may have been executed; how it ended is unknown
	Stopped  Outcome = "stopped"  // stopped on request
)

// Blame says what a refusal counts against: see Result.
type Blame string

// What a refusal counts against.
const (
	BlameNobody Blame = ""
	BlameNode   Blame = "node" // the job does not start on it again
	BlameJob    Blame = "job"  // any other node would refuse the job, too: it is held
)

// Claim is a process's request for an attempt, made before it executes anything.
type Claim struct {
	Job     uint64
	Attempt int
	Nonce   Nonce
	Process Process
}

// Granted is a claim that was accepted.
type Granted struct {
	Job     *store.Job
	Payload *store.Payload // what the job carries, or nil
	Left    time.Duration  // until the job's end
}

// Result says how an attempt ended.
type Result struct {
	Job          uint64
	Attempt      int
	Nonce        Nonce
	Outcome      Outcome
	Exit, Signal int // Exit is from 0 to 255
	Why          string
	Blame        Blame // for Refused
	Use          Use
}

// Unclaimed iterates over the jobs with a Command whose attempts wait for a claim, by number. The loop may
// take them.
func Unclaimed(tx *store.Tx) iter.Seq2[*store.Job, error] {
	return kernel.Seq(engine.TxOf(tx).Attempts().Unclaimed,
		func(j *engine.Job) (*store.Job, error) { return tx.Job(j.ID) })
}

// On iterates over the attempts that a host executes, those that are being stopped included; "" is for all hosts. The
// loop may end them.
func On(tx *store.Tx, host string) iter.Seq2[*Attempt, error] {
	list := func(fn func(*engine.Attempt) error) error {
		return engine.TxOf(tx).Attempts().ClaimedOn(host, func(_ *engine.Job, a *engine.Attempt) error { return fn(a) })
	}
	return kernel.Seq(list, func(a *engine.Attempt) (*Attempt, error) { return attemptOf(a), nil })
}

// Of returns the attempts of a job, the first one first.
func Of(tx *store.Tx, job uint64) (list []*Attempt, err error) {
	err = engine.TxOf(tx).Attempts().Each(job, func(a *engine.Attempt) error {
		list = append(list, attemptOf(a))
		return nil
	})
	return list, err
}

func attemptOf(a *engine.Attempt) *Attempt {
	return &Attempt{Job: a.Job, Number: a.Number, State: a.State.String(), Nonce: Nonce(a.Nonce),
		Process: Process(a.Process), Outcome: Outcome(a.Outcome.String()), Exit: a.Exit, Signal: a.Signal, Why: a.Why,
		Began: a.Began, Claimed: a.Claimed, Ended: a.Ended, Devices: a.Devices, Signals: a.Signals, Before: a.Sent,
		Use: Use{a.Use.CPUUser, a.Use.CPUSystem, a.Use.MaxRSS, a.Use.MemPeak}}
}

// Take gives an attempt to the first process that asks for it. Asking again with the same nonce gives the same
// answer and records the process, so that one process can take over from another. It fails with a
// store.Conflict if the job is not running, is at another attempt, has reached its end, or is claimed by
// another process.
func Take(tx *store.Tx, c Claim) (*Granted, error) {
	is, err := engine.TxOf(tx).Attempts().Claim(engine.Claim{Job: c.Job, Attempt: c.Attempt,
		By: engine.BySupervisor, Nonce: engine.Nonce(c.Nonce), Process: engine.Process(c.Process)})
	if err != nil {
		return nil, err
	}
	out := &Granted{Left: is.Left}
	if out.Job, err = tx.Job(c.Job); err == nil {
		out.Payload, err = tx.Payload(c.Job)
	}
	return out, err
}

// End ends an attempt. The job ends, or is queued again if the attempt was refused or lost, or is to
// be retried. Reporting the same again has no effect. It fails with a store.Conflict if the attempt has ended otherwise
// or belongs to another process. Unbegun and Refused may be reported without a claim.
func End(tx *store.Tx, r Result) (*store.Job, error) {
	below := engine.Result{Job: r.Job, Attempt: r.Attempt, Nonce: engine.Nonce(r.Nonce), Exit: r.Exit,
		Signal: r.Signal, Why: r.Why, Use: engine.ResourceUse{CPUUser: r.Use.User, CPUSystem: r.Use.System,
			MaxRSS: r.Use.MaxRSS, MemPeak: r.Use.Peak}}
	for o := engine.OutcomeNone; o <= engine.OutcomeStopped; o++ {
		if o.String() == string(r.Outcome) {
			below.Outcome = o // the zero value is refused
		}
	}
	switch r.Blame {
	case BlameNode:
		below.Blame = engine.BlameNode
	case BlameJob:
		below.Blame = engine.BlameJob
	}
	j, err := engine.TxOf(tx).Attempts().Report(below)
	if err != nil {
		return nil, err
	}
	return tx.Job(j.ID)
}

// Beat records that a process executes attempts of a user on a host; boot is the host's, as in Process. Without a beat
// for the time of the setting lost_after the attempts of a host may be declared lost.
func Beat(tx *store.Tx, host, user, boot string) error {
	return engine.TxOf(tx).Hosts().Beat(host, user, boot)
}

// Send sends a signal to the processes of a running job: its process finds it in Attempt.Signals. It fails with a
// store.Conflict if no process executes the job. Each user may signal that user's jobs.
func Send(tx *store.Tx, job uint64, signal int) error {
	_, _, err := engine.TxOf(tx).Attempts().Signal(job, signal)
	return err
}

// Sent records that the first n signals of an attempt were sent.
func Sent(tx *store.Tx, job uint64, attempt int, nonce Nonce, n int) error {
	return engine.TxOf(tx).Attempts().Signalled(job, attempt, engine.Nonce(nonce), n)
}

// Lose ends the attempts on a node that will not come back, and returns their jobs: those that were claimed are lost,
// the others wait again. It needs the rights of an operator.
func Lose(tx *store.Tx, node, why string) ([]*store.Job, error) {
	n, err := tx.Node(node)
	if err != nil {
		return nil, err
	}
	list, err := engine.TxOf(tx).Attempts().Lose(n.Number, why)
	out := make([]*store.Job, len(list))
	for i := range list {
		if err == nil {
			out[i], err = tx.Job(list[i].ID)
		}
	}
	return out, err
}
