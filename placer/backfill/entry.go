package backfill

// An Entry is a job as a log in the Standard Workload Format has it, negative
// where the log does not know.
type Entry struct {
	Submit    int64 // field 2
	Run       int64 // 4
	Procs     int64 // 5: processors it was given
	WantProcs int64 // 8
	WantTime  int64 // 9; 0 is unknown, too
}

// Job is the entry as a job to simulate, with the processors that it was given
// or, where requested says so, that it asked for; with the other number where
// one is unknown. It is false when the entry has no processors or no run time:
// what did not run cannot be run again.
//
// Logs have runs that are longer than was asked for, because a system was
// lenient or a clock was off. Then the two change places: the plan has to be
// kept by every job, and what was too long for its request still is what others
// had to reckon with. A job without a request asked for what it ran. Request is
// at least 1, as nothing can be planned for no time.
func (e Entry) Job(requested bool) (Job, bool) {
	procs, other := e.Procs, e.WantProcs
	if requested {
		procs, other = other, procs
	}
	if procs <= 0 {
		procs = other
	}
	want := e.WantTime
	if want <= 0 {
		want = e.Run
	}
	j := Job{Submit: e.Submit, Run: min(e.Run, want), Request: max(e.Run, want, 1), Procs: procs}
	return j, procs > 0 && e.Run >= 0
}
