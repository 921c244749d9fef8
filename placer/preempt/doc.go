// Package preempt says who makes way for whom, and which jobs are stopped so that another
// can start. It is pure: rules in, and for a job the rule by which it goes before another;
// jobs that may be stopped in, and a set of them out of which none could stay.
//
// # Invariants
//
//   - Rules that lead in a circle are refused: nobody can come to make way for himself,
//     whatever queue, class, account, group and user jobs are in.
//   - No job of a chosen set could stay. Of those that would do, the ones go of which
//     least work is lost, and of equals the newest.
//
// # Caveats
//
// A rule is about what jobs are, never about how long they wait or what their users have
// had: what changes by itself would turn ranks around while jobs run, and two of them
// would stop each other for ever.
//
// Reading the source: rule.go reads rules, ranks.go finds out who goes before whom,
// choose.go chooses a set.
package preempt
