package exit

import (
	"context"
	"errors"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/launch"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/query/fault"
)

// Reason is one word for why a run has failed, finer than its exit status. -o json gives it as error.code,
// for programs to branch on. The words must not change, the messages beside them may.
type Reason string

const (
	ReasonFailed        Reason = "failed" // anything without a word of its own
	ReasonLimit         Reason = "limit"  // a query exceeded its cost limit, or a request a user's limit
	ReasonNotPermitted  Reason = "not_permitted"
	ReasonUsage         Reason = "usage" // wrong command line, or a file that it names
	ReasonBadRequest    Reason = "bad_request"
	ReasonBadQuery      Reason = "bad_query"
	ReasonInvalid       Reason = "invalid" // an impossible value
	ReasonNotNow        Reason = "not_now"
	ReasonNotYet        Reason = "not_yet"    // the event did not come in time
	ReasonBatchIdle     Reason = "batch_idle" // nothing for this host at present
	ReasonBatchOver     Reason = "batch_over" // every job is handed out, not all are finished
	ReasonNever         Reason = "never"
	ReasonBatchFinished Reason = "batch_finished"
	ReasonNotFound      Reason = "not_found"
	ReasonLocked        Reason = "locked"
	ReasonUnreached     Reason = "unreached" // the database's host was unreachable, and nothing was done
	ReasonConflict      Reason = "conflict"
	ReasonExists        Reason = "exists"
	ReasonNotHeld       Reason = "not_held" // a host reports a batch's job that is no longer its own
	ReasonGone          Reason = "gone"     // requested events have been dropped
	ReasonClock         Reason = "clock_behind"
	ReasonCopy          Reason = "copy" // nothing is executed from a copy of a database
	ReasonDamaged       Reason = "damaged"
	ReasonNotOurs       Reason = "not_ours"
	ReasonUnsafe        Reason = "unsafe"
	ReasonNewer         Reason = "newer"
	ReasonUnknown       Reason = "unknown_outcome"
	ReasonLost          Reason = "answer_lost"
	ReasonCrash         Reason = "crash"
	ReasonNotExecutable Reason = "not_executable"
	ReasonNoCommand     Reason = "no_command"
	ReasonInterrupted   Reason = "interrupted"
)

// reasons lists all reasons by exit status.
var reasons = []struct {
	code  int
	words []Reason
}{
	{Failed, []Reason{ReasonFailed, ReasonLimit, ReasonNotPermitted}},
	{Usage, []Reason{ReasonUsage, ReasonBadRequest, ReasonBadQuery, ReasonInvalid}},
	{NotNow, []Reason{ReasonNotNow, ReasonLimit, ReasonNotYet, ReasonBatchIdle, ReasonBatchOver}},
	{Never, []Reason{ReasonNever, ReasonBatchFinished}},
	{NotFound, []Reason{ReasonNotFound}},
	{Locked, []Reason{ReasonLocked, ReasonUnreached}},
	{Conflict, []Reason{ReasonConflict, ReasonExists, ReasonNotHeld, ReasonGone, ReasonClock, ReasonCopy}},
	{Damaged, []Reason{ReasonDamaged, ReasonNotOurs, ReasonUnsafe, ReasonNewer}},
	{Unknown, []Reason{ReasonUnknown}},
	{Lost, []Reason{ReasonLost}},
	{Crash, []Reason{ReasonCrash}},
	{NotExecutable, []Reason{ReasonNotExecutable}},
	{NoProgram, []Reason{ReasonNoCommand}},
	{Interrupted, []Reason{ReasonInterrupted}},
}

// EachReason calls fn for each exit status, with its reasons.
func EachReason(fn func(code int, words string)) {
	for _, row := range reasons {
		words := make([]string, len(row.words))
		for i, w := range row.words {
			words[i] = string(w)
		}
		fn(row.code, strings.Join(words, ", "))
	}
}

// Errors of the verbs themselves.
var (
	// the work is done, and its answer could not be written
	ErrLost   = errors.New("done, but the answer was lost")
	ErrCrash  = errors.New("placectl has crashed, which is a bug; check whether it was done") // a panic
	ErrNotYet = errors.New("timed out")                                                       // a wait timed out
	// a waiting job has not made this yet
	ErrNothingYet = errors.New("not yet")
	// dropped according to the settings keep_ended and keep_events
	ErrGone = errors.New("the events are gone")
	// ssh did not connect
	ErrUnreached = errors.New("the host could not be reached; nothing was done")
	// ends the loop of a host, because nothing more will come
	ErrBatchFinished = errors.New("every job of the batch is finished")
)

// table maps errors to exit statuses. The first row that errors.Is matches counts. An error without a
// row is 1.
var table = []failure{
	{ErrLost, Lost, ReasonLost},
	{ErrCrash, Crash, ReasonCrash},
	{usage.Err, Usage, ReasonUsage},
	{infile.ErrInput, Usage, ReasonUsage},
	{output.ErrNoColumn, Usage, ReasonUsage},
	{context.Canceled, Interrupted, ReasonInterrupted},
	{placer.ErrRequest, Usage, ReasonBadRequest},
	{fault.ErrQuery, Usage, ReasonBadQuery},
	{fault.ErrLimit, Failed, ReasonLimit},
	{engine.ErrNotPermitted, Failed, ReasonNotPermitted},
	{placer.ErrLimit, NotNow, ReasonLimit},
	{placer.ErrNotNow, NotNow, ReasonNotNow},
	{ErrNotYet, NotNow, ReasonNotYet},
	{ErrNothingYet, NotNow, ReasonNotYet},
	{placer.ErrNever, Never, ReasonNever},
	{engine.ErrBatchIdle, NotNow, ReasonBatchIdle},
	{engine.ErrBatchOver, NotNow, ReasonBatchOver},
	{ErrBatchFinished, Never, ReasonBatchFinished},
	{engine.ErrDamaged, Damaged, ReasonDamaged},
	{index.ErrCorrupt, Damaged, ReasonDamaged},
	{engine.ErrNotOurs, Damaged, ReasonNotOurs},
	{engine.ErrUnsafe, Damaged, ReasonUnsafe},
	{engine.ErrNewer, Damaged, ReasonNewer},
	{engine.ErrUnknown, Unknown, ReasonUnknown},
	{ErrGone, Conflict, ReasonGone},
	{ErrUnreached, Locked, ReasonUnreached},
	{engine.ErrLocked, Locked, ReasonLocked},
	{engine.ErrClock, Conflict, ReasonClock},
	{engine.ErrCopy, Conflict, ReasonCopy},
	{engine.ErrExists, Conflict, ReasonExists},
	{index.ErrResourceDup, Conflict, ReasonExists},
	{locality.ErrNotHeld, Conflict, ReasonNotHeld},
	{engine.ErrConflict, Conflict, ReasonConflict},
	{engine.ErrInvalid, Usage, ReasonInvalid},
	{index.ErrResource, Usage, ReasonInvalid},
	{index.ErrNodeList, Usage, ReasonInvalid},
	{engine.ErrNotFound, NotFound, ReasonNotFound},
	{index.ErrNoResource, NotFound, ReasonNotFound},
}

// failure is what an error means to a program.
type failure struct {
	err    error
	code   int
	reason Reason
}

// Classify returns the exit status and the reason of an error.
func Classify(err error) (int, Reason) {
	for _, row := range table {
		if errors.Is(err, row.err) {
			return row.code, row.reason
		}
	}
	var program *launch.Error
	switch {
	case !errors.As(err, &program):
		return Failed, ReasonFailed
	case program.Missing():
		return NoProgram, ReasonNoCommand
	}
	return NotExecutable, ReasonNotExecutable
}
