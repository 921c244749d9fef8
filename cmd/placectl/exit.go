package main

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/store"
)

// The exit statuses. Scripts branch on them: they must not change.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNotNow      = 3
	exitNever       = 4
	exitNotFound    = 5
	exitLocked      = 6
	exitConflict    = 7
	exitDamaged     = 8
	exitUnknown     = 9
	exitLost        = 10
	exitCrash       = 70
	exitInterrupted = 130
)

// The exit statuses of shells, env, nohup and others for a command that there is not,
// or that cannot be executed.
const (
	statusNotExecutable = 126
	statusNoProgram     = 127
)

// ownStatus is added to what a verb has to say itself that passes on the exit status of a
// command, as long as that was not begun.
const ownStatus = 100

// exitMeanings is what help says of each.
var exitMeanings = []struct {
	code int
	text string
}{
	{exitOK, "done"},
	{exitFailed, "failed"},
	{exitUsage, "wrong usage, or malformed input"},
	{exitNotNow, "not now: it would fit later"},
	{exitNever, "never: this cluster cannot hold it"},
	{exitNotFound, "no such job, node, reservation, ..."},
	{exitLocked, "the lock was not had in time"},
	{exitConflict, "conflicts with the present state"},
	{exitDamaged, "the file is damaged, not placectl's, or of a newer version"},
	{exitUnknown, "the outcome is unknown: look whether it was done before it is run again"},
	{exitLost, "done, but the answer could not be written"},
	{exitCrash, "placectl has crashed: whether anything was changed is unknown"},
	{exitInterrupted, "interrupted"},
}

// exitUnknownKeyed is what help says of exitUnknown where a verb has --key.
const exitUnknownKeyed = "the outcome is unknown: run it again with the same --key"

// errNoVerb is the emptiest of usage errors.
var errNoVerb = usage.Of("", "a verb is missing")

// exitTable leads from errors to exit statuses; the first row that errors.Is
// finds counts, and an error without a row is 1.
var exitTable = []exitRow{
	{errLost, exitLost, reasonLost},
	{errCrash, exitCrash, reasonCrash},
	{usage.Err, exitUsage, reasonUsage},
	{infile.ErrInput, exitUsage, reasonUsage},
	{context.Canceled, exitInterrupted, reasonInterrupted},
	{placer.ErrRequest, exitUsage, reasonBadRequest},
	{query.ErrQuery, exitUsage, reasonBadQuery},
	{query.ErrLimit, exitFailed, reasonLimit},
	{placer.ErrNotNow, exitNotNow, reasonNotNow},
	{errNotYet, exitNotNow, reasonNotYet},
	{placer.ErrNever, exitNever, reasonNever},
	{store.ErrBatchIdle, exitNotNow, reasonBatchIdle},
	{store.ErrBatchOver, exitNotNow, reasonBatchOver},
	{errBatchFinished, exitNever, reasonBatchFinished},
	{store.ErrDamaged, exitDamaged, reasonDamaged},
	{index.ErrCorrupt, exitDamaged, reasonDamaged},
	{store.ErrNotOurs, exitDamaged, reasonNotOurs},
	{store.ErrUnsafe, exitDamaged, reasonUnsafe},
	{store.ErrNewer, exitDamaged, reasonNewer},
	{store.ErrUnknown, exitUnknown, reasonUnknown},
	{store.ErrLocked, exitLocked, reasonLocked},
	{store.ErrClock, exitConflict, reasonClock},
	{store.ErrExists, exitConflict, reasonExists},
	{index.ErrResourceDup, exitConflict, reasonExists},
	{locality.ErrNotHeld, exitConflict, reasonNotHeld},
	{store.ErrConflict, exitConflict, reasonConflict},
	{store.ErrInvalid, exitUsage, reasonInvalid},
	{index.ErrResource, exitUsage, reasonInvalid},
	{index.ErrNodeList, exitUsage, reasonInvalid},
	{store.ErrNotFound, exitNotFound, reasonNotFound},
	{index.ErrNoResource, exitNotFound, reasonNotFound},
}

type exitRow struct {
	err    error
	code   int
	reason reason
}

// usagef makes a usage error about the verb that runs.
func usagef(format string, args ...any) error { return usage.Errorf(format, args...) }

// statusError ends the run with a status and no message: `run` passes its
// command's on.
type statusError int

func (e statusError) Error() string { return "exit status " + strconv.Itoa(int(e)) }

// classify finds the exit status and the reason of an error.
func classify(err error) (int, reason) {
	for _, row := range exitTable {
		if errors.Is(err, row.err) {
			return row.code, row.reason
		}
	}
	var program *launch.Error
	switch {
	case !errors.As(err, &program):
		return exitFailed, reasonFailed
	case program.Missing():
		return statusNoProgram, reasonNoCommand
	}
	return statusNotExecutable, reasonNotExecutable
}

// report tells the user about err, in the form that -o asks for, and returns
// the exit status.
func (r *runner) report(err error) int {
	var status statusError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &status):
		return int(status)
	}
	code, why := classify(err)
	if r.verb != nil && r.verb.Passes && !r.begun && code < ownStatus {
		code += ownStatus
	}
	if code == exitInterrupted {
		err = errors.New("interrupted")
	}
	var text []byte
	if r.audience().Document {
		text = appendErrorJSON(nil, err, code, why)
	} else {
		text = r.errorText(err)
	}
	r.stderr.Write(text) // there is nowhere left to complain to
	return code
}

// appendErrorJSON writes {"error":{...}} as one line.
func appendErrorJSON(b []byte, err error, code int, why reason) []byte {
	b = append(b, `{"error":{"code":`...)
	b = strconv.AppendInt(b, int64(code), 10)
	b = append(b, `,"message":`...)
	b = output.AppendJSONString(b, err.Error())
	b = append(b, `,"reason":`...)
	b = output.AppendJSONString(b, string(why))
	var e interface{ Earliest() (int64, bool) }
	if errors.As(err, &e) {
		if at, ok := e.Earliest(); ok {
			b = append(b, `,"earliest":"`...)
			b = append(spell.AppendRFC3339(b, at), '"')
		}
	}
	return append(b, "}}\n"...)
}

// errorText is an error for people: one line for each error of a joined one,
// and for a usage error where to read more.
func (r *runner) errorText(err error) []byte {
	var b []byte
	for _, e := range unjoin(err) {
		b = append(b, "placectl: "+spell.Printable(r.localTimes(e.Error()))+"\n"...)
	}
	var refused interface{ Earliest() (int64, bool) }
	if errors.As(err, &refused) {
		if at, ok := refused.Earliest(); ok && at > r.now().Unix() {
			b = append(spell.AppendLocal(append(b, "placectl: it could start at "...), at, r.loc), " (in "...)
			b = append(spell.AppendDuration(b, at-r.now().Unix()), ")\n"...)
		}
	}
	var caret interface{ Caret() string }
	if r.stderrTTY && errors.As(err, &caret) {
		b = appendCaret(b, caret.Caret())
	}
	var wrong *usage.Error
	if errors.As(err, &wrong) {
		b = append(b, r.usageHint(wrong)...)
	}
	return b
}

// unjoin takes an errors.Join apart, and nothing else: only there does a line
// break stand between errors rather than inside a name.
func unjoin(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var texts []string
	var all []error
	for _, e := range joined.Unwrap() {
		texts = append(texts, e.Error())
		all = append(all, unjoin(e)...)
	}
	if strings.Join(texts, "\n") != err.Error() {
		return []error{err}
	}
	return all
}

// appendCaret adds the input and the mark below it, unless an unprintable
// character would push the mark out of place.
func appendCaret(b []byte, caret string) []byte {
	lines := strings.Split(strings.TrimRight(caret, "\n"), "\n")
	for _, line := range lines {
		if spell.Printable(line) != line {
			return b
		}
	}
	for _, line := range lines {
		b = append(b, "  "+line+"\n"...)
	}
	return b
}
