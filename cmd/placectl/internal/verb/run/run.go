package run

import (
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/request"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/launch"
	"github.com/urfave/cli/v2"
)

// Run declares the verb run.
func Run() *session.Verb {
	return &session.Verb{
		Name:     "run",
		Category: "Queue",
		Usage:    "run a command here as a job, and wait for it",
		May:      engine.Anybody,
		Args: []verbs.Arg{{Name: "SELECT", Kind: verbs.KindRequest, Optional: true},
			{Name: "-- COMMAND", Kind: verbs.KindCommand}, {Name: "ARGUMENTS", Kind: verbs.KindCommand, Optional: true,
				Many: true}},
		Description: "If the job does not fit now, it waits in the queue. The command runs here, not on the " +
			"nodes, with\n" +
			"PLACECTL_JOB, PLACECTL_NODELIST, PLACECTL_NODEFILE (a line for each chunk) and others set. run " +
			"passes signals\n" +
			"on to it, and exits with the command's status.\n\n" +
			"If a signal ended it, the status is 128 plus the signal's number. It is 127 if there is no such " +
			"command and\n" +
			"126 if it cannot be executed; then no job is made. If run itself fails before the command starts, " +
			"the status is\n" +
			"100 plus the usual one. At the end of the walltime the command gets SIGTERM, and SIGKILL 30 s " +
			"later; the\n" +
			"status is then 124. So it is stopped if another verb ends the job: then the status is 1 rather " +
			"than 0. If run and\n" +
			"its command are killed, the next cycle on this host ends the job.",
		Flags: append(append(request.Flags(), request.Size()...), request.Bind(), request.OverLimits(),
			&cli.Int64Flag{Name: "priority", Aliases: []string{"p"},
				Usage: "priority `P` while it waits; higher runs first (0)"},
			&cli.StringFlag{Name: "wait", Usage: "give up if its turn has not come after `D`"}),
		Access: verbs.Writes, Waits: true,
		Unkeyed:  true,
		Alone:    true,
		Passes:   true,
		Statuses: map[int]string{exit.NotNow: "its turn did not come", exit.Never: "can never run"},
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
	s := engine.Submission{Request: q, Attended: true, Command: argv}
	s.Priority = c.Int64("priority")
	patience, err := patience(r, c)
	if err != nil {
		return err
	}
	program, err := launch.Find(argv[0])
	if err != nil {
		return err
	}
	f := &Foreground{Run: r}
	if !c.Bool(verbs.DryRun) {
		if f, err = InForeground(r); err != nil {
			return err
		}
		defer f.End()
	}
	job, err := f.placeOrQueue(c, s)
	if err != nil {
		return err
	}
	if c.Bool(verbs.DryRun) {
		return r.View(func(tx *engine.Tx) error { return r.PrintPlacement(tx, job, false, "") })
	}
	if job.State != engine.JobRunning {
		r.Notef("job %d waits for its turn", job.ID)
		if job, err = f.AwaitTurn(c, job, patience); err != nil {
			return err
		}
	}
	return f.RunJob(job, program, argv, nil)
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
