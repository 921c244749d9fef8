// Package exit defines how a run ends: the exit statuses, the one table that maps errors to them, the
// words for programs, and errors as text and as JSON. It knows no verb.
package exit

import (
	"strconv"
	"syscall"
)

// The exit statuses. They must not change, because scripts branch on them.
const (
	OK          = 0
	Failed      = 1
	Usage       = 2
	NotNow      = 3
	Never       = 4
	NotFound    = 5
	Locked      = 6
	Conflict    = 7
	Damaged     = 8
	Unknown     = 9
	Lost        = 10
	Crash       = 70
	Interrupted = 130
)

// The exit statuses of shells, env, nohup and others for a command that does not exist, or cannot be
// executed.
const (
	NotExecutable = 126
	NoProgram     = 127
)

// Own is added to the exit status of a verb's own failure, before its command has begun, if the verb
// passes on the command's exit status.
const Own = 100

// Meanings are the help texts of exit statuses.
var Meanings = []Meaning{
	{OK, "done", "done"},
	{Failed, "failed", "failed"},
	{Usage, "usage", "wrong usage, or malformed input"},
	{NotNow, "not now", "not now: it would fit later"},
	{Never, "never", "never: this cluster cannot hold it"},
	{NotFound, "not found", "no such job, node, reservation, ..."},
	{Locked, "lock timeout", "timed out waiting for the lock"},
	{Conflict, "conflict", "conflicts with the present state"},
	{Damaged, "file damaged or not ours", "the file is damaged, not placectl's, or of a newer version"},
	{Unknown, "outcome unknown: check before you repeat it",
		"the outcome is unknown: check whether it was done before you repeat it"},
	{Lost, "done, answer lost", "done, but the answer could not be written"},
	{Crash, "crash", "placectl has crashed: whether anything was changed is unknown"},
	{Interrupted, "interrupted", "interrupted"},
}

// UnknownKeyed is the help text of Unknown for a verb with --key.
var UnknownKeyed = Meaning{Unknown, "outcome unknown: repeat it with the same --key",
	"the outcome is unknown: repeat it with the same --key"}

// Meaning is the meaning of an exit status, in a word or two and in full.
type Meaning struct {
	Code        int
	Brief, Text string
}

// Pipe is a shell's exit status for a process ended by SIGPIPE.
const Pipe = 128 + int(syscall.SIGPIPE)

// Status ends the run with a status and no message. run uses it to pass on its command's status.
type Status int

// Error implements error.
func (e Status) Error() string { return "exit status " + strconv.Itoa(int(e)) }
