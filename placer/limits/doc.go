// Package limits counts what jobs share over time: the pools of a cluster, and what a rule allows a
// subject to hold at once.
//
// A Counter is an amount and its holders, each for a time: running jobs, planned ones,
// reservations. It answers from a timeline.Planner, so an amount is promised at every instant of a
// job's time, not just at its start. A Demand is what a request wants of one counter. Demands are
// all that it wants, and find the first time at which all of them can be met.
//
// Pools and rules differ in one thing: a job that waits for a pool waits as for nodes, but a job
// that a rule holds back blocks no other (Demand.Rule).
//
// The package knows no file and no clock. Instants are in Unix seconds.
package limits
