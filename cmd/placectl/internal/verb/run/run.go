package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/localorder"
	"github.com/placectl/placectl/cmd/placectl/internal/request"
	attempts "github.com/placectl/placectl/cmd/placectl/internal/runner"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// Run declares the verb run.
func Run() *session.Verb {
	return &session.Verb{
		Name:     "run",
		Category: "Queue",
		Usage:    "run a command here as a job, and wait for it",
		May:      store.Anybody,
		Args:     []verbs.Arg{{Name: "SELECT", Kind: verbs.KindRequest, Optional: true}, {Name: "-- COMMAND", Kind: verbs.KindCommand}, {Name: "ARGUMENTS", Kind: verbs.KindCommand, Optional: true, Many: true}},
		Description: "If the job does not fit now, it waits in the queue. The command runs here, not on the nodes, with\n" +
			"PLACECTL_JOB, PLACECTL_NODELIST, PLACECTL_NODEFILE (a line for each chunk) and others set. run passes signals\n" +
			"on to it, and exits with the command's status.\n\n" +
			"If a signal ended it, the status is 128 plus the signal's number. It is 127 if there is no such command and\n" +
			"126 if it cannot be executed; then no job is made. Failures of run itself before the command begins add 100 to\n" +
			"the statuses of other verbs. If another verb ends the job, its command gets SIGTERM. If run and its command\n" +
			"are killed, the next cycle on this host ends the job.",
		Flags: append(request.Flags(), request.Bind(), request.OverLimits(),
			&cli.Int64Flag{Name: "priority", Aliases: []string{"p"}, Usage: "priority `P` while it waits; higher runs first (0)"},
			&cli.StringFlag{Name: "wait", Usage: "give up if its turn has not come after `D`"}),
		Access:   verbs.Writes,
		Unkeyed:  true,
		Alone:    true,
		Passes:   true,
		Statuses: []int{exit.NotNow, exit.Never},
		Example: "placectl run 2:ncpus=4 -t 1h -- sh -c 'mpirun --hostfile $PLACECTL_NODEFILE ./solve'\n" +
			"placectl run 1:ngpus=1 --wait 10m -- make test",
		Run: run,
	}
}

func run(r *session.Run, c *cli.Context) error {
	args := c.Args().Slice()
	if r.Dash < 0 || len(args) == r.Dash {
		return usage.Errorf("put the command after --: placectl run 1:ncpus=4 -- make test")
	}
	args, argv := args[:r.Dash], args[r.Dash:]
	q, err := r.Request(c, args)
	if err != nil {
		return err
	}
	s := store.Submission{Request: q, Attended: true, Command: argv}
	s.Priority = c.Int64("priority")
	patience, err := patience(r, c)
	if err != nil {
		return err
	}
	program, err := launch.Find(argv[0])
	if err != nil {
		return err
	}
	if !c.Bool(verbs.DryRun) {
		if r.Attending = AttendRun(r); r.Attending != nil {
			defer r.Attending.End()
		}
	}
	job, err := placeOrQueue(r, c, s)
	if err != nil {
		return err
	}
	if c.Bool(verbs.DryRun) {
		return r.View(func(tx *store.Tx) error { return r.PrintPlacement(tx, job, false) })
	}
	if job.State != store.JobRunning {
		r.Notef("job %d waits for its turn", job.ID)
		if job, err = AwaitTurn(r, c, job, patience); err != nil {
			return err
		}
	}
	return RunJob(r, job, program, argv, nil)
}

// placeOrQueue starts the job now, or puts it into the queue.
func placeOrQueue(r *session.Run, c *cli.Context, s store.Submission) (job *store.Job, err error) {
	err = r.Ordered(&s.Request, func() error {
		return r.Update(c, func(tx *store.Tx) error {
			s := s
			if err := localorder.Wanted(tx, &s.Request); err != nil {
				return err
			}
			if job, err = tx.Jobs().Place(s.Request); err == nil {
				job.Command = s.Command
				return errors.Join(tx.Jobs().SetCommand(job.ID, s.Command), Attends(r, tx, job), claim(r, tx, job))
			}
			if !errors.Is(err, placer.ErrNotNow) {
				return err
			}
			if err := session.ClassOf(tx, c, &s); err != nil {
				return err
			}
			jobs, err := tx.Jobs().Submit(s)
			if err != nil {
				return err
			}
			job = jobs[0]
			if err := Attends(r, tx, job); err != nil {
				return err
			}
			return Pass(r, tx, &job)
		})
	})
	return job, err
}

// Pass makes a scheduling pass on behalf of the job. Other jobs that it starts are left for the
// next cycle to launch.
func Pass(r *session.Run, tx *store.Tx, job **store.Job) error {
	if _, err := r.EndAttended(tx); err != nil {
		return err
	}
	_, err := tx.Cycle().Run(store.CycleSpec{Silent: true})
	if err != nil {
		return err
	}
	if *job, err = tx.Jobs().Get((*job).ID); err == nil && (*job).State == store.JobRunning {
		err = claim(r, tx, *job)
	}
	return err
}

// AwaitTurn waits until the job runs. When the file has changed or the job's time has come, it
// schedules the queue itself, because perhaps no other process does. When its patience ends, it
// cancels the job.
func AwaitTurn(r *session.Run, c *cli.Context, job *store.Job, patience time.Duration) (*store.Job, error) {
	deadline := r.Env.Clock().Add(patience)
	ctx := r.Ctx
	defer func() { r.Ctx = ctx }()
	var stop context.CancelFunc
	r.Ctx, stop = signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	for {
		named := time.Time{}
		if job.State == store.JobReserved {
			named = job.Start
		}
		seen := r.FileStamp()
		err := r.Update(c, func(tx *store.Tx) error { return Pass(r, tx, &job) })
		switch {
		case err != nil:
			return nil, err
		case job.State == store.JobRunning:
			return job, nil
		case !job.State.Live():
			return nil, &store.Conflict{What: "job " + listing.JobID(job), Why: "it was " + job.State.String() + " while it waited: " + job.Reason.String()}
		}
		if now := r.FileStamp(); job.State == store.JobReserved && now != seen {
			seen, named = now, job.Start
		}
		err = r.WaitForChange(seen, deadline, named)
		if err == nil && !r.Env.Clock().Before(deadline) {
			err = fmt.Errorf("%w: its turn did not come within %s", placer.ErrNotNow, c.String("wait"))
		}
		if err != nil {
			return nil, errors.Join(err, withdraw(r, c, job))
		}
	}
}

// Forever is how long a run waits without --wait.
const Forever = 10 * 365 * 24 * time.Hour

// patience returns how long a run waits for its turn, Forever without --wait.
func patience(r *session.Run, c *cli.Context) (time.Duration, error) {
	if !c.IsSet("wait") {
		return Forever, nil
	}
	return r.Duration(c, "wait")
}

// withdraw takes the job out of the queue.
func withdraw(r *session.Run, c *cli.Context, job *store.Job) error {
	return r.Update(c, func(tx *store.Tx) error {
		_, err := tx.Jobs().Cancel(job.ID, "run was stopped before its turn came")
		if errors.Is(err, store.ErrConflict) {
			return nil // another process has done it
		}
		return err
	})
}

// RunJob runs the command of a job that holds its nodes, with env added to its environment, and
// then gives the nodes back.
func RunJob(r *session.Run, job *store.Job, program string, argv, env []string, nodeFiles ...string) error {
	var told []launch.Notice
	err := r.View(func(tx *store.Tx) (err error) {
		told, err = noticesOf(tx, &store.CycleReport{Launch: []*store.Job{job}})
		return err
	})
	if err != nil {
		return err
	}
	told[0].Env, told[0].NodeFiles = append(told[0].Env, env...), nodeFiles
	if r.Attending != nil {
		told[0].Env = append(told[0].Env, r.Attending.Environ())
	}
	command := launch.Command{Program: program, Words: argv, In: r.Stdin, Out: r.Answers.Writer, Err: r.Stderr, Terminal: r.StderrTTY}
	seen, stopped, began := r.FileStamp(), false, 0
	command.Ended = func() bool {
		now := r.FileStamp()
		if now == seen {
			return false
		}
		seen = now
		if r.Attending != nil {
			if err := sendSignals(r, job, began); err != nil {
				r.Notef("signals: %v", err)
			}
		}
		stopped = endedByOthers(r, job.ID)
		return stopped
	}
	if r.Attending != nil {
		ctx, stop := context.WithCancel(r.Ctx)
		defer stop()
		own := *r // a copy, for use beside the run
		go keepBeat(&own, ctx)
		command.Began = func(pid int) {
			began = pid
			if err := r.Attending.Began(pid); err != nil {
				r.Notef("the command's process was not recorded: %v", err)
			}
		}
	}
	status, err := command.Run(r.DatabasePath(), &told[0])
	ended := endJob(r, job, status, stopped, err)
	if err != nil {
		return errors.Join(err, ended)
	}
	r.Begun = true
	if ended != nil { // the command's status counts
		r.Notef("the end of job %d was not recorded: %v", job.ID, ended)
	}
	if status != 0 {
		return exit.Status(status)
	}
	return nil
}

// keepBeat reports this host as alive while the command of a run goes on, unless that is short.
func keepBeat(r *session.Run, ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(time.Second):
	}
	if runner, _, err := r.AttemptsRunner(""); err == nil {
		runner.KeepBeat(ctx)
	}
}

// endJob records the exit status of the job's command, and whether it was stopped.
func endJob(r *session.Run, job *store.Job, status int, stopped bool, failed error) error {
	reason := ""
	if failed != nil {
		status, reason = exit.NoProgram, failed.Error()
	}
	if r.Attending == nil {
		return finishJob(r, job.ID, status, reason)
	}
	result := &store.Result{Job: job.ID, Attempt: job.Attempt, Nonce: r.Attending.As.Nonce, Outcome: store.OutcomeExited, Exit: status, Why: reason}
	if stopped {
		result.Outcome = store.OutcomeStopped
	}
	err := r.Attending.Tell(r.Ctx, result)
	if errors.Is(err, store.ErrConflict) {
		r.Notef("%v", err) // cancelled, say: the command's status counts
		return nil
	}
	return err
}

// finishJob records the exit status of a command that no attendant watches.
func finishJob(r *session.Run, id uint64, status int, reason string) error {
	db, err := r.Open()
	if err != nil {
		return err
	}
	return r.Write(db, true, func(tx *store.Tx) error {
		_, err := tx.Jobs().Finish(id, status, reason)
		return err
	})
}

// endedByOthers reports whether a job no longer runs. It returns false while that is unknown.
func endedByOthers(r *session.Run, id uint64) bool {
	var why string
	err := r.View(func(tx *store.Tx) error {
		j, err := tx.Jobs().Get(id)
		switch {
		case err == nil && j.State != store.JobRunning:
			why = "is " + j.State.String()
		case err == nil && j.Ending:
			why = "is " + j.Why()
		}
		return err
	})
	if err != nil {
		r.Debugf("%v", err)
	}
	if why != "" {
		r.Notef("job %d %s: its command is told to terminate", id, why)
	}
	return why != ""
}

// sendSignals sends the command's processes the signals that the database holds for them.
func sendSignals(r *session.Run, job *store.Job, command int) error {
	d := r.Dispatched("", os.Getuid())
	var a *store.Attempt
	err := r.View(func(tx *store.Tx) (err error) {
		a, err = tx.Attempts().Get(job.ID, job.Attempt)
		return err
	})
	if err != nil || len(a.Signals) == 0 || a.Nonce != r.Attending.As.Nonce {
		return err
	}
	for _, sig := range a.Signals {
		attempts.SignalTree(command, sig)
	}
	return d.Signalled(r.Ctx, attempts.Key{Job: job.ID, Number: job.Attempt}, a.Nonce, a.Sent+len(a.Signals))
}

// AttendRun lets others find out when this run is killed. It returns nil if that is impossible:
// then its job keeps its nodes to the end of its walltime.
func AttendRun(r *session.Run) *attempts.Attending {
	runner, _, err := r.AttemptsRunner("")
	if err != nil {
		r.Debugf("other processes will not notice if this one is killed: %v", err)
		return nil
	}
	a, err := runner.Attend(session.DrawNonce())
	if err != nil {
		r.Notef("other processes will not notice if this one is killed: %v", err)
		return nil
	}
	return a
}

// Attends records that this run waits for a job, or executes it.
func Attends(r *session.Run, tx *store.Tx, job *store.Job) error {
	if r.Attending == nil {
		return nil
	}
	return tx.Attempts().Attend(job.ID, r.Attending.As)
}

// claim claims the attempt that this run will execute.
func claim(r *session.Run, tx *store.Tx, job *store.Job) error {
	if r.Attending == nil {
		return nil
	}
	_, err := tx.Attempts().Claim(store.Claim{Job: job.ID, Attempt: job.Attempt, By: store.ByRun, Nonce: r.Attending.As.Nonce, Process: r.Attending.As.Process})
	return err
}
