// Package runner executes the commands of jobs, each attempt of a job at most once,
// whoever dies at whatever moment.
//
// An attempt is executed by a supervisor, a process of its own (supervise.go). Passes
// (pass.go) start supervisors, and settle what supervisors left behind that were killed
// (settle.go). All of them meet in the attempt's directory, STATE/ID.EPOCH/JOB.ATTEMPT,
// and in the database, in this order:
//
//  1. The supervisor locks the directory. Two of them exclude each other by that alone.
//  2. It writes a nonce into a journal that nobody has made before. From here on the
//     directory says that somebody was here: no other supervisor begins.
//  3. It claims the attempt in the database with the nonce. One claim is accepted.
//  4. It forks a child, the gate, which waits to become the command (launch.Hold). The child's pid goes into the journal, and then the child gets one byte. When
//     the supervisor dies before, the gate reads the end of the pipe, notes that it gives
//     up, and ends.
//  5. What came of it is written into the directory, told to the database, and then the
//     directory is removed. Telling it can claim another attempt in the same commit (turn.go),
//     for which steps 1 and 2 were done before: the supervisor goes on with that.
//
// So a journal without a pid says that certainly nothing was executed, and one with a pid
// that perhaps it was: then the attempt is adopted while its process lives, and lost
// otherwise, but never executed again. Lines are written before the step that they make safe,
// and not synced: a process that is killed takes none away. After a loss of power some may be
// missing, so what was claimed in another boot of the host and has no result is lost. Nothing
// here is decided by a clock.
//
// The package knows a database through an interface (database.go), and starts programs
// through package launch.
package runner
