// Package fairshare divides workers among classes of jobs by the load each class
// is meant to have. A State goes in: how many workers there are, and what every
// class has running and waiting. A Plan comes out: how many tasks each class starts
// now, from which of its jobs, and, where the classes have drifted too far from
// their loads for too long, which running tasks make room.
//
// The method is that of Scoot's load-based scheduler
// (https://github.com/twitter/scoot, scheduler/server, whose recorded answers are in
// testdata) with these differences: the arithmetic is exact; classes of equal load
// have an order; no worker is left idle while a task waits, so a class of load 0 gets
// what the others leave; when the shares of a loan come to nothing the loads decide;
// rebalancing counts starts against what waits, stops no task for a worker that no class
// wants, and forgets a spread that fell below the threshold in between.
//
// # Terms
//
// A worker is whatever is counted: a node, a core, any consumable; it runs one task at
// a time. A class is entitled to its percentage of all workers. Workers that it runs
// tasks on beyond that are loaned to it by classes that do not use theirs. Percentages
// are whole numbers, as in Scoot.
//
// # Invariants
//
//   - A class never starts more than waits in it, and never stops more than it runs;
//     no class does both.
//   - All starts together are at most the idle workers and those that stops free.
//   - After a plan no worker is idle while a task waits.
//   - A plan depends on the State alone. Multiplying all loads by a number changes
//     nothing, and so does permuting classes whose names differ.
//   - Planning again with the same Planner allocates nothing once it has seen a State
//     as large.
//
// # Cost
//
// With c classes and j jobs a plan takes at most of the order of c² + j log t steps,
// t being the tasks of the largest job: there are never more rounds than classes, and
// jobs are filled like vessels, not task by task. Only a rebalancing that is asked which
// tasks to stop looks at tasks; it sorts those of the classes that stop any.
//
// # Caveats
//
// Percentages are whole, so beyond 100 classes, or with loads that are far apart, a class
// of some load can come out at 0 %. It then comes after those that do not, and before the
// classes of load 0.
//
// Rounding goes to the first class, the one of the greatest load: what is missing from
// 100 %, and what is missing from all workers, is its. Allotments round up in class order,
// so that late classes can find a round used up; the next cycle makes up for that.
//
// Where tasks hold several workers, Running and Waiting count workers, and Start and Stop
// are allotments: a class starts tasks while its allotment is not used up, and stops those
// that fit in what it has to give back.
//
// Nothing here knows a clock, a file or a node. State.Now is whatever the caller says it
// is, and the Timer of a plan has to be handed back with the next State.
//
// A Planner serves one goroutine at a time.
//
// Reading the source: state.go is what goes in and plan.go what comes out; loads.go turns
// loads into percentages and entitlements; rounds.go hands workers out, which is the heart
// of it; rebalance.go decides when and how classes go back to what they are entitled to;
// jobs.go and tasks.go choose within a class. settings.go, settings_check.go and requestor.go
// are what an administrator sets, classes.go makes the classes of a State from it, and
// plain.go spares most requestors a regular expression.
package fairshare
