// Package fronts has what the commands for users of PBS and Slurm share (packages pbs and slurm below
// it): an interface with plain rows for what they read and change in a database, and a parser of command
// lines by the rules of getopt_long.
//
// A front-end is a translator: words of a command line become the calls that our own verbs make, and
// results become the text that the other system would print. Programs read that text as often as people
// do. So it matches to the letter, and a successful command prints nothing else.
package fronts

import (
	"cmp"
	"errors"
	"io"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
)

// Call is a command as typed.
type Call struct {
	Name           string   // qsub, sbatch, ...
	Args           []string // the words after it
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Cluster
	Here
	Host // the machine that it was typed on
}

// Whole describes the whole database as of now.
func (c *Call) Whole() (about *About, err error) {
	err = c.View(func(v View) (err error) {
		about, err = v.About()
		return err
	})
	return about, err
}

// Cluster is the database.
type Cluster interface {
	// View calls fn with the database as it is.
	View(fn func(View) error) error
	// Update calls fn, and keeps its changes if it returns nil. fn may be called more than once; only
	// the last call counts.
	Update(fn func(Change) error) error
	// Wait returns when a job, or all of an array, has ended.
	Wait(job uint64) error
	// WaitStart returns when a job has started or ended.
	WaitStart(job uint64) error
	// Unread reports whether the reader of the answer has gone and nothing was changed.
	Unread() bool
}

// View is the database as of an instant.
type View interface {
	// Jobs calls fn for the selected jobs, by number. fn may keep them.
	Jobs(s Selection, fn func(*Job) error) error
	// Nodes lists the nodes by number, with the jobs on each.
	Nodes() ([]*Node, error)
	// About describes the whole database.
	About() (*About, error)
	// Script is the script of a job; "" for none.
	Script(job uint64) (string, error)
	// Missing reports whether an error of a Change says that something of a kind does not exist:
	// "queue", "job", "node", "reservation".
	Missing(err error, kind string) bool
}

// Change is a database during a change.
type Change interface {
	View
	Submit(Submission) ([]*Job, error)
	// Do does something to a job.
	Do(what Deed, job uint64) error
	// Alter changes a waiting job as the options ask. Of a running one it changes name, priority or
	// walltime.
	Alter(job uint64, family directives.Family, given []directives.Given) error
	// Throttle sets how many jobs of an array run at once; 0: any number.
	Throttle(array uint64, most int64) error
	// Signal sends a signal to the processes of a running job. Update returns once it is delivered.
	Signal(job uint64, number int) error
	// SetNode sets the state of a node: up, offline, drained or down. reason "" keeps the old one.
	SetNode(name, state, reason string) error
}

// Deed is an action on a job.
type Deed uint8

// The deeds.
const (
	Cancel Deed = iota
	Kill        // it ends, and gives its nodes back at once
	Hold
	Unhold
	Requeue
	RequeueHeld // it is queued again and held
)

// Host is what a front-end knows of the machine and the user.
type Host struct {
	User   string // the real uid's name
	UID    int
	Zone   *time.Location
	Dir    string // where the command was typed
	Exec   string // the name of this host
	Open   func(name string) (io.ReadCloser, error)
	Master bool // the caller may change jobs of others, as the owner of the database, root or an operator
	People
}

// People is the machine's directory of users and groups.
type People interface {
	// UID finds a user, given by name or as uid:4242.
	UID(name string) (uid uint32, ok bool)
	// PrimaryGroup is a user's own group, which does not list the user.
	PrimaryGroup(uid uint32) (name string, gid uint32, ok bool)
}

// Selection says which jobs to show.
type Selection struct {
	IDs   []uint64 // only these jobs and arrays; nil: all
	Ended bool     // include ended jobs
	// Since asks for all jobs that ended since that instant. Others that have ended may be missing.
	// Zero: all.
	Since   time.Time
	Details bool // fill in Detail
	Why     bool // fill in Wait
	Starts  bool // fill in the expected start and end of waiting jobs
}

// Submission is a job to be submitted.
type Submission struct {
	Family directives.Family
	Given  []directives.Given
	Script string   // its text
	Source string   // its name in messages
	Path   string   // its absolute path, "" if it comes from no file
	Args   []string // words after the script
	Name   string   // the job's default name
	Line   string   // the whole command line
	Plan   bool     // only report when it would start

	Notes    []string // notes about it: standard error stays empty
	Attended bool     // its command is executed where it was typed
}

// About describes a cluster as a whole.
type About struct {
	Now       time.Time
	Server    string        // of PBS: what follows the numbers of jobs
	Partition string        // of nodes and jobs without a queue
	Keep      time.Duration // how long ended jobs are listed
	Walltime  time.Duration // of a job that asks for none
	MaxArray  int
	Queues    []string
	Accounts  []string // accounts of jobs, and classes
	Reserved  []*Reservation
	Licenses  []License
	Database  string // the file's name
}

// QueueOf names the queue of a node or a job as front-ends do, which know none without one.
func (a *About) QueueOf(queue string) string { return cmp.Or(queue, a.Partition) }

// Reservation keeps nodes for some jobs for a while.
type Reservation struct {
	Name                    string
	Start, End              time.Time
	Nodes                   []string
	CPUs                    int      // those it keeps
	Users, Groups, Accounts []string // whose jobs may use it
	Licenses                []License
}

// License is an amount of the whole cluster.
type License struct {
	Name              string
	Total, Used, Free int64
}

// Reasons for refusing a submission.
var (
	ErrNever = errors.New("no nodes could ever serve it")
	ErrLimit = errors.New("a limit keeps it out")
)

// ErrDenied says that the caller is not permitted to do something.
var ErrDenied = errors.New("denied")

// May reports whether the user may change a job.
func (h *Host) May(j *Job) bool { return h.Master || j.Mine }
