package payload

import (
	"cmp"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/outname"
)

// Files are the names of the files that a job writes, as far as they are known. %N stays before the job
// has nodes, and %t before it has an attempt.
type Files struct {
	Job     *engine.Job
	Of      *engine.Payload
	Attempt int           // 0: no particular one
	Node    func() string // returns the first node of the job, "" before it has one
}

// Out returns where the output of the job goes, "" if it runs nothing.
func (f Files) Out() string {
	if f.Of.Dir == "" {
		return ""
	}
	j := f.letters()
	return j.Path(f.Of.Dir, cmp.Or(f.Of.Out, j.Default()))
}

// Err returns where the job's errors go, "" if they go to the output.
func (f Files) Err() string {
	if f.Of.Err == "" {
		return ""
	}
	return f.letters().Path(f.Of.Dir, f.Of.Err)
}

// In returns where the job's input comes from, "" for none.
func (f Files) In() string {
	if f.Of.Input == "" {
		return ""
	}
	return f.letters().Path(f.Of.Dir, f.Of.Input)
}

// letters returns the values of the letters in the job's patterns.
func (f Files) letters() *outname.Job {
	return &outname.Job{ID: f.Job.ID, Array: f.Job.Array, Index: f.Job.Index, Name: f.Job.Name, User: f.Job.User,
		Attempt: f.Attempt, Node: f.Node}
}
