// Package front holds the front-ends, qsub, sbatch and their likes, which build on the verbs submit
// and run.
package front

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/cmd/placectl/internal/fronts/pbs"
	frontrows "github.com/placectl/placectl/cmd/placectl/internal/fronts/rows"
	"github.com/placectl/placectl/cmd/placectl/internal/fronts/slurm"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verb/queue"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/people"
	"github.com/urfave/cli/v2"
)

// FrontEnds returns the systems whose commands placectl understands.
func FrontEnds() []*fronts.System { return []*fronts.System{pbs.System(), slurm.System()} }

// verbOf returns the verb that runs a system's commands.
func verbOf(f *fronts.System) string { return strings.ToLower(f.Name) }

// Args returns the arguments of a process. If it is called by the name of a PBS or Slurm command,
// that name becomes the verb.
func Args(args []string) []string {
	name := filepath.Base(args[0])
	if name != "placectl" {
		for _, f := range FrontEnds() {
			if slices.Contains(f.Names(), name) {
				return slices.Concat([]string{verbOf(f), name}, args[1:])
			}
		}
	}
	return args[1:]
}

// Pbs declares the verb pbs.
func Pbs() *session.Verb {
	return frontVerb(FrontEnds()[0], "placectl --db placectl.db pbs qsub -l select=2:ncpus=4 -- ./simulate\nplacectl "+
		"--db placectl.db pbs qstat")
}

// Slurm declares the verb slurm.
func Slurm() *session.Verb {
	return frontVerb(FrontEnds()[1], "placectl --db placectl.db slurm sbatch -n 4 --wrap ./simulate\nplacectl --db "+
		"placectl.db slurm squeue --me")
}

func frontVerb(f *fronts.System, example string) *session.Verb {
	return &session.Verb{
		Name:     verbOf(f),
		Category: "Queue",
		Usage:    "run a command of " + f.Name + " on this cluster",
		May:      engine.Anybody,
		Args: []verbs.Arg{{Name: "COMMAND", Kind: verbs.KindText},
			{Name: "WORDS", Kind: verbs.KindText, Optional: true, Many: true}},
		Description: "COMMAND is one of " + strings.Join(f.Names(), ", ") +
			". Its options, output and exit status are those of\n" +
			f.Name + ". placectl install-frontends makes links with these names, which do the same. " +
			"PLACECTL_DB names\n" +
			"the database, or a line db = FILE in ~/.config/placectl.conf or /etc/placectl.conf does.",
		Access: verbs.Writes, Waits: true,
		Raw:     true,
		Unkeyed: true,
		Alone:   true,
		Revives: true,
		Example: example,
		Run:     func(r *session.Run, c *cli.Context) error { return runFront(r, f, c.Args().Slice()) },
	}
}

// runFront runs a command of another system.
func runFront(r *session.Run, f *fronts.System, words []string) error {
	if !slices.Contains(f.Names(), words[0]) {
		return usage.Errorf("%s is not one of %s's commands here: %s", words[0], f.Name, strings.Join(f.Names(), ", "))
	}
	if err := frontDatabase(r); err != nil && !f.Informs(words[1:]) {
		return err
	}
	r.Quiet, r.Verbose, r.IsFront = true, false, true
	host, err := frontHost(r)
	if err != nil {
		return err
	}
	call := &fronts.Call{Name: words[0], Args: words[1:], Stdin: r.Stdin, Stdout: r.Stdout, Stderr: r.Stderr,
		Cluster: &cluster{r, host},
		Here: &typed{stepHost{Environ: r.Environ(), Database: r.DatabasePath(), Terminal: r.StderrTTY},
			&cluster{r, host}}, Host: *host}
	status, _ := f.Run(call)
	if lost := r.Answers.Err; lost != nil && r.Changed {
		fmt.Fprintf(r.Stderr, f.Failure, words[0], fmt.Errorf("%w: %w", exit.ErrLost, lost))
		status = f.Code
	}
	if status != 0 {
		return exit.Status(status)
	}
	return nil
}

// frontDatabase finds the database: the one that is named, or else the one in a file of settings.
// It ignores the working directory, because a program may run in any.
func frontDatabase(r *session.Run) error {
	if r.Getenv("PLACECTL_DB") != "" || slices.ContainsFunc(r.Inv.Globals, func(s verbs.Setting) bool {
		return s.Flag.Name == "db"
	}) {
		if r.OverSSH() {
			return usage.Errorf("the commands of PBS and Slurm need a local database; %s is reached over ssh", r.DB)
		}
		return nil
	}
	for _, name := range []string{filepath.Join(r.Home(), ".config", "placectl.conf"), "/etc/placectl.conf"} {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			key, value, ok := strings.Cut(line, "=")
			if value = strings.TrimSpace(value); ok && strings.TrimSpace(key) == "db" && value != "" {
				r.DB = value
				return nil
			}
		}
	}
	return usage.Errorf("no database is configured: set PLACECTL_DB, or write db = FILE into ~/.config/placectl.conf " +
		"or /etc/placectl.conf")
}

// frontHost returns what front-ends need to know about this machine and the calling user.
func frontHost(r *session.Run) (*fronts.Host, error) {
	me, err := r.Me()
	if err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	h := &fronts.Host{User: me.Name, UID: int(me.UID), Zone: r.Loc, Dir: dir, Exec: me.Host, People: people.System,
		Open: func(name string) (io.ReadCloser, error) { return os.Open(name) }}
	h.Master = engine.Permit(r.DB, r.StoreOptions(), engine.Operators, "jobs of others") == nil
	return h, nil
}

// cluster shows the database to front-ends.
type cluster struct {
	r    *session.Run
	host *fronts.Host
}

func (cl *cluster) rows(tx *engine.Tx) *frontrows.View {
	return &frontrows.View{Tx: tx, Database: cl.r.DB, Host: cl.host}
}

func (cl *cluster) View(fn func(fronts.View) error) error {
	return denied(cl.r.View(func(tx *engine.Tx) error { return fn(cl.rows(tx)) }))
}

// denied converts a refusal of permission into the error that front-ends know.
func denied(err error) error {
	if errors.Is(err, engine.ErrNotPermitted) {
		return fmt.Errorf("%w: %w", fronts.ErrDenied, err)
	}
	return err
}

// Update uses a key of its own. So if the outcome of the commit is unknown, it can repeat the
// change, which is made only once.
func (cl *cluster) Update(fn func(fronts.Change) error) error {
	key := session.DrawNonce()
	inv, keyed := cl.r.Inv, *cl.r.Verb
	keyed.Flags = []cli.Flag{verbs.KeyFlag()}
	inv.Path = []*session.Verb{&keyed}
	inv.Flags = append(slices.Clone(inv.Flags),
		verbs.Given{Flag: verbs.KeyFlag(), Value: "front-" + hex.EncodeToString(key[:])})
	c, err := inv.Context(cl.r.Ctx)
	if err != nil {
		return err
	}
	signals := queue.NewSignals(cl.r, 10*time.Second)
	do := func() error {
		return cl.r.Update(c, func(tx *engine.Tx) error {
			return signals.Within(func() error { return fn(&change{cl.rows(tx), cl.r, signals}) })
		})
	}
	return denied(signals.Deliver(func() error {
		err := do()
		if errors.Is(err, engine.ErrUnknown) {
			err = do()
		}
		return err
	}))
}

func (cl *cluster) Wait(job uint64) error {
	return cl.waitWhile(job, func(s fronts.State) bool { return !s.Over() })
}

func (cl *cluster) WaitStart(job uint64) error {
	return cl.waitWhile(job, func(s fronts.State) bool { return s < fronts.Running })
}

// waitWhile waits while is holds for the state of a job, or of any job of an array.
func (cl *cluster) waitWhile(job uint64, is func(fronts.State) bool) error {
	for {
		seen := cl.r.FileStamp()
		live := false
		err := cl.View(func(v fronts.View) error {
			live = false
			return v.Jobs(fronts.Selection{IDs: []uint64{job}, Ended: true}, func(j *fronts.Job) error {
				live = live || is(j.State)
				return nil
			})
		})
		if err != nil || !live {
			return err
		}
		if err := cl.r.WaitForChange(seen, cl.r.Env.Clock().Add(time.Hour), time.Time{}); err != nil {
			return err
		}
	}
}

func (cl *cluster) Unread() bool { return cl.r.PipeClosed() }

// change is a transaction for front-ends.
type change struct {
	*frontrows.View
	r       *session.Run
	signals *queue.Signals
}

func (ch *change) Do(what fronts.Deed, job uint64) (err error) {
	switch what {
	case fronts.Cancel:
		_, err = ch.Tx.Jobs().Cancel(job, "")
	case fronts.Kill:
		var j *engine.Job
		if j, err = ch.Tx.Jobs().Cancel(job, ""); err == nil && j.Ending {
			_, err = ch.Tx.Attempts().GiveBack(job)
		}
	case fronts.Hold:
		_, err = ch.Tx.Jobs().Hold(job, "")
	case fronts.Unhold:
		_, err = queue.UnholdJob(ch.r, ch.Tx, job)
	case fronts.Requeue:
		_, err = ch.Tx.Jobs().Requeue(job, "")
	case fronts.RequeueHeld:
		_, err = ch.Tx.Jobs().RequeueHeld(job, "")
	}
	return err
}

func (ch *change) Throttle(array uint64, most int64) error {
	if most == 0 {
		most = -1
	}
	return ch.Tx.Limits().Throttle(array, most)
}

func (ch *change) Signal(job uint64, number int) error {
	return ch.signals.Send(ch.Tx, job, number)
}

func (ch *change) SetNode(name, state, reason string) error {
	number, ok, err := ch.Tx.Nodes().Number(name)
	if err != nil {
		return err
	}
	if !ok {
		_, err := ch.Tx.Nodes().Get(name)
		return err
	}
	to, err := index.ParseState(state)
	if err != nil {
		return err
	}
	err = ch.Tx.Nodes().SetState(number, to, reason)
	if err == nil && to == index.Down {
		_, err = ch.Tx.Attempts().PutBack(number, "node "+name+" went down")
	}
	return err
}
