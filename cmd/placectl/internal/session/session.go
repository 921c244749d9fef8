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
	"slices"
	"sync"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/forward"
	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/cmd/placectl/internal/keyed"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/cmd/placectl/internal/process"
	"github.com/placectl/placectl/cmd/placectl/internal/told"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Env is what the surrounding process gives a run.
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
	Width          func() int // columns of the terminal, 0 for no limit
	// the name of the real uid, for requests that name no user
	Self           func() string
	Namespaced     func() bool                                     // in a user namespace
	AttendantKeeps func() []string                                 // variables added for an attendant, nil: none
	Watch          func(verb string, res output.Result, row []any) // for tests: sees the answers in JSON; may be nil
	// Commit runs fn on a database and keeps its changes if keep is set. It may run fn more
	// than once.
	Commit func(db *engine.DB, keep bool, fn func(*engine.Tx) error) error
}

// Run is one run of the command. Every verb's action closes over it.
type Run struct {
	Env
	verbs.Globals
	Ctx       context.Context    // ended by an interrupt
	Stop      context.CancelFunc // interrupts the run
	Answers   *process.Answers   // where stdout ends up
	Changed   bool               // the command changed something, now or when its key was new
	Begun     bool               // the verb's command has been started
	committed func()             // called after the commit, nil for nothing
	leaving   *leaving           // the attendant to start after the answer, nil: none
	left      *leaving           // of the last attendant started
	leftAt    time.Time          // when it was started
	IsFront   bool               // called as qsub, sbatch or the like
	Tx        *engine.Tx         // of the transaction around the run, nil outside one
	TxMade    []told.Numbers     // the jobs that its lines have made so far
	warned    *sync.Map          // the store's warnings so far
	notes     io.Writer          // where Notef writes: stderr, unless held back
	Verbs     verbs.List[*Run]
	Verb      *Verb // the running verb
	Dash      int   // how many arguments stood before "--", -1 without one
	Inv       Invocation
	Lines     payload.Lines      // of submit --each
	Carried   *payload.Carried   // the environment of a user who submits from another host, or nil
	Inputs    keyed.Inputs       // hashes of the files and standard input read
	Rec       *keyed.Recording   // takes the answers, nil for stdout
	Kept      *keyed.Recording   // the answer to a request with a key
	Repeated  bool               // the answer is a repeat
	repeated  told.Numbers       // the jobs that were made when its key was new
	Submitted told.Numbers       // the jobs that the commit has made, or had when its key was new
	Front     *fronts.Submission // a submission through qsub or sbatch, nil: none
	handles   *handles
	Behind    bool  // a writer's clock may be behind the database
	Dry       bool  // --dry-run: nothing is changed
	Widths    []int // of columns, as set in the shell
}

// New makes a run of one of the verbs in list.
func New(ctx context.Context, e Env, list verbs.List[*Run]) *Run {
	out := &process.Answers{Writer: e.Stdout}
	e.Stdout = out
	ctx, stop := context.WithCancel(ctx)
	return &Run{Env: e, Ctx: ctx, Stop: stop, Answers: out, notes: e.Stderr, warned: new(sync.Map), Verbs: list,
		Dash: -1, handles: new(handles)}
}

// Outcome runs the command, reports its error and returns the exit status.
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
	r.CloseAll()
	if r.PipeClosed() {
		return exit.Pipe
	}
	return r.Report(err)
}

// Main reads the command line and runs it. It reads the global flags even if the rest is wrong,
// because they say how to show the error.
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
	if word := r.Getenv(StartVariable); !slices.Contains([]string{"", engine.StartAuto, engine.StartManual}, word) {
		return usage.Of("", "%s: %w", StartVariable, text.NotOneOf(word, []string{engine.StartAuto,
			engine.StartManual}))
	}
	if g.Begun != "" {
		fmt.Fprintln(r.Stderr, forward.Begins+g.Begun)
	}
	if !inv.Leaf().Brief {
		process.CollectLess()
	}
	return r.Exec(inv)
}

// Exec runs the innermost verb of a parsed command line. The verbs above it have done their part.
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

// Surroundings returns what reading the global flags depends on.
func (r *Run) Surroundings() verbs.Surroundings {
	return verbs.Surroundings{Getenv: r.Getenv, Now: r.Env.Clock, Zone: r.Loc}
}

// Instant returns the instant at which the run works: --now, or the clock.
func (r *Run) Instant() time.Time {
	if !r.Now.IsZero() {
		return r.Now
	}
	return r.Env.Clock()
}
