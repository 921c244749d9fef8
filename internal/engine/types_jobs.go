package engine

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/row"
)

type (
	// Claim is a process's request for an attempt, made before it executes anything.
	Claim = jobs.Claim
	// Granted is a claim that was accepted.
	Granted = jobs.Granted
	// Finished reports that the command of a job has exited.
	Finished = jobs.Finished
	// Hosts gives access to the hosts that execute attempts.
	Hosts = jobs.Hosts
	// Blame tells why an attempt was refused: because of the node or of the job.
	Blame = jobs.Blame
	// Result is how an attempt ended, as reported by its claimant.
	Result = jobs.Result
	// Signer signs a text for the user of this process. It returns nil and no error if the
	// user has no key.
	Signer = jobs.Signer
	// Counterparts are the jobs of some arrays, by index.
	Counterparts = jobs.Counterparts
	// Submission is a job, or an array of jobs, for the queue.
	Submission = jobs.Submission
	// Element is the part of a job of an array that differs from the others.
	Element = jobs.Element
	// Alteration lists changes to a waiting job; nil fields stay as they are.
	Alteration = jobs.Alteration
)

// AltersRunning reports whether a field of an Alteration can also change while a job runs.
func AltersRunning(field string) bool { return jobs.AltersRunning(field) }

const (
	BlameNobody = jobs.BlameNobody
	BlameNode   = jobs.BlameNode   // it counts against the node
	BlameJob    = jobs.BlameJob    // any other node would refuse the job, too
	BlameHealth = jobs.BlameHealth // the node is not healthy: it is drained, for the reason of the refusal
	MaxArray    = jobs.MaxArray
	UsualArray  = jobs.UsualArray
	MaxIndex    = jobs.MaxIndex
)

// SignalName returns the name of a signal as people write it, or its number if it has none.
func SignalName(sig int) string { return jobs.SignalName(sig) }

// States of attempts. A job that has its nodes has a current attempt. The process that will execute
// the command claims the attempt first, so that no other process does, and reports how it ended.
// Until then the job runs and keeps its nodes.
type (
	// AttemptState is the state of an attempt.
	AttemptState = row.AttemptState
	// Claimant is the process that has claimed an attempt.
	Claimant = row.Claimant
	// Outcome is how an attempt ended.
	Outcome = row.Outcome
	// Nonce identifies the process that executes an attempt. It is drawn at random before the
	// claim.
	Nonce = row.Nonce
	// Process identifies a process among all past and present ones: Born is its start time in
	// /proc/PID/stat.
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
	OutcomeExited   = row.OutcomeExited   // its command ended by itself
	OutcomeSignal   = row.OutcomeSignal   // a signal ended its command
	OutcomeWalltime = row.OutcomeWalltime // ended because its walltime was over
	OutcomeOOM      = row.OutcomeOOM      // used more memory than it had asked for
	OutcomeUnbegun  = row.OutcomeUnbegun  // certainly, nothing of it was executed
	OutcomeRefused  = row.OutcomeRefused  // the host could not execute it
	OutcomeLost     = row.OutcomeLost     // it may have been executed; how it ended is unknown
	OutcomeStopped  = row.OutcomeStopped  // stopped on request
)

// Attendant is a process that waits for a job's start and executes its command itself. While
// it or the command lives, it holds a lock under its nonce.
type Attendant = row.Attendant

// JobState is the state of a job. String returns its word. Rows hold the number, so the
// package that writes them defines it.
type JobState = row.JobState

// The states of a job.
const (
	JobHeld      = row.JobHeld
	JobQueued    = row.JobQueued
	JobReserved  = row.JobReserved // it has a planned start
	JobRunning   = row.JobRunning
	JobFinished  = row.JobFinished
	JobFailed    = row.JobFailed
	JobCancelled = row.JobCancelled

	// JobLate is a planned job that cannot begin on time, because an overdue job is on its
	// nodes or a node is not up. It has no start and no nodes until a writer replans it. Only
	// a View shows this state; no file has it.
	JobLate = row.JobLate
)

// When is how far another job must have come before a job that depends on it may start. String
// returns its word. Like JobState, it is the number that rows hold.
type When = row.When

// The kinds of dependency.
const (
	After      = row.After      // it has started
	AfterOK    = row.AfterOK    // it has ended with status 0
	AfterNotOK = row.AfterNotOK // it has failed, or was cancelled
	AfterAny   = row.AfterAny   // it has ended, however
)

// PayloadKey identifies a payload. String returns it in hexadecimal.
type PayloadKey = row.PayloadKey

// NoLimit is the value of a ResourceLimit that does not limit.
const NoLimit = row.NoLimit

// Reason tells why a job or attempt is in its state, or why an event happened: a code for
// programs, the actor, and words for people. String returns all of it in words, or "".
type Reason = row.Reason

// Cause is the word of a Reason. The words do not change, but later versions may add some.
type Cause = row.Cause

// Causes that callers ask for.
const (
	CauseRequest   = row.CauseRequest
	CauseUnreached = row.CauseUnreached
	CauseLeftover  = row.CauseLeftover
	CauseNever     = row.CauseNever
	CauseUnsigned  = row.CauseUnsigned
)

// MaxName is the longest name of anything, in bytes.
const MaxName = index.MaxNodeName
