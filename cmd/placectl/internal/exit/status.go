// Package exit is how a run ends: the exit statuses, the one table that leads from errors
// to them, the words that programs get besides, and an error as text and as JSON. It knows
// no verb.
package exit

import (
	"strconv"
	"syscall"
)

// The exit statuses. Scripts branch on them: they must not change.
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

// The exit statuses of shells, env, nohup and others for a command that there is not,
// or that cannot be executed.
const (
	NotExecutable = 126
	NoProgram     = 127
)

// Own is added to what a verb has to say itself that passes on the exit status of a
// command, as long as that was not begun.
const Own = 100

// Meanings is what help says of each.
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
	{Unknown, "outcome unknown: check before you repeat it", "the outcome is unknown: check whether it was done before you repeat it"},
	{Lost, "done, answer lost", "done, but the answer could not be written"},
	{Crash, "crash", "placectl has crashed: whether anything was changed is unknown"},
	{Interrupted, "interrupted", "interrupted"},
}

// UnknownKeyed is what help says of Unknown where a verb has --key.
var UnknownKeyed = Meaning{Unknown, "outcome unknown: repeat it with the same --key", "the outcome is unknown: repeat it with the same --key"}

// Meaning is what an exit status means, in a word or two and in full.
type Meaning struct {
	Code        int
	Brief, Text string
}

// Pipe is what a shell says of a process that SIGPIPE has ended.
const Pipe = 128 + int(syscall.SIGPIPE)

// Status ends the run with a status and no message: `run` passes its command's on.
type Status int

// Error implements error.
func (e Status) Error() string { return "exit status " + strconv.Itoa(int(e)) }
