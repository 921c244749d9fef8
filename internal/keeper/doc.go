// Package keeper executes the commands of jobs, each attempt of a job at most once, whatever process
// dies at whatever moment.
//
// One process of a host, user and database executes them all, the keeper (keeper.go). Passes
// (pass.go) start it if there is something to do, and ring its bell. Killing it loses nothing: the
// next one takes over what it finds (settle.go). An attempt has a slot, a directory below
// STATE/ID.EPOCH that is reused, and goes through these steps in order:
//
//  1. The keeper holds a lock. That alone keeps two keepers from running at once.
//  2. It writes the attempt and a nonce into the journal of a free slot.
//  3. It claims the attempt in the database with the nonce, in a turn (turn.go). Only one claim is
//     accepted. The same commit reports attempts that have ended, and makes a cycle.
//  4. It records that it is about to tell the gate, and tells it (gate.Gate). The gate forks a
//     warden, and the warden the process that becomes the command. That process writes its number
//     into the journal, and then executes the command. The warden keeps the journal locked while it
//     lives. It reaps all of the command's descendants, and records how the command ended and when
//     nothing of it is left.
//  5. The keeper records the attempt's result, and reports it in a turn. Then the slot is free.
//
// So if a journal's lock is free and it lacks the number of the command, nothing was executed.
// With the number, the command was: the next keeper takes the attempt over while its warden or its
// command lives. The warden has recorded how it ended. If the warden was killed, the kernel may know.
// Otherwise the attempt is lost, but never executed again. Lines are written before the step that they
// make safe, and not synced: killing a process loses none. After a power failure some may be missing,
// so an attempt of an earlier boot without a recorded end is lost. No clock decides anything here.
//
// The package knows a database through an interface (database.go), and starts programs
// through package launch.
package keeper
