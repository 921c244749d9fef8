// Package runner executes the commands of jobs, each attempt of a job at most once,
// whatever dies at whatever moment.
//
// One process of a host, user and database executes them all, the keeper (keeper.go). Passes
// (pass.go) start it if there is something to do, and ring its bell. It is killed without a loss: the
// next one takes over what it finds (settle.go). An attempt has a slot, a directory below
// STATE/ID.EPOCH that is used again, and these steps are made in this order:
//
//  1. The keeper holds a lock. Two of them exclude each other by that alone.
//  2. It writes the attempt and a nonce into the journal of a free slot.
//  3. It claims the attempt in the database with the nonce, in a turn (turn.go). One claim is
//     accepted. The same commit reports attempts that have ended, and makes a cycle.
//  4. It writes down that the gate is about to be told, and tells it (launch.Gate). The gate forks a
//     warden, and the warden the process that becomes the command. That writes its number into the
//     journal, and then executes. The warden has the journal locked while it lives. It is the reaper
//     of all that the command starts, and writes down how the command ended and when nothing of it is
//     left.
//  5. The keeper writes down what came of the attempt, and reports it in a turn. Then the slot is
//     free.
//
// So if the lock of a journal is free and it lacks the number of the command, nothing was executed.
// With the number, the command was: the next keeper takes the attempt over while its warden or its
// command lives. The warden has written down how it ended. If the warden was killed, the kernel may
// know; else the attempt is lost, but never executed again. Lines are written before the step that
// they make safe, and not synced: killing a process loses none. After a loss of power some may be
// missing, so an attempt of another boot without an end is lost. Nothing here is decided by a clock.
//
// The package knows a database through an interface (database.go), and starts programs
// through package launch.
package runner
