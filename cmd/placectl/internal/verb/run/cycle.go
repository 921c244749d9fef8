// Package run holds the verbs that make cycles and execute jobs on hosts: cycle, work, run, attend, logs.
package run

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/keyed"
	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/simulate"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/launch"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/urfave/cli/v2"
)

// Cycle declares the verb cycle.
func Cycle() *session.Verb {
	return &session.Verb{
		Name:     "cycle",
		Category: "Queue",
		Usage:    "start and plan waiting jobs: one pass over the queue",
		May:      engine.Anybody,
		Description: "Takes jobs by priority, then in order of submission. --launch executes jobs as placectl work " +
			"does; --exec runs a program for each. Any number of cycles may run at once.\n\nBackfill: with easy the " +
			"first job that does not fit gets a planned start, and others start if they do not delay it. --depth N " +
			"plans the first N. conservative plans all; with fcfs no job passes one that does not fit. relaxed " +
			"promises the first a latest start (the setting slack), and the shortest of the others fill in around " +
			"it.\n\nThe answer lists the jobs to launch, and those to stop since the last cycle, each once. Jobs are " +
			"stopped for other classes, if cancelled or queued again by hand, or past their walltime if " +
			"overdue=finish. If no cycle announced a planned job before its end, it is queued again.\n\n--exec runs " +
			"its program without a shell, with the job's command after the program's own arguments. It gets " +
			"PLACECTL_EVENT (start or stop), PLACECTL_JOB, PLACECTL_ATTEMPT, PLACECTL_NAME, PLACECTL_USER, " +
			"PLACECTL_NODELIST, PLACECTL_NODEFILE (a line for each chunk), PLACECTL_WALLTIME, PLACECTL_ARRAY and " +
			"PLACECTL_INDEX. PLACECTL_RUN is a script for sh that runs the job in its directory, with its variables " +
			"and output files; it has none of SLURM_ and PBS_. Both files are gone when the program has ended. " +
			"PLACECTL_PROGRAM is placectl, which is in PATH, too. From the environment it gets HOME, USER, LOGNAME, " +
			"SHELL, LANG, LC_*, TZ, TMPDIR, SSH_AUTH_SOCK, KRB5CCNAME and PLACECTL_*. It should return at once. If " +
			"it cannot start a job, the job is queued again; after three failures it is held. If it cannot stop one, " +
			"the next cycle tells it again.\n\n--forecast simulates the queue after the commit and stores the " +
			"expected starts, which job list and others show. Processes that run the queue do so " +
			"themselves.\n\n--launch makes passes after the commit on the hosts with work. On other hosts it uses " +
			"ssh HOST placectl --db D work --once. D is the setting launch_db.",
		Flags: []cli.Flag{
			verbs.Choice(&cli.StringFlag{Name: "backfill", Usage: "backfill by `B` (the setting backfill)"},
				backfill.PolicyNames()...),
			&cli.IntFlag{Category: "order", Name: "depth",
				Usage: "plan the first `N` jobs that do not fit (the setting depth)"},
			&cli.StringFlag{Category: "order", Name: "slack", Usage: "with relaxed: promise the first job a start at " +
				"most `X` of its walltimes late (the setting slack)"},
			&cli.BoolFlag{Category: "order", Name: "widest",
				Usage: "backfill the job with most processors first, whatever its priority"},
			&cli.BoolFlag{Name: "forecast", Usage: "store the expected starts of waiting jobs for all readers"},
			&cli.BoolFlag{Name: "launch", Usage: "execute jobs, here and on other hosts over ssh"},
			&cli.StringFlag{Name: "exec", Usage: "launch jobs with `CMD`"},
			&cli.StringFlag{Category: "time", Name: "exec-timeout", Usage: "timeout `D` of a launch (1m)"},
			&cli.StringFlag{Category: "time", Name: "max-time",
				Usage: "take about `D` at most, and report what was not reached"},
		},
		Takes: map[string]engine.Right{"exec": engine.Operators, "backfill": engine.Operators,
			"depth": engine.Operators, "slack": engine.Operators, "widest": engine.Operators},
		Access:    verbs.Writes,
		Asks:      true,
		Thinks:    true,
		Exclusive: []string{"launch exec"},
		Example: "placectl cycle --launch\nplacectl cycle --exec ./launch\nplacectl cycle --backfill conservative " +
			"--dry-run\n" +
			"* * * * * placectl --db /srv/cluster.db cycle -q --exec /srv/launch     # in a crontab",
		Run: cycle,
	}
}

func cycle(r *session.Run, c *cli.Context) error {
	spec, err := cycleSpec(r, c)
	if err != nil {
		return err
	}
	for _, flag := range []string{"exec", "launch", "forecast"} {
		if c.IsSet(flag) && r.Tx != nil {
			return usage.Of("tx", "--%s cannot be part of a transaction", flag)
		}
	}
	launcher, err := launcher(r, c)
	if err != nil {
		return err
	}
	if launcher != nil {
		spec.By, spec.Nonce = engine.ByLauncher, session.DrawNonce()
	}
	passes := c.Bool("launch")
	if passes {
		spec.By = engine.BySupervisor
	}
	var told []launch.Notice
	var stopped []*engine.Job
	hooked := false
	err = r.Update(c, func(tx *engine.Tx) error {
		if _, err := r.EndAttended(tx); err != nil {
			return err
		}
		report, err := tx.Cycle().Run(spec)
		if err != nil {
			return err
		}
		if launcher == nil {
			report.Launch = printed(report)
		}
		if launcher == nil || c.Bool(verbs.DryRun) {
			err = printTold(r, tx, report)
		} else if told, err = noticesOf(tx, report); len(told) == 0 {
			err = errors.Join(err, printLaunched(r, tx, nil, nil))
		} else if r.Rec != nil {
			r.Rec.Add(keyed.Part{Launch: told})
		}
		stopped = report.Stopped
		sayCycle(r, report)
		if err == nil {
			hooked, err = r.Dispatched("", os.Getuid()).Hooked(tx)
		}
		return err
	})
	if err == nil && c.Bool("forecast") && !r.Repeated && !c.Bool(verbs.DryRun) {
		if err := forecast(r, spec); err != nil { // a failed forecast does not undo the cycle
			r.Notef("expected starts stay as they were: %v", err)
		}
	}
	if err == nil && hooked && r.Tx == nil && !c.Bool(verbs.DryRun) {
		defer runHook(r)
	}
	if launcher != nil && r.Kept == nil && errors.Is(err, engine.ErrUnknown) {
		if claimed, errRead := toldUnder(r, spec.Nonce, told); errRead == nil {
			return launchAll(r, launcher, claimed, stopped, "", err)
		}
	}
	switch {
	case err != nil:
		return err
	case passes && !c.Bool(verbs.DryRun):
		return makePasses(r)
	case launcher == nil || c.Bool(verbs.DryRun):
		return nil
	case r.Kept != nil:
		return launchKept(r, c, launcher, stopped)
	}
	return launchAll(r, launcher, told, stopped, "", nil)
}

// forecast plays the queue forward after a cycle, within what is left of the cycle's time.
func forecast(r *session.Run, spec engine.CycleSpec) error {
	db, err := r.Open()
	if err != nil {
		return err
	}
	return db.Forecast(engine.ForecastSpec{Done: spec.Enough})
}

func cycleSpec(r *session.Run, c *cli.Context) (spec engine.CycleSpec, err error) {
	if spec.Backfill, err = engine.ParseBackfill(c.String("backfill")); err != nil {
		return spec, usage.Errorf("--backfill: %w", err)
	}
	if spec.Depth = c.Int("depth"); c.IsSet("depth") && (spec.Depth < 1 || spec.Backfill != engine.AsSet &&
		spec.Backfill != engine.EASY) {
		return spec, usage.Errorf("--depth needs easy, and must be 1 or more")
	}
	if c.IsSet("slack") {
		if spec.Backfill != engine.AsSet && spec.Backfill != engine.Relaxed {
			return spec, usage.Errorf("--slack needs relaxed")
		}
		slack, err := simulate.ParseSlack(c.String("slack"))
		if err != nil {
			return spec, usage.Errorf("--slack: %w", err)
		}
		spec.Slack = &slack
	}
	spec.WidestFirst = c.Bool("widest")
	if c.IsSet("max-time") {
		d, err := r.Duration(c, "max-time")
		if err != nil {
			return spec, err
		}
		end := time.Now().Add(d)
		spec.Enough = func() bool { return !time.Now().Before(end) }
	}
	return spec, nil
}

// noticesOf returns what a cycle tells the launcher: which jobs to stop, and which to launch.
func noticesOf(tx *engine.Tx, report *engine.CycleReport) ([]launch.Notice, error) {
	var out []launch.Notice
	for _, list := range []struct {
		event string
		jobs  []*engine.Job
	}{{launch.Stop, report.Stopped}, {launch.Start, report.Launch}} {
		for _, j := range list.jobs {
			nodes, err := tx.Nodes().Names(j.AllNodes())
			if err != nil {
				return nil, err
			}
			chunks, err := chunkNodes(tx, j)
			if err != nil {
				return nil, err
			}
			env, err := deviceEnv(tx, j)
			if err != nil {
				return nil, err
			}
			out = append(out, launch.Notice{Event: list.event, Job: j.ID, Start: j.Start.Unix(), Command: j.Command,
				Env: append(aboutJob(j, nodes), env...), Chunks: chunks})
		}
	}
	return out, nil
}

// deviceEnv returns variables that list the devices of a running job on its first node, if that
// names any.
func deviceEnv(tx *engine.Tx, j *engine.Job) ([]string, error) {
	nodes := j.AllNodes()
	if j.State != engine.JobRunning || len(nodes) == 0 {
		return nil, nil
	}
	held, named, err := tx.Devices().On(j, nodes[0])
	return devices.Environ(held, named), err
}

// aboutJob returns the variables that describe a job to a launcher, or to the job's command.
func aboutJob(j *engine.Job, nodes []string) []string {
	env := []string{"PLACECTL_JOB=" + listing.JobID(j), "PLACECTL_ATTEMPT=" + strconv.Itoa(j.Attempt),
		"PLACECTL_NAME=" + j.Name,
		"PLACECTL_USER=" + j.User, "PLACECTL_QUEUE=" + j.Queue, "PLACECTL_CLASS=" + j.Class,
		"PLACECTL_NODELIST=" + index.FoldNodeList(nodes),
		"PLACECTL_WALLTIME=" + strconv.FormatInt(int64(j.Walltime/time.Second), 10)}
	if j.Array != 0 {
		env = append(env, "PLACECTL_ARRAY="+strconv.FormatUint(j.Array, 10), "PLACECTL_INDEX="+strconv.Itoa(j.Index))
	}
	if j.Line != "" {
		env = append(env, "PLACECTL_LINE="+j.Line)
	}
	return env
}

// chunkNodes returns the node of each chunk of a job, in select order.
func chunkNodes(tx *engine.Tx, j *engine.Job) ([]string, error) {
	var numbers []uint32
	for _, c := range j.Chunks {
		for _, n := range c.Nodes {
			for range n.Chunks {
				numbers = append(numbers, n.Node)
			}
		}
	}
	return tx.Nodes().Names(numbers)
}

// printed lists the jobs whose start a cycle without a launcher prints: those in
// report.Launch, and those that passes, or the next cycle with a launcher, will take.
func printed(report *engine.CycleReport) []*engine.Job {
	list, told := slices.Clone(report.Launch), make(map[uint64]bool)
	for _, j := range report.Launch {
		told[j.ID] = true
	}
	for _, j := range report.Started {
		if !told[j.ID] {
			list = append(list, j)
		}
	}
	return list
}

// printTold prints a cycle's notices.
func printTold(r *session.Run, tx *engine.Tx, report *engine.CycleReport) error {
	return r.Either(func(f output.Format) bool { return f == output.ID }, func() error {
		for _, j := range report.Stopped {
			why := ""
			if reason := j.Reason.String(); reason != "" {
				why = ": " + reason
			}
			r.Notef("job %d must be stopped%s", j.ID, why) // its number alone would say that it starts
		}
		return printEvents(r, tx, nil, report.Launch)
	}, func() error { return printEvents(r, tx, report.Stopped, report.Launch) })
}

func printEvents(r *session.Run, tx *engine.Tx, stopped, launched []*engine.Job) error {
	p := r.Jobs(tx, false, "event job name user class* state* start end nodes exec_vnode* array* index* command "+
		"reason reason_code*")
	for _, j := range stopped {
		p.PrintEvent(launch.Stop, j)
	}
	for _, j := range launched {
		p.PrintEvent(launch.Start, j)
	}
	return p.Close()
}

// printLaunched prints, for programs, the jobs of a cycle that the launcher was told about.
func printLaunched(r *session.Run, tx *engine.Tx, stopped, launched []*engine.Job) error {
	return r.InForms(func(f output.Format) bool { return f.Traits().Document }, func() error {
		return printEvents(r, tx, stopped, launched)
	})
}

// sayNever names the jobs that can never run, grouped by reason.
func sayNever(r *session.Run, list []engine.NeverRuns) {
	var order []string
	jobs := make(map[string][]uint64)
	for _, n := range list {
		if jobs[n.Why] == nil {
			order = append(order, n.Why)
		}
		jobs[n.Why] = append(jobs[n.Why], n.ID)
	}
	for _, why := range order {
		ids := jobs[why]
		who := "job " + text.Ranges(ids)
		if len(ids) > 1 {
			who = text.Plural(len(ids), "job") + ", " + text.Ranges(ids) + ","
		}
		r.Notef("%s can never run: %s", who, why)
	}
}

// sayCycle says what a cycle did besides starting and stopping jobs.
func sayCycle(r *session.Run, report *engine.CycleReport) {
	sayNever(r, report.Never)
	for _, j := range report.Cancelled {
		r.Notef("job %d is cancelled: %s", j.ID, j.Reason)
	}
	if report.Unreached > 0 {
		r.Notef("%d of %d waiting jobs were not reached in time", report.Unreached, report.Waiting)
	}
	r.Debugf("%d started, %d planned, %d ended overdue, %d wait", len(report.Started), len(report.Planned),
		len(report.Finished), report.Waiting)
}
