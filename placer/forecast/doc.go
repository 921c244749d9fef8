// Package forecast predicts when waiting jobs are likely to start, and by when they will almost surely
// have started. It learns how long jobs run from similar jobs that have ended, and how far off forecasts
// are from its own earlier ones. It is pure: no files, no clock.
//
// # The idea
//
// Two plays of the queue bracket the start of a job: A, in which all jobs run as long as they
// asked for, and L, in which they run for their likely durations. Their distance is the width w.
// The record says where in that width the starts of earlier forecasts have been:
//
//	z = (start - L) / w
//
// A likely start is L plus the median of z times w, a safe one L plus the 0.92 quantile.
//
// # Invariants
//
//   - Nothing is learned about a job before it has ended, or about a forecast before its job has started.
//   - now <= likely <= safe.
//   - With no job learned from, L is A.
//
// Reading the source: history.go learns durations, and record.go the outcomes of forecasts. Package
// backtest tests both on logs.
package forecast
