// Package usage adds up the use by jobs in three ways: month by month for each user, group, account, class and
// queue, in the commits in which attempts and jobs end; with older use counting less; and node by node. It sees
// rows, and asks a transaction for jobs and attempts.
//
// What an attempt held of each resource and for how long, month by month, is computed in ledger.go. It is what a job
// asked for, wherever it ran, so it depends only on the job's row and the times of its attempts. Each node also
// counts as one of "nodes". Package check recomputes it from the rows by the same code.
//
// The jobs of a queue are counted by state, and their outcomes since the database was made (tallies.go), in the
// commit that moves a job, so reading them visits no jobs. Counts stay when the rows of jobs are deleted.
package usage
