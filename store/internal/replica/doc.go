// Package replica makes a database file the replica of a log of change-sets that is kept
// elsewhere, so that several machines work on one database.
//
// Whoever runs a transaction brings its machine's replica up to date, decides on it, and
// appends what it changed right behind the entry that it decided on, or not at all; when
// somebody else was faster it catches up, and runs again. What is in the log has happened;
// a replica is a copy, thrown away and made anew when there is any doubt about it.
//
// Invariants:
//   - The head of the log is n exactly when entry n is its last.
//   - Two replicas at one position are equal in every row.
//   - A replica's position changes in the local transaction that changes its rows.
//   - Entry n carries the chain of entry n-1.
//   - A replica applies each entry once, in order.
//   - Unless it is told to be content with less, nobody answers from a state older than
//     the end of the log when it was asked.
package replica
