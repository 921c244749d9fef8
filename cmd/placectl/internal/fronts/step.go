package fronts

import "io"

// Here is the place where a command was typed, as far as it starts programs: a login host,
// or the script of a job.
type Here interface {
	// Getenv is a variable of the environment, "" for none.
	Getenv(name string) string
	// Step runs tasks side by side on nodes of the job that the command was typed in,
	// and returns how each ended.
	Step(s *Step) ([]TaskEnd, error)
	// Allocate submits a job, waits until it has its nodes, and runs a command here while
	// it has them, with what env says of the job in its environment. A first word that is
	// Ourselves is this program. told is told of the job where it has to wait, and when it
	// begins.
	Allocate(s Submission, told func(*Job), env func(*Job) []string) (status int, err error)
	// Create opens a file for output, again or to append to it.
	Create(name string, append bool) (io.WriteCloser, error)
	// Counted counts the steps of the job that the command was typed in, from 0 on.
	Counted() int
}

// Ourselves is this program as a command.
const Ourselves = "placectl"

// Step is tasks that run side by side.
type Step struct {
	Tasks    []Task
	In       io.Reader // for those that are fed
	Together bool      // where one fails the others are ended
}

// Task is a program on a node.
type Task struct {
	Node     string
	Words    []string
	Env      []string // added to the environment
	In       io.Reader
	Feed     bool // it gets what Step.In has
	Out, Err io.Writer
}

// TaskEnd is how a task has ended.
type TaskEnd struct {
	Status int
	Signal int    // that ended it, 0: none
	Why    string // it could not be started
}

// Refusal is why a submission was not taken, with the database as it was.
type Refusal struct {
	View View
	Err  error
}

func (e *Refusal) Error() string { return e.Err.Error() }

func (e *Refusal) Unwrap() error { return e.Err }
