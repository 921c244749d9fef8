package store

import "github.com/placectl/placectl/store/internal/row"

// Reason is why a job or an attempt is as it is, or why an event happened: a code for programs, the
// actor, and words for people. Its String has all of it in words, or is "".
type Reason = row.Reason

// Cause is the word of a Reason. The words do not change; later versions may have more.
type Cause = row.Cause

// Causes that callers ask for.
const (
	CauseRequest   = row.CauseRequest
	CauseUnreached = row.CauseUnreached
	CauseNever     = row.CauseNever
)

// wish is the reason for what the actor of the transaction requests.
func (tx *Tx) wish(why string) Reason {
	r := row.Because(row.CauseRequest, why)
	if a := tx.opt.Actor; a != nil {
		r.By = a.User
	}
	return r
}

// outrun is the reason of a job that has lost its plan to jobs before it.
var outrun = row.Because(row.CauseDisplaced, "jobs before it took its place")

// Causes lists the causes.
func Causes() []Cause { return row.Causes() }
