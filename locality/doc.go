// Package locality decides which host works on which jobs of a batch, so that the batch ends
// early and each file is sent to few hosts. A batch is a sequence of files and a sequence of
// jobs that each use a few consecutive files. The method follows BOINC's locality scheduling
// and its redesign with teams and cursors (https://github.com/BOINC/boinc/wiki/LocalityNew).
//
// # Slots and ranges
//
// Each result that a job needs is a slot. Slots are numbered job by job. For policies that
// split ranges they are numbered layer by layer: first the first result of every job, then the
// second of every job. Ranges of slots are disjoint, in order and cover all slots. A range
// (Cursor) is handed out from its low end, from its high end, or from both. What is between is
// open and has no record of its own, so splitting a range costs the same whatever its length.
//
// # Invariants
//
// Op.Check verifies them all, and says which rows disagree:
//   - First <= Unfinished <= Last+1, and everything below Unfinished and above Top
//     is terminal; Unfinished <= Generated.
//   - What remains of a range is the exact sum of its unfinished credit, in whole
//     micro-credits: 0 exactly when all of it is terminal.
//   - The speed of a range is the sum of what its hosts count for.
//   - A slot is in hands exactly if a host knows that it has it and a lease of it is
//     due; it waits behind its cursor exactly if its job says so.
//   - No two instances of a job that are in hands or answered belong to one host, or
//     to hosts of one user.
//
// # How to read it
//
// The nouns are in batch.go, job.go, task.go, host.go and cursor.go; an operation
// (Op) is one transaction over rows (rows.go) that the caller stores: create.go,
// next.go and pick.go, done.go, expire.go. Policies (policy*.go, again.go) only
// decide where hosts go. memory.go keeps rows in memory. The package knows neither
// files nor clocks: an operation is told what time it is.
package locality
