// Package swf reads workload logs in the Standard Workload Format, version 2.2
// (https://www.cs.huji.ac.il/labs/parallel/workload/swf.html). Each job is a line of 18
// numbers, -1 for unknown. Lines that begin with a semicolon are comments, and some of
// these are labels such as "; MaxProcs: 100".
//
//	log, err := swf.NewReader(file) // plain text or gzip
//	for {
//		job, err := log.Next()
//		if err == io.EOF {
//			break
//		}
//		...
//	}
//
// It is strict: a line other than 18 valid numbers is an error with its line and field. A log
// that was cut off or shifted by a column would replay without an error and prove nothing. It
// accepts two things that occur in logs: decimals of times and memory, which it rounds, and
// fields after the 18th, which it keeps.
//
// It does not replay, and does not judge values. Logs have run times of 0, below -1, and longer
// than requested; the caller decides about them. Nor does it sort. The standard wants lines in
// order of submission; check that if you rely on it.
package swf

// Fields is the number of fields in the standard.
const Fields = 18

// Unknown is the value of an unknown field.
const Unknown = -1

// Job is a line of a log. Times are in seconds. Submit counts from the start of the log (label
// UnixStartTime); some logs have Unix seconds there. Memory is in kilobytes for each processor, as the
// standard says; some logs have bytes, or the amount of the whole job.
type Job struct {
	Line int // its line, from 1

	Number       int64 // 1
	Submit       int64 // 2
	Wait         int64 // 3: from submission to start
	Run          int64 // 5: processors it was given
	Procs        int64 // 6: cpu time used, averaged over its processors
	CPU          int64 // 6: cpu time used, average of its processors
	Memory       int64 // 7: used
	WantProcs    int64 // 8
	WantTime     int64 // 9: the time requested, a limit or an estimate
	WantMemory   int64 // 10
	Status       int64 // 11: see the constants
	User         int64 // 12
	Group        int64 // 13
	App          int64 // 14: number of the program
	Queue        int64 // 15: by convention 0 is interactive
	Partition    int64 // 16
	Predecessor  int64 // 17: number of the job it waited for
	ThinkSeconds int64 // 18: from the predecessor's end to its submission

	Extra []string // fields after the 18th
}

// The values of Status. Checkpointed jobs have a line for each part.
const (
	Failed     = 0
	Completed  = 1
	Partial    = 2 // a part, to be continued
	LastPart   = 3 // the last part, completed
	LastFailed = 4 // the last part, failed
	Cancelled  = 5
)
