// Package cluster replays a log of jobs on nodes in memory. It is to a simulation what
// package store is to a file: package placer/cycle decides, as in every cycle of a
// database, on an index and a calendar like those that a file holds, and this package
// carries it out. It is pure: no files and no clock.
//
// # Invariants
//
//   - After each call the index says of every node what the calendar does.
//   - An owner has at most one placement.
//   - A placement gives its nodes back at its End by itself, in Pass, or before that
//     when it is removed. Nothing is ever overdue: a simulation knows no job that runs
//     longer than it asked for.
//
// # Caveats
//
// There are no reservations, no limits, no queues that own nodes, and every node is up. A Cluster
// serves one goroutine at a time.
//
// Reading the source: replay.go goes through a log and is what placer/cycle works on,
// play.go plays the queue forward, makeway.go has jobs make way for others, cluster.go carries placements out, passing.go
// lets time pass, lend.go is what placer looks things up in.
package cluster
