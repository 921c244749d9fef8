package keeper

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/engine"
)

// Key names an attempt of a job.
type Key struct {
	Job    uint64
	Number int // of the attempt, from 1
}

// String returns the key as directories and command lines show it: 12.1.
func (k Key) String() string {
	return strconv.FormatUint(k.Job, 10) + "." + strconv.Itoa(k.Number)
}

// ParseKey parses what String returns.
func ParseKey(s string) (Key, error) {
	job, number, _ := strings.Cut(s, ".")
	j, err := strconv.ParseUint(job, 10, 64)
	n, err2 := strconv.ParseInt(number, 10, 32)
	k := Key{j, int(n)}
	if err != nil || err2 != nil || j == 0 || n < 1 || k.String() != s {
		return Key{}, fmt.Errorf("%q is not an attempt: write JOB.ATTEMPT, such as 12.1", s)
	}
	return k, nil
}

// Database is what a runner needs of a database. An error that is engine.ErrConflict or
// engine.ErrNotFound is an answer. After any other error the outcome is unknown.
type Database interface {
	// Turn reports and claims in one commit. Errors are as above. After ErrNoTurn certainly nothing
	// was done.
	Turn(context.Context, *Request) (*Answer, error)
	// Report reports how an attempt has ended. A repeated report changes nothing.
	Report(context.Context, *engine.Result) error
	// Held returns an attempt that was claimed on this host under a nonce, in an epoch of the
	// database. An error that is an answer means that the job has gone on without it.
	Held(ctx context.Context, k Key, n engine.Nonce, epoch string) (*Held, error)
	// Look returns the work on this host for this user.
	Look(context.Context) (*View, error)
	// LeftOver says why an attempt whose command has ended keeps its nodes: it may have processes
	// left on other hosts.
	LeftOver(ctx context.Context, k Key, n engine.Nonce, why string) error
	// Signalled records that the first sent signals of an attempt were sent.
	Signalled(ctx context.Context, k Key, n engine.Nonce, sent int) error
}

// Request is what a process that executes attempts asks of the database in a turn.
type Request struct {
	Ended []*engine.Result // how attempts have ended
	Again []Again          // claims that may have been made before, perhaps by a process that has ended
	// Claim returns the claim with which this process takes an unclaimed attempt, or false if it
	// does not want it. It may be called more than once for a key. A nil Claim claims nothing.
	Claim   func(Key) (engine.Claim, bool)
	Healthy bool // the program that checks this host's health has been asked
}

// Again is a claim that may already have been made in an epoch of the database.
type Again struct {
	engine.Claim
	Epoch string
}

// Answer is the result of a turn.
type Answer struct {
	Reported []error        // the error of each of Ended, as in Database.Report
	Orders   []*Order       // of the attempts claimed by now, those of Again first
	Cycled   bool           // a cycle followed the reports
	Doubtful []engine.Nonce // of claims with an unknown outcome
	Failed   error          // why they are unknown, nil if Doubtful is empty
}

// ErrNoTurn says that certainly nothing was reported or claimed, and that the reports are not to
// blame.
var ErrNoTurn = errors.New("the turn failed")

// View is the work on a host.
type View struct {
	Unclaimed []Key     // attempts to execute here
	Held      []Held    // attempts claimed by supervisors on this host
	Hooked    bool      // there are events for the hook
	Next      time.Time // when something planned next begins or ends by the clock, the zero time for never
	Startable Startable // the number as a cycle would see it now

	Health     []string // the program that checks this host's health, empty for none
	Distrusted string   // why programs that the database names must not run, "" if they may
}

// Held is an attempt that a keeper on this host has claimed.
type Held struct {
	Key
	Nonce   engine.Nonce
	Process engine.Process
	Ending  bool          // it must be stopped
	Why     string        // as Job.Why
	Left    time.Duration // time until its end
	Signals []int         // signals to send to its processes
	Sent    int           // how many signals they got before those
}

// result returns a result of an attempt.
func (k Key) result(n engine.Nonce, o engine.Outcome) *engine.Result {
	return &engine.Result{Job: k.Job, Attempt: k.Number, Nonce: n, Outcome: o}
}

// Settled reports whether a database has answered, rather than been unavailable. A missing database
// may come back: it was moved, or its file system is unavailable.
func Settled(err error) bool {
	return err == nil || errors.Is(err, engine.ErrConflict) || errors.Is(err, engine.ErrNotFound) &&
		!errors.Is(err, engine.ErrNoDatabase)
}
