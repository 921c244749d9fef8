// Package fronts is what the front-ends for users of PBS and Slurm share (packages pbs and slurm
// below it): what they read and change in a database, as an interface with plain rows, and how they
// read command lines that getopt_long would read.
//
// A front-end is a translator: the words of a command line become calls that our own verbs make,
// and the results become the text that the other system would print. Programs read that text as
// often as people do, so it matches to the letter, and a successful command prints nothing else.
package fronts

import (
	"errors"
	"io"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
)

// Call is a command as typed.
type Call struct {
	Name           string   // qsub, sbatch, ...
	Args           []string // the words behind it
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Cluster
	Here
	Host // the machine that it was typed on
}

// Whole is what is known of the whole database now.
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
	// Update calls fn, and keeps what it has changed if it returns nil. fn may be called
	// more than once, and only the last call counts.
	Update(fn func(Change) error) error
	// Wait returns when a job has ended, or all of an array.
	Wait(job uint64) error
	// WaitStart returns when a job has started, or ended.
	WaitStart(job uint64) error
}

// View is the database as it was at some instant.
type View interface {
	// Jobs calls fn for the jobs of a selection, by number. A job is fn's to keep.
	Jobs(s Selection, fn func(*Job) error) error
	// Nodes are the nodes by number, with the jobs that are on each.
	Nodes() ([]*Node, error)
	// About is what is known of the whole.
	About() (*About, error)
	// Script is what a job runs, "" if it runs no script.
	Script(job uint64) (string, error)
	// Missing reports whether an error of a Change says that a thing of a kind is not
	// there: "queue", "job", "node", "reservation".
	Missing(err error, kind string) bool
}

// Change is a database that is being changed.
type Change interface {
	View
	Submit(Submission) ([]*Job, error)
	// Do does something to a job.
	Do(what Deed, job uint64) error
	// Alter gives a job that waits what the options ask for instead of what it had, and
	// one that runs another name, priority or walltime.
	Alter(job uint64, family directives.Family, given []directives.Given) error
	// Signal has the processes of a running job sent a signal. Update returns once it was
	// delivered.
	Signal(job uint64, number int) error
	// SetNode gives a node a state: up, offline, drained or down. reason "" keeps the one
	// it has.
	SetNode(name, state, reason string) error
}

// Deed is what can be done to a job.
type Deed uint8

// The deeds.
const (
	Cancel Deed = iota
	Kill        // and its nodes are given back at once
	Hold
	Unhold
	Requeue
	RequeueHeld // it is held then
)

// Host is what a front-end knows of the machine and the person.
type Host struct {
	User   string // the real uid's name
	UID    int
	Zone   *time.Location
	Dir    string // where the command was typed
	Exec   string // how this host is called
	Open   func(name string) (io.ReadCloser, error)
	Master bool // the caller may change the jobs of others: as the owner of the database, root or an operator
	People
}

// People is the directory of users and groups of the machine.
type People interface {
	// UID finds a user, by name or as uid:4242.
	UID(name string) (uid uint32, ok bool)
	// PrimaryGroup is the group that a user has without being listed in it.
	PrimaryGroup(uid uint32) (name string, gid uint32, ok bool)
}

// Selection says which jobs are asked for.
type Selection struct {
	IDs   []uint64 // these alone, with all of an array where it is its first; nil: all
	Ended bool     // those that have ended, too
	// Since: of those that have ended all since that instant; others need not be among
	// them. Zero: all.
	Since   time.Time
	Details bool // with Detail
	Why     bool // with Wait
	Starts  bool // with the expected start, and end, of those that wait
}

// Submission is a job to be submitted.
type Submission struct {
	Family directives.Family
	Given  []directives.Given
	Script string   // its text
	Source string   // how messages call it
	Args   []string // words behind the script
	Name   string   // the job's default name
	Line   string   // the whole command line
	Plan   bool     // it is only to be said when it would start

	Notes    []string // notes about it: standard error stays empty
	Attended bool     // its command is executed where it was typed
}

// About is what is known of a cluster as a whole.
type About struct {
	Now       time.Time
	Server    string        // of PBS: what stands behind the numbers of jobs
	Partition string        // what nodes and jobs without a queue are in
	Keep      time.Duration // for how long jobs that have ended are still listed
	Walltime  time.Duration // of a job that does not ask for any
	MaxArray  int
	Queues    []string
	Accounts  []string // that jobs have, and classes
	Reserved  []string // names of reservations
	Licenses  []License
	Database  string // its file's name
}

// License is an amount of the whole cluster.
type License struct {
	Name              string
	Total, Used, Free int64
}

// What a submission may be refused for.
var (
	ErrNever = errors.New("no nodes could ever serve it")
	ErrLimit = errors.New("a limit does not let it in")
)

// ErrDenied is what the caller may not do.
var ErrDenied = errors.New("denied")

// May reports whether the person may change a job.
func (h *Host) May(j *Job) bool { return h.Master || j.Mine }
