package backfill

// An Entry is a job in a log in the Standard Workload Format. Unknown values are negative.
type Entry struct {
	Submit    int64 // field 2
	Run       int64 // 4
	Procs     int64 // 5: processors it was given
	WantProcs int64 // 8
	WantTime  int64 // 9; 0 also means unknown
}

// Job makes a job to simulate, with the processors it was given or, if requested is set, those it asked
// for. If one number is unknown it uses the other. It returns false for an entry without processors or
// run time, which did not run.
//
// Some runs in logs are longer than requested, because a system was lenient or a clock was off. Then the
// two are swapped: every job must keep to its plan, and the longer time is what others had to expect. A
// job without a request asked for its run time. Request is at least 1, because a plan needs a duration.
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
