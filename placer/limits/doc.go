// Package limits counts what jobs share over time: the pools of a cluster, and what a rule allows a
// subject to hold at once.
//
// A Counter is an amount and its holders, each for a time: running jobs, planned ones, reservations. It
// answers from a timeline.Planner, so an amount is promised for the whole of a job's time, not just for
// its start. A Demand is what a request wants of one counter. Demands are all its wants, and find the
// first time at which they can be met together.
//
// Pools and rules differ in one way: a job that waits for a pool waits as for nodes, but a job that a
// rule holds back blocks no other (Demand.Rule).
//
// The package knows no file and no clock. Instants are in Unix seconds.
package limits
