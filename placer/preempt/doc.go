// Package preempt decides which jobs make way for others, and which are stopped so that another can
// start. It is pure. From rules it finds the rule by which one job goes before another. From a list
// of jobs that may be stopped it chooses a minimal set.
//
// # Invariants
//
//   - Rules that form a circle are refused: no job can come to make way for itself, whatever queue,
//     class, account, group and user jobs are in.
//   - No job of a chosen set could stay. Of the possible sets, the one with the least lost work goes,
//     and of equals the newest.
//
// # Caveats
//
// A rule refers to fixed properties of jobs, never to how long they wait or how much their users
// have used. Such values change while jobs run, so ranks would turn around, and two jobs would stop
// each other for ever.
//
// Reading the source: rule.go reads rules, ranks.go finds which job goes before which, choose.go
// chooses a set.
package preempt
