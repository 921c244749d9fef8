// Package fairshare divides workers among classes of jobs by load. A State goes in: how many workers
// there are, and what each class has running and waiting. A Plan comes out: how many tasks each class
// starts now, and from which of its jobs. If the classes have been too far from their loads for too
// long, it also says which running tasks make room.
//
// The method is that of Scoot's load-based scheduler (https://github.com/twitter/scoot,
// scheduler/server; testdata has its recorded answers), with these differences:
//
//   - The arithmetic is exact, and classes of equal load have an order.
//   - No worker is left idle while a task waits. So a class of load 0 gets what the others leave.
//   - If the shares of a loan come to nothing, the loads decide.
//   - Rebalancing counts starts against what waits, and stops no task for a worker that no class
//     wants. It forgets a spread that fell below the threshold in between.
//
// # Terms
//
// A worker is whatever is counted: a node, a core, any consumable. It runs one task at a time. A class
// is entitled to its percentage of all workers. Further workers that it runs tasks on are loaned to it
// by classes that do not use theirs. Percentages are whole numbers, as in Scoot.
//
// # Invariants
//
//   - A class never starts more than waits in it, and never stops more than it runs.
//     No class does both.
//   - All starts together are at most the idle workers and those that stops free.
//   - After a plan no worker is idle while a task waits.
//   - A plan depends on the State alone. Multiplying all loads by a number changes
//     nothing, and so does permuting classes whose names differ.
//   - Planning again with the same Planner allocates nothing once it has seen a State
//     as large.
//
// # Cost
//
// With c classes and j jobs a plan takes at most in the order of c² + j log t steps, where t is the
// number of tasks of the largest job. There are never more rounds than classes, and jobs are filled like
// vessels, not task by task. Only a rebalancing that is asked which tasks to stop looks at tasks. It
// sorts those of the classes that stop any.
//
// # Caveats
//
// Percentages are whole. Beyond 100 classes, or with loads that are far apart, a class with a load can
// come out at 0 %. It then comes after those that do not, and before the classes of load 0.
//
// Rounding favours the first class, which has the greatest load: it gets what is missing from 100 %, and
// from all workers. Allotments round up in class order, so a round can be used up before the last
// classes have their turn. The next cycle makes up for that.
//
// If tasks hold several workers, Running and Waiting count workers, and Start and Stop are allotments. A
// class starts tasks while its allotment is not used up, and stops those that fit in what it gives back.
//
// Nothing here knows a clock, a file or a node. State.Now is whatever the caller says. Hand the Timer of
// a plan back with the next State.
//
// A Planner serves one goroutine at a time.
//
// Reading the source: state.go is what goes in and plan.go what comes out. loads.go turns loads into
// percentages and entitlements. rounds.go hands workers out: it is the heart. rebalance.go decides when
// and how classes go back to their entitlements. jobs.go and tasks.go choose within a class: jobs.go for
// equal tasks by their numbers, line.go in the same order for a queue of tasks that differ.
// settings.go, settings_check.go and requestor.go are what an administrator sets, and classes.go makes
// the classes of a State from it.
package fairshare
