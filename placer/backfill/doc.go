// Package backfill replays a log of jobs, and says when each would have started. On a
// machine of so many processors it decides that itself: first come first served, with
// EASY backfilling, or with conservative backfilling. Any other Scheduler can decide in
// its place. It is pure: jobs in, starts out, no files and no clock.
//
// Why it decides itself, though package cluster replays by the passes of placer/cycle: on one node
// of as many processors these give the same starts under fcfs, easy and relaxed, and take 20 to 80
// times as long (KTH-SP2, 28,481 jobs: 33 to 67 ms of a processor here, 1.0 to 5.1 s there). Under
// conservative they put the jobs back in another way, and 28,481 starts would not be the published ones.
//
// # Rules
//
// What a simulator decides at one instant depends on the order in which it
// looks at things, and averages over a log move by per cents with it. These
// rules are those of pyss and predictsim, so that starts can be compared with
// theirs one by one:
//
//   - A job takes its processors for its whole run, is never stopped, and is
//     planned with its request. No run is longer than the request.
//
//   - Events at one instant: first submissions, in the order of the log; then
//     ends, in the order in which the jobs started; then starts, in the order
//     in which they were decided.
//
//   - After every single event of these the policy passes over the queue once,
//     not once an instant: what one submission leads to is decided before the
//     next submission at the same instant is seen. (A start gives it nothing to
//     decide.)
//
//   - From the instant at which its request ends a job counts as gone, though
//     its end may be an event yet to come at that instant.
//
//   - FCFS starts the queue's head while it fits.
//
//   - EASY does that, then plans the head for its earliest time, and then walks
//     the rest in order and starts what fits now beside that plan. The plan is
//     forgotten after the pass.
//
//   - Conservative plans a job when it is submitted, at its earliest time beside
//     all other plans. At each end it takes every job whose time has not come,
//     in order of submission, out of the plan and puts it back at its earliest
//     time. That is never later than before. A job whose time is now counts as
//     started, whether or not its start has had its turn among the events.
//
//   - Relaxed starts the queue's head while it fits. The first that does not is planned
//     a slack after its earliest time, once: that plan stands until it starts. The rest
//     starts beside it, the shortest request first.
//
// # Invariants
//
//   - What runs at an instant never exceeds the machine.
//   - Jobs of FCFS start in order of submission.
//   - Conservative: no job starts later than it was first planned.
//   - Relaxed: no job starts later than it was promised.
//   - The same jobs give the same starts, always.
package backfill
