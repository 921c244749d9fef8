// Package cluster replays a log of jobs on nodes in memory. It is to a simulation what package
// store is to a file. As in a database, package placer/cycle decides, with an index and a
// calendar like those in a file, and this package carries out the decisions. It is pure: no
// files and no clock.
//
// # Invariants
//
//   - After each call the index agrees with the calendar about every node.
//   - An owner has at most one placement.
//   - A placement gives its nodes back at its End by itself, in Pass, or before that
//     when it is removed. Nothing is ever overdue: in a simulation no job runs longer
//     than it asked for.
//
// # Caveats
//
// There are no reservations, no limits, no queues that own nodes, and every node is up. A Cluster
// serves one goroutine at a time.
//
// Reading the source: replay.go goes through a log, and is the host of placer/cycle. play.go plays the
// queue forward, makeway.go preempts jobs, cluster.go carries out placements, passing.go lets time pass,
// and lend.go answers placer's questions about nodes.
package cluster
