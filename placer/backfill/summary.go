package backfill

// Tau is the least run time that slowdowns are computed with, so that jobs of a second do not dominate
// averages (Feitelson and Rudolph, "Metrics and benchmarking for parallel job scheduling", 1998).
const Tau = 10

// A Summary is the result of a simulation. Without jobs all is 0.
type Summary struct {
	Jobs        int
	AvgWait     float64 // from submission to start
	AvgSlowdown float64 // bounded: (wait + run) / run, with a run of at least Tau; at least 1
	MaxWait     int64
	Utilisation float64 // processor time used, as part of all from the first submission to the last end
	Makespan    int64   // from the first submission to the last end
}

// Summarise summarises jobs and their starts on a machine with a number of processors.
func Summarise(procs int64, jobs []Job, starts []int64) Summary {
	s := Summary{Jobs: len(jobs)}
	if len(jobs) == 0 {
		return s
	}
	var waits, slowdowns, used float64
	first, last := jobs[0].Submit, starts[0]
	for i, j := range jobs {
		wait := starts[i] - j.Submit
		waits += float64(wait)
		slowdowns += max(1, float64(wait+j.Run)/float64(max(j.Run, Tau)))
		used += float64(j.Procs) * float64(j.Run)
		s.MaxWait = max(s.MaxWait, wait)
		first, last = min(first, j.Submit), max(last, starts[i]+j.Run)
	}
	s.AvgWait, s.AvgSlowdown = waits/float64(len(jobs)), slowdowns/float64(len(jobs))
	if s.Makespan = last - first; s.Makespan > 0 {
		s.Utilisation = used / (float64(procs) * float64(s.Makespan))
	}
	return s
}
