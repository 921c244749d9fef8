// Package session is one run of the command. Run reads a command line with the declarations of the
// verbs (internal/verbs), lets the verb work, and turns its error into a message and an exit
// status. Verbs find in it what they share: the database (db.go), answers and notes (answer.go,
// notes.go), keys (keyed.go), flags (flags.go), the calling user (who.go), waiting (wait.go), and
// the process that stays behind to run the queue (attendant.go). What the process is given, the
// clock included, comes in through Env, so that tests run whole commands inside one process.
package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/asked"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/forward"
	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/cmd/placectl/internal/inlogs"
	"github.com/placectl/placectl/cmd/placectl/internal/keyed"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/cmd/placectl/internal/process"
	attempts "github.com/placectl/placectl/cmd/placectl/internal/runner"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// Env is all that a run is given by the process around it.
type Env struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Environ        func() []string // NAME=VALUE
	Clock          func() time.Time
	Loc            *time.Location // the zone of local times
	StdoutTTY      bool
	StderrTTY      bool
	Width          func() int                                      // columns of the terminal, 0 for no limit
	Self           func() string                                   // the name of the real uid: for whom requests are that do not say so
	Namespaced     func() bool                                     // it is in a user namespace
	AttendantKeeps func() []string                                 // additional variables of an attendant; nil: none
	Watch          func(verb string, res output.Result, row []any) // for tests: sees the answers in JSON; may be nil
	// commit runs a function on a database and keeps what it changed, or not. It may
	// run it more than once.
	Commit func(db *store.DB, keep bool, fn func(*store.Tx) error) error
	// InWords does the same of what is said in words, too; nil: nothing is.
	InWords func(db *store.DB, words *store.Words, fn func(*store.Tx) error) (answer []byte, err error)
}

// Run carries one run of the command; every verb's action closes over it.
type Run struct {
	Env
	verbs.Globals
	Ctx       context.Context    // ended by an interrupt
	Stop      context.CancelFunc // interrupts the run
	Answers   *process.Answers   // the final destination of stdout
	Changed   bool               // this command has changed something, or did when its key was new
	Begun     bool               // the command that the verb runs was
	committed func()             // called after the commit, nil for nothing
	Leaving   *leaving           // the attendant that is left behind after the answer; nil: none
	left      *leaving           // the one that was left behind last
	leftAt    time.Time          // when that was
	IsFront   bool               // it is qsub, sbatch or one of their likes
	Tx        *store.Tx          // of the transaction that the run is part of, nil outside one
	notes     io.Writer          // for what notef says: stderr, if it is not held back
	Verbs     verbs.List[*Run]
	Verb      *Verb // the one that runs
	Dash      int   // how many arguments stood before "--", -1 without one
	Inv       Invocation
	Lines     payload.Lines       // of submit --each
	Carried   *payload.Carried    // the environment of a user who submits from another host, or nil
	Inputs    keyed.Inputs        // hashes of what was read of files and standard input
	handed    asked.Read          // the inputs' contents, if they may be handed over
	asker     *asker              // the process for which the verb is run, nil: this one
	Rec       *keyed.Recording    // takes the answers, nil for stdout
	Attending *attempts.Attending // of run: the lock that shows whether this process lives, or nil
	Kept      *keyed.Recording    // the answer to a request with a key
	Repeated  bool                // it was given before
	Front     *fronts.Submission  // of qsub or sbatch, nil: it is not one of them that submits
	InLogs    *inlogs.Handles     // the handles on databases that are kept in logs
	Behind    bool                // a writer may come from before the instant of the database
	Dry       bool                // nothing is changed: --dry-run
	Widths    []int               // of columns, as the shell was told
}

// New makes a run of one of the verbs of a list.
func New(ctx context.Context, e Env, list verbs.List[*Run]) *Run {
	out := &process.Answers{Writer: e.Stdout}
	e.Stdout = out
	ctx, stop := context.WithCancel(ctx)
	return &Run{Env: e, Ctx: ctx, Stop: stop, Answers: out, notes: e.Stderr, Verbs: list, Dash: -1, InLogs: new(inlogs.Handles)}
}

// Outcome runs the command, tells what went wrong, and returns the exit status.
func (r *Run) Outcome() (status int) {
	defer func() {
		if p := recover(); p != nil {
			status = r.crashed(p)
		}
	}()
	err := r.Delivered(r.Main())
	if r.Changed {
		defer r.Leave()
		r.noteMade()
	}
	r.LeaveLogs()
	if r.pipeClosed() {
		return exit.Pipe
	}
	return r.Report(err)
}

// Main reads the command line and runs it. It reads the globals even if the rest is wrong, because
// they say how to show the error.
func (r *Run) Main() error {
	inv, err := r.Verbs.Parse(r.Env.Args)
	g, globalsErr := verbs.ReadGlobals(inv.Globals, r.Surroundings())
	r.Globals = g
	if len(inv.Path) > 0 {
		r.Verb = inv.Leaf()
	}
	switch {
	case err != nil:
		if errors.Is(err, verbs.ErrNoneBelow) {
			r.briefly(inv)
		}
		return err
	case inv.Help:
		return r.printHelp(inv)
	case globalsErr != nil:
		return globalsErr
	}
	if g.Begun != "" {
		fmt.Fprintln(r.Stderr, forward.Begins+g.Begun)
	}
	if !inv.Leaf().Brief {
		process.CollectLess()
	}
	return r.Exec(inv)
}

// Exec runs the innermost verb of a command line that parseArgs has understood. The
// verbs above it have done their part.
func (r *Run) Exec(inv Invocation) error {
	v := inv.Leaf()
	r.Verb, r.Dash, r.Inv = v, inv.Dash, inv
	return usage.Name(inv.Verb(), inv.Do(r.Ctx, func(c *cli.Context) error {
		if err := v.Check(c); err != nil {
			return err
		}
		r.Dry = r.Dry || c.Bool(verbs.DryRun)
		if r.Columns != "" && v.Access == verbs.Writes {
			return usage.Errorf("--output: only verbs that change nothing can choose columns")
		}
		if r.OverSSH() && forward.Goes(v, inv) {
			return r.forward(v, inv, c)
		}
		if v.Access != verbs.NoDatabase && !r.OverSSH() {
			if err := r.permitted(c); err != nil {
				return err
			}
		}
		return r.do(v, c)
	}))
}

// Surroundings are what global flags are read in.
func (r *Run) Surroundings() verbs.Surroundings {
	return verbs.Surroundings{Getenv: r.Getenv, Now: r.Env.Clock, Zone: r.Loc}
}

// Instant is the instant the run works at: --now, or the clock.
func (r *Run) Instant() time.Time {
	if !r.Now.IsZero() {
		return r.Now
	}
	return r.Env.Clock()
}
