// Package cycle makes one pass over a queue: the waiting jobs are started or planned in
// order, and others are backfilled around them. It is pure. A pass decides, on the
// snapshots of package placer; its Host verifies what was decided and carries it out.
// Package store is the host of a file, and package placer/cluster that of a simulation,
// so that both schedule by the same code.
//
// # The rules
//
// Jobs are taken in the order of the queue. One that fits now starts. One that does not
// is given a plan, the earliest start that all earlier ones leave it, if it is among the
// first so many that get one; behind it others still start as long as they fit around
// what is planned. So a plan is never put off for a job behind it. It is put off for one
// that is put before it, and kept or improved otherwise.
//
// # What it does not know
//
// Why a job waits for anything but room, what follows when a job runs too long, what a
// class may start, who is told of a start: the host hands over the jobs that may have
// their nodes, and says of each whether it may start in this pass.
//
// Reading the source: pass.go goes through the queue, consider.go decides a job,
// lift.go takes plans away for jobs that come first and puts them back,
// makeway.go has running jobs stopped for one that does not fit, kind.go is what
// a pass knows of requests, freed.go what passes hand on to later ones, bound.go what
// spares searches, widest.go the order of BESTFIT, relaxed.go promises and the shortest first.
package cycle
