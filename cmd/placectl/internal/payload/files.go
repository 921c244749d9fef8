package payload

import (
	"cmp"

	"github.com/placectl/placectl/cmd/placectl/internal/outname"
	"github.com/placectl/placectl/store"
)

// Files are the names of the files that a job writes, as far as they are known: before it
// has nodes %N stays as it is, and %t before it is at an attempt.
type Files struct {
	Job     *store.Job
	Of      *store.Payload
	Attempt int           // 0: not any one
	Node    func() string // the first node of the job, "" before it has one
}

// Out is where the output of the job goes, "" if it runs nothing.
func (f Files) Out() string {
	if f.Of.Dir == "" {
		return ""
	}
	j := f.letters()
	return j.Path(f.Of.Dir, cmp.Or(f.Of.Out, j.Default()))
}

// Err is where its errors go, "" for where the output does.
func (f Files) Err() string {
	if f.Of.Err == "" {
		return ""
	}
	return f.letters().Path(f.Of.Dir, f.Of.Err)
}

// In is where its input comes from, "" for nowhere.
func (f Files) In() string {
	if f.Of.Input == "" {
		return ""
	}
	return f.letters().Path(f.Of.Dir, f.Of.Input)
}

// letters are what the letters of its patterns stand for.
func (f Files) letters() *outname.Job {
	return &outname.Job{ID: f.Job.ID, Array: f.Job.Array, Index: f.Job.Index, Name: f.Job.Name, User: f.Job.User, Attempt: f.Attempt, Node: f.Node}
}
