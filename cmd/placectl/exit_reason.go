package main

import (
	"fmt"
	"strings"
)

// reason is one word for why a run has failed, finer than its exit status: what
// -o json gives as error.reason, for programs to branch on. The words must not
// change; the message beside them may.
type reason string

const (
	reasonFailed        reason = "failed" // whatever has no word of its own
	reasonLimit         reason = "limit"  // a query went beyond what one may cost
	reasonUsage         reason = "usage"  // the command line, or a file that it names
	reasonBadRequest    reason = "bad_request"
	reasonBadQuery      reason = "bad_query"
	reasonInvalid       reason = "invalid" // a value that makes no sense
	reasonNotNow        reason = "not_now"
	reasonNotYet        reason = "not_yet"    // what was waited for has not happened in time
	reasonBatchIdle     reason = "batch_idle" // nothing for this host now
	reasonBatchOver     reason = "batch_over" // every job is given, not all are finished
	reasonNever         reason = "never"
	reasonBatchFinished reason = "batch_finished"
	reasonNotFound      reason = "not_found"
	reasonLocked        reason = "locked"
	reasonConflict      reason = "conflict"
	reasonExists        reason = "exists"
	reasonNotHeld       reason = "not_held" // a host reports a batch's job that is no longer its own
	reasonClock         reason = "clock_behind"
	reasonDamaged       reason = "damaged"
	reasonNotOurs       reason = "not_ours"
	reasonUnsafe        reason = "unsafe"
	reasonNewer         reason = "newer"
	reasonUnknown       reason = "unknown_outcome"
	reasonLost          reason = "answer_lost"
	reasonCrash         reason = "crash"
	reasonNotExecutable reason = "not_executable"
	reasonNoCommand     reason = "no_command"
	reasonInterrupted   reason = "interrupted"
)

// exitReasons are all of them, by the exit status that they come with.
var exitReasons = []struct {
	code    int
	reasons []reason
}{
	{exitFailed, []reason{reasonFailed, reasonLimit}},
	{exitUsage, []reason{reasonUsage, reasonBadRequest, reasonBadQuery, reasonInvalid}},
	{exitNotNow, []reason{reasonNotNow, reasonNotYet, reasonBatchIdle, reasonBatchOver}},
	{exitNever, []reason{reasonNever, reasonBatchFinished}},
	{exitNotFound, []reason{reasonNotFound}},
	{exitLocked, []reason{reasonLocked}},
	{exitConflict, []reason{reasonConflict, reasonExists, reasonNotHeld, reasonClock}},
	{exitDamaged, []reason{reasonDamaged, reasonNotOurs, reasonUnsafe, reasonNewer}},
	{exitUnknown, []reason{reasonUnknown}},
	{exitLost, []reason{reasonLost}},
	{exitCrash, []reason{reasonCrash}},
	{statusNotExecutable, []reason{reasonNotExecutable}},
	{statusNoProgram, []reason{reasonNoCommand}},
	{exitInterrupted, []reason{reasonInterrupted}},
}

// writeReasons lists them in help.
func writeReasons(b *strings.Builder) {
	b.WriteString("\nREASONS (error.reason of -o json, by exit status)\n")
	for _, row := range exitReasons {
		words := make([]string, len(row.reasons))
		for i, w := range row.reasons {
			words[i] = string(w)
		}
		fmt.Fprintf(b, "  %3d  %s\n", row.code, strings.Join(words, ", "))
	}
}
