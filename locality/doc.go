// Package locality is the room for batches of jobs that share files: teams of
// hosts work through ranges of a file sequence behind cursors, so that each file
// is sent to few hosts (after BOINC's locality scheduling). It is pure, like
// index and timeline: states and decisions, no files and no clock.
//
// Nothing of it is written yet.
package locality
