package runner

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/store"
)

// Key names an attempt of a job.
type Key struct {
	Job    uint64
	Number int // of the attempt, from 1
}

// String is the key as directories and command lines have it: 12.1.
func (k Key) String() string {
	return strconv.FormatUint(k.Job, 10) + "." + strconv.Itoa(k.Number)
}

// ParseKey reads what String writes.
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

// Database is what a runner asks of a database. An error that is a store.ErrConflict or a
// store.ErrNotFound is an answer; after any other the outcome is unknown.
type Database interface {
	// Turn reports and claims in one commit. Errors are as above; after ErrNoTurn certainly nothing
	// was done.
	Turn(context.Context, *Request) (*Answer, error)
	// Report says how an attempt has ended. Again it changes nothing.
	Report(context.Context, *store.Result) error
	// Held is an attempt that was claimed on this host under a nonce, in an epoch of the
	// database. An answer that is an error says that the job has gone on without it.
	Held(ctx context.Context, k Key, n store.Nonce, epoch string) (*Held, error)
	// Look returns the work on this host for this user.
	Look(context.Context) (*View, error)
	// LeftOver says why an attempt whose command has ended keeps its nodes: processes of it may
	// be left on others.
	LeftOver(ctx context.Context, k Key, n store.Nonce, why string) error
	// Signalled says that the first so many signals of an attempt were sent.
	Signalled(ctx context.Context, k Key, n store.Nonce, sent int) error
}

// Request is what a process that executes attempts asks of the database in a turn.
type Request struct {
	Ended []*store.Result // how attempts have ended
	Again []Again         // claims that may have been made before, or by a process that is gone
	// Claim returns the claim with which this process takes an unclaimed attempt, or false if it
	// does not want it. It may be called more than once. Nil: it wants none.
	Claim   func(Key) (store.Claim, bool)
	Healthy bool // the program that reports whether this host is healthy has been asked
}

// Again is a claim that may have been made in an epoch of the database.
type Again struct {
	store.Claim
	Epoch string
}

// Answer is what came of it.
type Answer struct {
	Reported []error       // for each of Ended, as of Database.Report
	Orders   []*Order      // of the attempts that are claimed by now, those of Again before the others
	Cycled   bool          // a cycle was made behind the reports
	Doubtful []store.Nonce // of claims with an unknown outcome
	Failed   error         // why, nil if there are none
}

// ErrNoTurn says that certainly nothing was reported or claimed, and that the reports are not to
// blame.
var ErrNoTurn = errors.New("the turn failed")

// View is the work on a host.
type View struct {
	Unclaimed []Key     // attempts to execute here
	Held      []Held    // attempts that supervisors on this host have claimed
	Hooked    bool      // there are events for the hook
	Next      time.Time // when something planned begins or ends next by the clock, the zero time for never
	Startable Startable // the number that a cycle would see now

	Health     []string // the program that reports whether this host is healthy, empty for none
	Distrusted string   // why programs that the database names are not to be run, "" if they are
}

// Held is an attempt that a keeper on this host has claimed.
type Held struct {
	Key
	Nonce   store.Nonce
	Process store.Process
	Ending  bool          // it must be stopped
	Left    time.Duration // until its end
	Signals []int         // signals to send to its processes
	Sent    int           // how many they were sent before those
}

// result is a result of an attempt.
func (k Key) result(n store.Nonce, o store.Outcome) *store.Result {
	return &store.Result{Job: k.Job, Attempt: k.Number, Nonce: n, Outcome: o}
}

// settled reports whether a database has said its last word, rather than that it could not
// be asked. One that is not there may come back: it was moved, or its file system is away.
func settled(err error) bool { return Settled(err) }

// Settled is settled, for databases.
func Settled(err error) bool {
	return err == nil || errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrNoDatabase)
}
