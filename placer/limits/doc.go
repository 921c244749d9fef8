// Package limits counts what many share over time: the pools of a cluster, and what a
// rule lets a few hold at once.
//
// A Counter is an amount and those who hold some of it, each for a time: running jobs,
// planned ones, reservations. It answers from a timeline.Planner, so that an amount is
// promised at every instant of a job's time and not just at its start. A Demand is what
// a request wants of one counter; Demands are all that it wants, and know from when on
// all of them can be met.
//
// Pools and rules differ in one thing: who waits for a pool waits as for nodes, and who is
// kept by a rule is in nobody's way (Demand.Rule).
//
// The package knows no file and no clock. Instants are in Unix seconds.
package limits
