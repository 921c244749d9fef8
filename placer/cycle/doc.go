// Package cycle makes one pass over a queue: the waiting jobs are started or planned in
// order, and others are backfilled around them. It is pure. A pass decides, on the
// snapshots of package placer; its Host verifies what was decided and carries it out.
// Package store is the host of a file, and package placer/cluster that of a simulation,
// so that both schedule by the same code.
//
// # The rules
//
// A pass takes jobs in the order of the queue. A job that fits now starts. One that does not
// gets a plan, at the earliest start that the jobs before it leave, if it is among the first
// Depth such jobs. Later jobs still start if they fit around the plans. So a plan is never
// delayed by a job behind it. It is delayed by a job that comes before it, and otherwise kept
// or improved.
//
// # What it does not know
//
// It does not know why a job waits for anything but room, what happens to overdue jobs, what a
// class may start, or how starts are reported. The host hands over the jobs that may start,
// and says of each whether it may in this pass.
//
// Reading the source: pass.go goes through the queue, consider.go decides about a job, lift.go takes
// plans away for jobs that come first, puts them back, and tries jobs again if a plan behind them has
// left its room, makeway.go preempts running jobs, kind.go has what a pass knows of requests, freed.go
// and memory.go what it hands on to later ones, bound.go saves searches, widest.go is the order of
// BESTFIT, relaxed.go promises and shortest first.
package cycle
