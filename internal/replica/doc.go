// Package replica makes a database file the replica of a log of change-sets, which is stored
// elsewhere, so that several machines work on one database.
//
// A transaction brings its machine's replica up to date, runs on it, and appends its changes
// directly after the last entry that it has seen, or not at all. If another writer was faster,
// it catches up and runs again. A change has happened once it is in the log. A replica is a
// copy, which is deleted and made again in case of doubt.
//
// Invariants:
//   - The head of the log is n exactly when entry n is its last.
//   - Two replicas at one position are equal in every row.
//   - A replica's position changes in the local transaction that changes its rows.
//   - Entry n carries the chain of entry n-1.
//   - A replica applies each entry once, in order.
//   - Unless the caller accepts less, no answer comes from a state older than the end of the log
//     when it was asked.
package replica
