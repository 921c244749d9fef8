// Package forecast says when jobs that wait are likely to start, and by when they are safe to
// have started. It learns from jobs that have ended how long jobs like them run, and from its own
// forecasts how far off those were. It is pure: no files, no clock.
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
//   - Nothing is learned of a job before it has ended, or of a forecast before its job has started.
//   - now <= likely <= safe.
//   - With no job learned from, L is A.
//
// Reading the source: history.go learns durations, record.go what became of forecasts. Package
// backtest tries both on logs.
package forecast
