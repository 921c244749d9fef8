package backfill

import (
	"errors"
	"fmt"
	"math"
)

// A Job is a job of a log. Times are in seconds, or any other unit.
type Job struct {
	Submit  int64
	Run     int64 // from 0 to Request
	Request int64 // the duration it is planned with, at least 1
	Procs   int64 // at least 1
}

// Policy says which jobs may pass others.
type Policy uint8

const (
	FCFS         Policy = iota // none may
	EASY                       // jobs start early if that does not delay the first in the queue
	Conservative               // jobs start early if that delays no other
	Relaxed                    // the shortest first, while the first in the queue keeps its promise
)

var policyNames = [...]string{FCFS: "fcfs", EASY: "easy", Conservative: "conservative", Relaxed: "relaxed"}

func (p Policy) String() string {
	if int(p) < len(policyNames) {
		return policyNames[p]
	}
	return fmt.Sprintf("policy %d", uint8(p))
}

// PolicyNames lists the policies by name; a name's place is its Policy.
func PolicyNames() []string { return policyNames[:] }

// ErrJob is wrapped by every refusal of a job: it is invalid, it is wider than the machine, or the sum
// of all times overflows.
var ErrJob = errors.New("cannot be simulated")

// latest limits the instants of a simulation on both sides of 0. Sums of two of them do not overflow.
const latest = math.MaxInt64 / 4

// never is after everything.
const never = math.MaxInt64

// check refuses jobs that cannot be simulated, and returns bounds of all instants.
func check(procs int64, jobs []Job) (first, end int64, err error) {
	if procs < 1 || procs > MaxProcs {
		return 0, 0, fmt.Errorf("a machine must have from 1 to %d processors, not %d", int64(MaxProcs), procs)
	}
	for i, j := range jobs {
		if j.Procs < 1 || j.Procs > procs {
			return 0, 0, fmt.Errorf("%w: job number %d has %d processors of %d", ErrJob, i+1, j.Procs, procs)
		}
	}
	return checkTimes(jobs)
}

func checkTimes(jobs []Job) (first, end int64, err error) {
	sum, last := int64(0), int64(0)
	for i, j := range jobs {
		switch {
		case j.Run < 0 || j.Request < 1 || j.Run > j.Request:
			return 0, 0, fmt.Errorf("%w: job number %d runs %d of %d", ErrJob, i+1, j.Run, j.Request)
		case j.Submit < -latest || j.Submit > latest || j.Request > latest-sum:
			return 0, 0, fmt.Errorf("%w: the times of the jobs up to number %d are too large", ErrJob, i+1)
		}
		sum += j.Request
		if i == 0 {
			first, last = j.Submit, j.Submit
		}
		first, last = min(first, j.Submit), max(last, j.Submit)
	}
	return first, last + sum + 1, nil
}
