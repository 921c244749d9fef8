package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/localorder"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/keeper"
	"github.com/placectl/placectl/internal/launch"
	"github.com/placectl/placectl/placer"
	"github.com/urfave/cli/v2"
)

// Foreground executes a job in this process, as run and srun do.
type Foreground struct {
	*session.Run
	lock *keeper.Attending // shows others that this process lives, nil for none
}

// InForeground lets others find out when this process is killed. If that is impossible, its job keeps
// its nodes to the end of its walltime. It fails with keeper.ErrSystem if this host executes nothing.
func InForeground(r *session.Run) (*Foreground, error) {
	if err := keeper.Executes(); err != nil {
		return nil, err
	}
	f := &Foreground{Run: r}
	runner, _, err := r.AttemptsRunner("")
	if err != nil {
		r.Debugf("other processes will not notice if this one is killed: %v", err)
		return f, nil
	}
	if f.lock, err = runner.Attend(session.DrawNonce()); err != nil {
		r.Notef("other processes will not notice if this one is killed: %v", err)
	}
	return f, nil
}

// End says that this process has ended its job.
func (f *Foreground) End() {
	if f.lock != nil {
		f.lock.End()
	}
}

// placeOrQueue starts the job now, or puts it into the queue.
func (f *Foreground) placeOrQueue(c *cli.Context, s engine.Submission) (job *engine.Job, err error) {
	err = f.Ordered(&s.Request, func() error {
		return f.Update(c, func(tx *engine.Tx) error {
			s := s
			if !c.Bool(verbs.DryRun) {
				if err := engine.Executing(tx); err != nil {
					return err
				}
			}
			if err := localorder.Wanted(tx, &s.Request); err != nil {
				return err
			}
			if job, err = tx.Jobs().Place(s.Request); err == nil {
				job.Command = s.Command
				return errors.Join(tx.Jobs().SetCommand(job.ID, s.Command), f.Attends(tx, job), f.claim(tx, job))
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
			if err := f.Attends(tx, job); err != nil {
				return err
			}
			return f.Pass(tx, &job)
		})
	})
	return job, err
}

// Pass makes a scheduling pass on behalf of the job. Other jobs that it starts are left for the
// next cycle to launch.
func (f *Foreground) Pass(tx *engine.Tx, job **engine.Job) error {
	if _, err := f.EndAttended(tx); err != nil {
		return err
	}
	_, err := tx.Cycle().Run(engine.CycleSpec{Silent: true})
	if err != nil {
		return err
	}
	if *job, err = tx.Jobs().Get((*job).ID); err == nil && (*job).State == engine.JobRunning {
		err = f.claim(tx, *job)
	}
	return err
}

// AwaitTurn waits until the job runs. When the file has changed or the job's time has come, it
// schedules the queue itself, because perhaps no other process does. When its patience ends, it
// cancels the job.
func (f *Foreground) AwaitTurn(c *cli.Context, job *engine.Job, patience time.Duration) (*engine.Job, error) {
	deadline := f.Env.Clock().Add(patience)
	ctx := f.Ctx
	defer func() { f.Ctx = ctx }()
	var stop context.CancelFunc
	f.Ctx, stop = signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	for {
		named := time.Time{}
		if job.State == engine.JobReserved {
			named = job.Start
		}
		seen := f.FileStamp()
		err := f.Update(c, func(tx *engine.Tx) error { return f.Pass(tx, &job) })
		switch {
		case err != nil:
			return nil, err
		case job.State == engine.JobRunning:
			return job, nil
		case !job.State.Live():
			why := "it was " + job.State.String() + " while it waited"
			if job.Reason.Text != "" {
				why += ": " + job.Reason.String()
			}
			return nil, &engine.Conflict{What: "job " + listing.JobID(job), Why: why}
		}
		if now := f.FileStamp(); job.State == engine.JobReserved && now != seen {
			seen, named = now, job.Start
		}
		err = f.WaitForChange(seen, deadline, named)
		if err == nil && !f.Env.Clock().Before(deadline) {
			err = fmt.Errorf("%w: its turn did not come within %s", placer.ErrNotNow, c.String("wait"))
		}
		if err != nil {
			return nil, errors.Join(err, withdraw(f.Run, c, job))
		}
	}
}

// withdraw takes the job out of the queue.
func withdraw(r *session.Run, c *cli.Context, job *engine.Job) error {
	err := r.Update(c, func(tx *engine.Tx) error {
		_, err := tx.Jobs().Cancel(job.ID, "run was stopped before its turn came")
		return err
	})
	if errors.Is(err, engine.ErrConflict) {
		return nil // another process has done it
	}
	return err
}

// RunJob runs the command of a job that holds its nodes, with env added to its environment, and
// then gives the nodes back.
func (f *Foreground) RunJob(job *engine.Job, program string, argv, env []string, nodeFiles ...string) error {
	var told []launch.Notice
	var w *watched
	err := f.View(func(tx *engine.Tx) (err error) {
		if w, err = f.watch(tx, job); err == nil {
			told, err = noticesOf(tx, &engine.CycleReport{Launch: []*engine.Job{job}})
		}
		return err
	})
	if err != nil {
		return err
	}
	told[0].Env, told[0].NodeFiles = slices.Concat(told[0].Env, f.Unset(), env), nodeFiles
	if f.lock != nil {
		told[0].Env = append(told[0].Env, f.lock.Environ())
	}
	command := launch.Command{Program: program, Words: argv, In: f.Stdin, Out: f.Answers.Writer, Err: f.Stderr,
		Terminal: f.StderrTTY,
		Grace:    engine.DefaultGrace,
		Signal:   func(pid int, sig syscall.Signal) { keeper.OwnFile().SignalTree(pid, int(sig)) },
		Began:    w.began,
		Ends:     w.ends}
	if f.lock != nil {
		ctx, stop := context.WithCancel(f.Ctx)
		defer stop()
		own := *f.Run // a copy, for use beside the run
		go keepBeat(&own, ctx)
	}
	status, err := command.Run(f.DatabasePath(), &told[0])
	if w.stopped == engine.OutcomeWalltime && !f.IsFront {
		status = overTime
	}
	ended := f.endJob(job, status, w.stopped, err)
	if err != nil {
		return errors.Join(err, ended)
	}
	f.Begun = true
	f.Told(job)
	if ended != nil {
		f.Notef("the end of job %d was not recorded: %v", job.ID, ended)
	}
	switch {
	case status != 0:
		return exit.Status(status)
	case w.stopped != engine.OutcomeNone && ended != nil:
		return fmt.Errorf("the command of job %d was told to terminate", job.ID)
	case ended != nil && !errors.Is(ended, engine.ErrConflict): // the next cycle on this host records it
		return nil
	}
	return f.unfinished(job.ID)
}

// unfinished says how a job has ended whose command exited with 0, unless it has finished: its walltime was over, or
// another process had ended it.
func (f *Foreground) unfinished(id uint64) error {
	var j *engine.Job
	err := f.View(func(tx *engine.Tx) (err error) {
		j, err = tx.Jobs().Get(id)
		return err
	})
	switch {
	case errors.Is(err, engine.ErrNotFound): // it is forgotten already
		return nil
	case err == nil && j.State != engine.JobFinished:
		return fmt.Errorf("job %d %s", id, strings.TrimSuffix(j.State.Is()+": "+j.Why(), ": "))
	}
	return err
}

// overTime is the exit status of a command that was ended because its walltime was over, as of timeout(1).
const overTime = 124

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
func (f *Foreground) endJob(job *engine.Job, status int, stopped engine.Outcome, failed error) error {
	reason := ""
	if stopped == engine.OutcomeWalltime {
		reason = "its walltime was over"
	}
	if failed != nil {
		status, reason = exit.NoProgram, failed.Error()
	}
	if f.lock == nil { // no attendant watches it
		if stopped != engine.OutcomeNone {
			status = cmp.Or(status, 1)
		}
		db, err := f.Open()
		if err != nil {
			return err
		}
		return f.Write(db, true, func(tx *engine.Tx) error {
			_, err := tx.Jobs().Finish(job.ID, status, reason)
			return err
		})
	}
	result := &engine.Result{Job: job.ID, Attempt: job.Attempt, Nonce: f.lock.As.Nonce, Outcome: engine.OutcomeExited,
		Exit: status, Why: reason}
	if stopped != engine.OutcomeNone {
		result.Outcome = stopped
	}
	err := f.lock.Tell(f.Ctx, result)
	if errors.Is(err, engine.ErrConflict) {
		f.Notef("%v", err) // cancelled, say
		return nil
	}
	return err
}

// Attends records that this process waits for a job, or executes it.
func (f *Foreground) Attends(tx *engine.Tx, job *engine.Job) error {
	if f.lock == nil {
		return nil
	}
	return tx.Attempts().Attend(job.ID, f.lock.As)
}

// claim claims the attempt that this process will execute.
func (f *Foreground) claim(tx *engine.Tx, job *engine.Job) error {
	if f.lock == nil {
		return nil
	}
	_, err := tx.Attempts().Claim(engine.Claim{Job: job.ID, Attempt: job.Attempt, By: engine.ByRun,
		Nonce: f.lock.As.Nonce, Process: f.lock.As.Process})
	return err
}
