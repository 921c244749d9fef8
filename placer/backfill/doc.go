// Package backfill replays a log of jobs, and computes when each would have started. It has its own
// policies for a machine with a number of processors: first come, first served, EASY backfilling,
// conservative and relaxed backfilling. Any other Scheduler can decide instead. It is pure: jobs in,
// starts out, no files and no clock.
//
// Package cluster also replays logs, by the passes of placer/cycle. On one node with as many processors
// these give the same starts under fcfs, easy and relaxed, but take 20 to 80 times as long (KTH-SP2,
// 28,481 jobs: 33 to 67 ms of processor time here, 1.0 to 5.1 s there). Under conservative they put
// jobs back in another way, and the starts would not be the published ones.
//
// # Rules
//
// Decisions at one instant depend on the order in which a simulator looks at things, and averages over a
// log change by some per cent with it. These rules are those of pyss and predictsim, so that each start
// can be compared with theirs:
//
//   - A job takes its processors for its whole run, is never stopped, and is
//     planned with its request. No run is longer than the request.
//
//   - Events at one instant: first submissions, in the order of the log; then
//     ends, in the order in which the jobs started; then starts, in the order
//     in which they were decided.
//
//   - The policy passes over the queue after every submission and every end, not
//     once an instant. What one submission leads to is decided before the next
//     submission at the same instant is seen.
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
