// Package front holds the front-ends, qsub, sbatch and their likes, which stand on what the verbs submit
// and run do.
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
	"github.com/placectl/placectl/cmd/placectl/internal/people"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verb/queue"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// FrontEnd is one of the systems whose commands placectl understands.
type FrontEnd struct {
	verb, whose string
	run         func(*fronts.Call) (status int, done bool)
	Commands    []string
	unsure      int // the exit status of what is ours alone
}

func FrontEnds() []FrontEnd {
	return []FrontEnd{
		{"pbs", "PBS", pbs.Run, pbs.Commands(), 162},
		{"slurm", "Slurm", slurm.Run, slurm.Commands(), 1},
	}
}

// Args are the arguments of a process: one that is called as a command of PBS or Slurm is
// that verb.
func Args(args []string) []string {
	name := filepath.Base(args[0])
	if name != "placectl" {
		for _, f := range FrontEnds() {
			if slices.Contains(f.Commands, name) {
				return slices.Concat([]string{f.verb, name}, args[1:])
			}
		}
	}
	return args[1:]
}

// Pbs declares the verb pbs.
func Pbs() *session.Verb {
	return frontVerb(FrontEnds()[0], "placectl --db placectl.db pbs qsub -l select=2:ncpus=4 -- ./simulate\nplacectl --db placectl.db pbs qstat")
}

// Slurm declares the verb slurm.
func Slurm() *session.Verb {
	return frontVerb(FrontEnds()[1], "placectl --db placectl.db slurm sbatch -n 4 --wrap ./simulate\nplacectl --db placectl.db slurm squeue --me")
}

func frontVerb(f FrontEnd, example string) *session.Verb {
	return &session.Verb{
		Name:     f.verb,
		Category: "Queue",
		Usage:    "the commands of " + f.whose + ": what they are asked here they answer as there",
		May:      store.Anybody,
		Args:     []verbs.Arg{{Name: "COMMAND", Kind: verbs.KindText}, {Name: "WORDS", Kind: verbs.KindText, Optional: true, Many: true}},
		Description: "COMMAND is one of " + strings.Join(f.Commands, ", ") + ". Its options, its text and its exit status are those of\n" +
			f.whose + ". placectl install-frontends makes links, by whose names placectl does the same. The database\n" +
			"is what PLACECTL_DB says, or a line db = FILE in ~/.config/placectl.conf or /etc/placectl.conf.",
		Access:  verbs.Writes,
		Raw:     true,
		Unkeyed: true,
		Alone:   true,
		Revives: true,
		Example: example,
		Run:     func(r *session.Run, c *cli.Context) error { return runFront(r, f, c.Args().Slice()) },
	}
}

// runFront runs a command of another system.
func runFront(r *session.Run, f FrontEnd, words []string) error {
	if !slices.Contains(f.Commands, words[0]) {
		return usage.Errorf("%s is not one of %s's commands here: %s", words[0], f.whose, strings.Join(f.Commands, ", "))
	}
	if err := frontDatabase(r); err != nil {
		return err
	}
	r.Quiet, r.Verbose, r.IsFront = true, false, true
	host, err := frontHost(r)
	if err != nil {
		return err
	}
	call := &fronts.Call{Name: words[0], Args: words[1:], Stdin: r.Stdin, Stdout: r.Stdout, Stderr: r.Stderr, Cluster: &cluster{r, host},
		Here: &typed{stepHost{Environ: r.Environ(), Database: r.DatabasePath(), Terminal: r.StderrTTY}, &cluster{r, host}}, Host: *host}
	if status, _ := f.run(call); status != 0 {
		return exit.Status(status)
	}
	return nil
}

// frontDatabase finds the database: as said, else as a file of settings says. That of the
// directory where a program happens to stand is none to rely on.
func frontDatabase(r *session.Run) error {
	if r.Getenv("PLACECTL_DB") != "" || slices.ContainsFunc(r.Inv.Globals, func(s verbs.Setting) bool { return s.Flag.Name == "db" }) {
		if r.OverSSH() {
			return usage.Errorf("the commands of PBS and Slurm need a local database; %s is reached over ssh", r.DB)
		}
		return nil
	}
	for _, name := range []string{filepath.Join(r.Getenv("HOME"), ".config", "placectl.conf"), "/etc/placectl.conf"} {
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
	return usage.Errorf("no database is configured: set PLACECTL_DB, or write db = FILE into ~/.config/placectl.conf or /etc/placectl.conf")
}

// frontHost is what front-ends know of this machine, and of who calls.
func frontHost(r *session.Run) (*fronts.Host, error) {
	me, err := r.Me()
	if err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	h := &fronts.Host{User: me.Name, UID: int(me.UID), Zone: r.Loc, Dir: dir, Exec: me.Host, People: people.System, Open: func(name string) (io.ReadCloser, error) { return os.Open(name) }}
	h.Master = store.Permit(r.DB, r.StoreOptions(), store.Operators, "jobs of others") == nil
	return h, nil
}

// cluster is the database as front-ends see it.
type cluster struct {
	r    *session.Run
	host *fronts.Host
}

func (cl *cluster) rows(tx *store.Tx) *frontrows.View {
	return &frontrows.View{Tx: tx, Database: cl.r.DB, Host: cl.host}
}

func (cl *cluster) View(fn func(fronts.View) error) error {
	return denied(cl.r.View(func(tx *store.Tx) error { return fn(cl.rows(tx)) }))
}

// denied is an error as front-ends know it, if it says that something is not permitted.
func denied(err error) error {
	if errors.Is(err, store.ErrNotPermitted) {
		return fmt.Errorf("%w: %w", fronts.ErrDenied, err)
	}
	return err
}

// Update has a key of its own: if the outcome of the commit is unknown, it is repeated, and done
// only if it was not.
func (cl *cluster) Update(fn func(fronts.Change) error) error {
	key := session.DrawNonce()
	inv, keyed := cl.r.Inv, *cl.r.Verb
	keyed.Flags = []cli.Flag{verbs.KeyFlag()}
	inv.Path = []*session.Verb{&keyed}
	inv.Flags = append(slices.Clone(inv.Flags), verbs.Given{Flag: verbs.KeyFlag(), Value: "front-" + hex.EncodeToString(key[:])})
	c, err := inv.Context(cl.r.Ctx)
	if err != nil {
		return err
	}
	var sent []queue.SentTo
	do := func() error {
		return cl.r.Update(c, func(tx *store.Tx) error {
			sent = nil
			return fn(&change{View: cl.rows(tx), r: cl.r, sent: &sent})
		})
	}
	if err = do(); errors.Is(err, store.ErrUnknown) {
		err = do()
	}
	if err == nil && len(sent) > 0 {
		cl.r.Leave()
		err = queue.AwaitDelivery(cl.r, sent, cl.r.Env.Clock().Add(10*time.Second), "10s")
	}
	return denied(err)
}

func (cl *cluster) Wait(job uint64) error {
	return cl.waitWhile(job, func(s fronts.State) bool { return !s.Over() })
}

func (cl *cluster) WaitStart(job uint64) error {
	return cl.waitWhile(job, func(s fronts.State) bool { return s < fronts.Running })
}

// waitWhile waits while a job, or one of an array, is in such a state.
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

// change is a transaction that front-ends change.
type change struct {
	*frontrows.View
	r    *session.Run
	sent *[]queue.SentTo // signals that wait for their delivery
}

func (ch *change) Do(what fronts.Deed, job uint64) (err error) {
	switch what {
	case fronts.Cancel:
		_, err = ch.Tx.Jobs().Cancel(job, "")
	case fronts.Kill:
		var j *store.Job
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

func (ch *change) Signal(job uint64, number int) error {
	a, nth, err := ch.Tx.Attempts().Signal(job, number)
	if err == nil {
		*ch.sent = append(*ch.sent, queue.SentTo{Job: job, Attempt: a.Number, Number: nth})
	}
	return err
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
	return ch.Tx.Nodes().SetState(number, to, reason)
}
