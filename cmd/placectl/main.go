// Command placectl places jobs on a cluster that is described by one file: no
// daemon, every verb one transaction.
//
// This package owns flags, output and exit codes, and nothing else: what a verb
// means is decided in package store and below. A run goes through three steps.
// A command line is read with the declarations of the verbs at hand
// (internal/verbs); the verb runs and prints through a printer (answer.go);
// and its error becomes a message and an exit status (exit.go). Everything the
// process is given, the clock included, comes in through env, so that tests run
// whole commands inside one process.
//
// Each verb, or small family of verbs such as class set and class rm, has a file of its own,
// cmd_*.go, with one function that declares it: its arguments,
// flags and exit statuses, what it does to the database, what help says of it
// (internal/verbs). allVerbs (all_verbs.go) lists them.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/asked"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/forward"
	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/inlogs"
	"github.com/placectl/placectl/cmd/placectl/internal/keyed"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/cmd/placectl/internal/people"
	"github.com/placectl/placectl/cmd/placectl/internal/process"
	attempts "github.com/placectl/placectl/cmd/placectl/internal/runner"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
	"golang.org/x/term"
)

func main() { runProcess(processEnv()) }

// runProcess is a whole process.
func runProcess(e env) {
	// The first interrupt asks the verb to stop; the next one has its usual
	// effect, so that nobody is kept waiting by a verb that does not listen.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	// Writing an answer that nobody reads is to fail, and not to end the process: it
	// may tell of a change.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	if err := process.CheckPoller(); err != nil {
		os.Exit(newRunner(ctx, e).report(err))
	}
	status := run(ctx, e)
	if status == exit.Pipe {
		process.DieBy(syscall.SIGPIPE)
	}
	os.Exit(status)
}

// env is all that a run is given by the process around it.
type env struct {
	args           []string // without the program's name
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	environ        func() []string // NAME=VALUE
	now            func() time.Time
	loc            *time.Location // what "local time" means
	stdoutTTY      bool
	stderrTTY      bool
	width          func() int                                      // columns of the terminal, 0 for no limit
	self           func() string                                   // the name of the real uid: for whom requests are that do not say so
	namespaced     func() bool                                     // it is in a user namespace
	attendantKeeps func() []string                                 // what an attendant gets into its environment besides; nil: nothing
	watch          func(verb string, res output.Result, row []any) // for tests: sees the answers in JSON; may be nil
	// commit runs a function on a database and keeps what it changed, or not. It may
	// run it more than once.
	commit func(db *store.DB, keep bool, fn func(*store.Tx) error) error
	// inWords does the same of what is said in words, too; nil: nothing is.
	inWords func(db *store.DB, words *store.Words, fn func(*store.Tx) error) (answer []byte, err error)
}

// processEnv is the env of a real process.
func processEnv() env {
	return env{
		args:       asVerb(os.Args),
		stdin:      os.Stdin,
		stdout:     os.Stdout,
		stderr:     os.Stderr,
		getenv:     os.Getenv,
		environ:    os.Environ,
		now:        time.Now,
		loc:        time.Local,
		stdoutTTY:  term.IsTerminal(int(os.Stdout.Fd())),
		stderrTTY:  term.IsTerminal(int(os.Stderr.Fd())),
		width:      terminalWidth,
		self:       sync.OnceValue(func() string { return people.System.Name(uint32(os.Getuid())) }),
		namespaced: sync.OnceValue(people.InNamespace),
		commit:     commit,
		inWords:    (*store.DB).UpdateInWords,
	}
}

func terminalWidth() int {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	w, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil || w < 0 {
		return 0
	}
	return w
}

// runner carries one run of the command; every verb's action closes over it.
type runner struct {
	env
	verbs.Globals
	ctx       context.Context    // ended by an interrupt
	stop      context.CancelFunc // interrupts the run
	answers   *process.Answers   // what stdout leads to in the end
	changed   bool               // what was asked for has changed something, now or when its key was new
	begun     bool               // the command that the verb runs was
	committed func()             // called after the commit, nil for nothing
	leaving   *leaving           // the attendant that is left behind after the answer; nil: none
	left      *leaving           // the one that was left behind last
	leftAt    time.Time          // when that was
	isFront   bool               // it is qsub, sbatch or one of their likes
	tx        *store.Tx          // of the transaction that the run is part of, nil outside one
	notes     io.Writer          // for what notef says: stderr, if it is not held back
	verbs     verbs.List[*runner]
	verb      *verb // the one that runs
	dash      int   // how many arguments stood before "--", -1 without one
	inv       invocation
	lines     payload.Lines       // of submit --each
	carried   *payload.Carried    // the surroundings of who submits from another host, nil: nobody does
	inputs    keyed.Inputs        // hashes of what was read of files and standard input
	handed    asked.Read          // what that was, where it may be handed over
	asker     *asker              // the process for which the verb is run, nil: this one
	rec       *keyed.Recording    // that answers go into, nil for stdout
	attending *attempts.Attending // of run: who would notice if this were killed, nil for nobody
	kept      *keyed.Recording    // the answer to a request with a key
	repeated  bool                // it was given before
	front     *fronts.Submission  // of qsub or sbatch, nil: it is not one of them that submits
	inLogs    *inlogs.Handles     // the handles on databases that are kept in logs
	behind    bool                // a writer may come from before the instant of the database
	dry       bool                // nothing is changed: --dry-run
	widths    []int               // of columns, as the shell was told
}

func newRunner(ctx context.Context, e env) *runner { return newRun(ctx, e, allVerbs()) }

// newRun makes a run of one of the verbs of a list.
func newRun(ctx context.Context, e env, list verbs.List[*runner]) *runner {
	out := &process.Answers{Writer: e.stdout}
	e.stdout = out
	ctx, stop := context.WithCancel(ctx)
	return &runner{env: e, ctx: ctx, stop: stop, answers: out, notes: e.stderr, verbs: list, dash: -1, inLogs: new(inlogs.Handles)}
}

// run runs one command and returns its exit status.
func run(ctx context.Context, e env) int { return newRunner(ctx, e).outcome() }

// outcome runs the command, tells what went wrong, and returns the exit status.
func (r *runner) outcome() (status int) {
	defer func() {
		if p := recover(); p != nil {
			status = r.crashed(p)
		}
	}()
	err := r.delivered(r.main())
	if r.changed {
		defer r.leave()
		r.noteMade()
	}
	r.leaveLogs()
	if r.pipeClosed() {
		return exit.Pipe
	}
	return r.report(err)
}

// main reads the command line and runs what it asks for. The globals are read
// even when the rest is wrong, for they say how the error is to be shown.
func (r *runner) main() error {
	inv, err := r.verbs.Parse(r.env.args)
	g, globalsErr := verbs.ReadGlobals(inv.Globals, r.surroundings())
	r.Globals = g
	if len(inv.Path) > 0 {
		r.verb = inv.Leaf()
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
		fmt.Fprintln(r.stderr, forward.Begins+g.Begun)
	}
	if !inv.Leaf().Brief {
		process.CollectLess()
	}
	return r.exec(inv)
}

// exec runs the innermost verb of a command line that parseArgs has understood. The
// verbs above it have done their part.
func (r *runner) exec(inv invocation) error {
	v := inv.Leaf()
	r.verb, r.dash, r.inv = v, inv.Dash, inv
	return usage.Name(inv.Verb(), func() error {
		c, err := inv.Context(r.ctx)
		if err != nil {
			return err
		}
		if err := v.Check(c); err != nil {
			return err
		}
		r.dry = r.dry || c.Bool(verbs.DryRun)
		if r.overSSH() && forward.Goes(v, inv) {
			return r.forward(v, inv, c)
		}
		if v.Access != verbs.NoDatabase && !r.overSSH() {
			if err := r.permitted(c); err != nil {
				return err
			}
		}
		return r.do(v, c)
	}())
}

// surroundings are what global flags are read in.
func (r *runner) surroundings() verbs.Surroundings {
	return verbs.Surroundings{Getenv: r.getenv, Now: r.env.now, Zone: r.loc}
}

// now is the instant the run works at: --now, or the clock.
func (r *runner) now() time.Time {
	if !r.Now.IsZero() {
		return r.Now
	}
	return r.env.now()
}

// input opens what an argument names for reading: a file, or standard input
// for "-".
func (r *runner) input(name string) (io.ReadCloser, error) {
	if r.asker != nil {
		in, err := r.asker.Open(name)
		if err != nil {
			return nil, err
		}
		return r.hashed(in), nil
	}
	in := io.NopCloser(r.stdin)
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		in = f
	}
	if store.IsLog(r.DB) {
		in = r.handed.Reader(name, in)
	}
	return r.hashed(in), nil
}

// readText reads an input to its end.
func (r *runner) readText(name string) (infile.Text, error) {
	in, err := r.input(name)
	if err != nil {
		return infile.Text{}, err
	}
	defer in.Close()
	data, err := infile.ReadAll(in)
	return infile.New(shownFile(name), data), err
}

// notef tells the user something that is not part of the answer; -q silences it.
func (r *runner) notef(format string, args ...any) {
	if r.front != nil {
		r.front.Notes = append(r.front.Notes, text.Printable(fmt.Sprintf(format, args...)))
		return
	}
	r.note(keyed.Part{Note: fmt.Sprintf(format, args...)})
}

// warnf warns the user of something that may not be meant; programs get the code.
func (r *runner) warnf(code, format string, args ...any) {
	if r.front != nil {
		r.notef("warning: "+format, args...)
		return
	}
	r.note(keyed.Part{Note: fmt.Sprintf(format, args...), Code: code})
}

// note tells a note or a warning, or records it.
func (r *runner) note(p keyed.Part) {
	switch {
	case r.rec != nil:
		r.rec.Add(p)
	case r.Quiet || p.Verbose && !r.Verbose:
	case r.audience().Document:
		r.notes.Write(exit.AppendWarning(nil, cmp.Or(p.Code, "note"), p.Note)) //nolint:errcheck // there is nowhere left to complain to
	default:
		words := r.localTimes(p.Note)
		if p.Code != "" {
			words = "warning: " + words
		}
		fmt.Fprintln(r.notes, "placectl: "+text.Printable(words))
	}
}

// debugf tells what only -v asks for.
func (r *runner) debugf(format string, args ...any) {
	r.note(keyed.Part{Note: fmt.Sprintf(format, args...), Verbose: true})
}
