// Package queue holds the verbs for jobs that wait: submit, hold, alter, cancel, wait and their like.
package queue

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/request"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/attribute"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
	"github.com/urfave/cli/v2"
)

// Submit declares the verb submit.
func Submit() *session.Verb {
	return &session.Verb{
		Name:     "submit",
		Category: "Queue",
		Usage:    "submit a job or an array of jobs",
		May:      engine.Anybody,
		Args: []verbs.Arg{{Name: "SELECT", Kind: verbs.KindRequest, Optional: true},
			{Name: "FILE", Kind: verbs.KindFile, Optional: true},
			{Name: "-- COMMAND ARGUMENTS", Kind: verbs.KindCommand, Optional: true, Many: true}},
		Description: "The job starts when its turn comes and it fits. placectl keeps the command after --, or the " +
			"script in FILE,\n" +
			"with the job; without a select it gets one cpu. Lines #placectl, #PBS and #SBATCH before a " +
			"script's first\n" +
			"command are submit flags; those on the command line win.\n\n" +
			"A list for --array holds indices and ranges: 1,5,9-12 or 0-99:2 (5-5 for 5 alone). Files of --out " +
			"and --err\n" +
			"may hold %j (job), %A (array), %a (index), %x (name), %u (user), %N (first node) and %t (attempt).\n\n" +
			"With --each, {} is the line, {1} its first field and {#} its index. If a command has no {}, the " +
			"line becomes\n" +
			"its last argument, as for a script. Tabs separate the fields {1}, {2} and so on, or commas if the " +
			"line has no\n" +
			"tab. Blank lines are skipped. A job also finds its line in $PLACECTL_LINE: a shell reads that as it " +
			"is, but {}\n" +
			"between the quotes of sh -c as code. Add --array %10 to run at most 10 at once.\n\n" +
			"The job keeps the directory, the umask, the resource limits, where output goes, and the " +
			"environment that\n" +
			"--export names. Variables whose names look like secrets go along only if you name them. placectl " +
			"show shows\n" +
			"what is kept. cycle --exec passes the command on as given; it does not start scripts. If a script " +
			"line asks\n" +
			"for something unsupported, it is refused with its number.\n\n" +
			"A dependent job waits for another one: to start (--after), to succeed (--afterok), to fail\n" +
			"(--afternotok) or to end (--afterany). With --aftercorr each job of an array waits for the job with " +
			"its index\n" +
			"in another array to succeed. If that can no longer happen, it is cancelled.\n\n" +
			"An array has a number of its own, right before those of its jobs: array 24 of 20 has the jobs 25 " +
			"to 44, also\n" +
			"written 24[0] to 24[19]. 24 means all of them, for --afterok and for every other verb.\n\n" +
			"A job that would exceed a limit on waiting jobs is refused with status 3, or 4 if the limit is on " +
			"one job's\n" +
			"size.",
		Flags: slices.Concat(request.Flags(), request.Size(), request.PayloadFlags(), []cli.Flag{
			request.Bind(), request.OverLimits(),
			verbs.Choice(&cli.StringFlag{Category: request.ItsTurn, Name: "accept",
				Usage: "refuse a job that can never run, or let it wait: `HOW` is any or feasible (the setting " +
					"accept)"}, engine.SettingWords("accept")...),
			&cli.StringFlag{Name: "array", Usage: "array of `N` jobs, or a list of indices such as 0-99:2; add %10 " +
				"to run at most 10 at once"},
			&cli.StringFlag{Name: "each", Usage: "array with a job for each line of `FILE`, - for standard input; {} " +
				"in the command is the line"},
			&cli.StringSliceFlag{Category: request.ItsTurn, Name: "after", Usage: "start after `JOB` has started"},
			&cli.StringSliceFlag{Name: "afterok", Usage: "start after `JOB` has finished: with status 0, or released"},
			&cli.StringSliceFlag{Category: request.ItsTurn, Name: "aftercorr",
				Usage: "start each job of the array after the one with its index in `ARRAY` has finished"},
			&cli.StringSliceFlag{Category: request.ItsTurn, Name: "afternotok",
				Usage: "start after `JOB` has failed or was cancelled"},
			&cli.BoolFlag{Category: request.ItsTurn, Name: "singleton",
				Usage: "start after all earlier jobs of the same user and name have ended"},
			&cli.StringSliceFlag{Category: request.ItsTurn, Name: "afterany", Usage: "start after `JOB` has ended"},
		}, attributeFlags(), []cli.Flag{
			&cli.BoolFlag{Category: request.ItsTurn, Name: "hold", Usage: "hold the job until placectl unhold"},
			&cli.StringFlag{Category: request.Whose, Name: "requestor",
				Usage: "requestor `WHO` for class map (the user)"}}),
		Access:   verbs.Writes,
		Brief:    true,
		Statuses: map[int]string{exit.NotNow: "a limit on waiting jobs", exit.Never: "can never run"},
		Example: "job=$(placectl submit 4:ncpus=8 -t 2h -o id -- ./simulate --all)\n" +
			"placectl submit 1:ncpus=1 --afterok $job --name report -- ./report\n" +
			"placectl submit 1:ncpus=2 --array 100 --priority 10 --begin 22:00\n" +
			"placectl submit -t 10m --each images.txt -- convert {} {}.png\n" +
			"placectl submit 1:ncpus=2 train.sh --export all,SEED=7 --out train.%j",
		Carry: carry,
		Run:   submit,
	}
}

func submit(r *session.Run, c *cli.Context) error {
	selects, sc, err := scriptOf(r, c, plainArgs(r, c))
	if err != nil {
		return err
	}
	if err := readEach(r, c); err != nil {
		return err
	}
	var s engine.Submission
	if sc == nil {
		if s, err = Submission(r, c, selects, nil); err != nil {
			return err
		}
	}
	if sc != nil || s.Payload != nil {
		if err := bindDirectory(r, c); err != nil {
			return err
		}
	}
	return r.Update(c, func(tx *engine.Tx) (err error) {
		c, s := c, s
		if sc != nil { // the database determines the meaning of its lines
			if c, err = Directed(r, c, tx, sc); err != nil {
				return err
			}
			if s, err = Submission(r, c, selects, sc); err != nil {
				return Blame(r, err, selects, sc)
			}
		}
		if err := Dependencies(r, tx, c, &s); err != nil {
			return err
		}
		if err := Singleton(tx, c, &s); err != nil {
			return err
		}
		if err := session.ClassOf(tx, c, &s); err != nil {
			return err
		}
		jobs, err := tx.Jobs().Submit(s)
		if err != nil {
			return err
		}
		return printSubmitted(r, tx, jobs)
	})
}

// printSubmitted answers with the job, or the jobs of the array.
func printSubmitted(r *session.Run, tx *engine.Tx, jobs []*engine.Job) error {
	reason, err := warnNever(r, tx, jobs)
	if err != nil {
		return err
	}
	if err := errors.Join(warnMail(r, tx, jobs[0]), r.NoteUncycled(tx, jobs[0])); err != nil {
		return err
	}
	if n := len(jobs); n > engine.UsualArray {
		r.Notef("others may wait for %d s while an array of %d jobs is submitted or cancelled",
			(n+engine.UsualArray-1)/engine.UsualArray, n)
	}
	for i, j := range jobs {
		shown := *j
		if shown.Reason = (engine.Reason{Text: reason}); reason != "" {
			shown.Reason.Cause = engine.CauseNever
		}
		jobs[i] = &shown
	}
	return r.Either(session.IsTable, func() error {
		each := func() error {
			p := r.Jobs(tx, jobs[0].Array == 0,
				"job state name array index class priority select place walltime submit")
			for _, j := range jobs {
				p.Print(j)
			}
			return p.Close()
		}
		if jobs[0].Array == 0 {
			return each()
		}
		return listing.PrintFolded(r.Printer, tx, jobs, "state name class priority select place walltime submit", each)
	}, func() error { return listing.PrintSubmission(r.Printer, tx, jobs) })
}

// warnMail warns of a job that asks for mail where nothing sends any.
func warnMail(r *session.Run, tx *engine.Tx, j *engine.Job) error {
	p, err := tx.Jobs().Payload(j.ID)
	if err != nil || p == nil || p.Ending.Mail == "" {
		return err
	}
	settings, err := tx.Config().Settings()
	if err == nil && len(settings.Hook) == 0 {
		r.Warnf("mail", "no mail will come: the setting hook names no program that sends it; see docs/recipes.md")
	}
	return err
}

// warnNever warns of just submitted jobs that can never run, and returns why they wait.
func warnNever(r *session.Run, tx *engine.Tx, jobs []*engine.Job) (reason string, err error) {
	first := jobs[0]
	if !first.Never {
		return "", nil
	}
	look, err := tx.Ask().Outlook()
	if err != nil {
		return "", err
	}
	p, err := look.Prospect(first)
	if err != nil || p.Wait != engine.WaitsNever {
		return "", err // a repeat with a key: the job may be able to run by now
	}
	name := "job " + listing.JobID(first)
	if first.Array != 0 {
		name = fmt.Sprintf("array %d", first.Array)
	}
	r.Warnf("never", "%s %s; it will wait until the cluster changes", name, p.Words())
	return p.Words(), nil
}

// Submission reads a submission, except for what needs a transaction.
func Submission(r *session.Run, c *cli.Context, selects []string, sc *Script) (s engine.Submission, err error) {
	if r.Dash >= 0 {
		s.Command = c.Args().Slice()[r.Dash:]
	}
	if s.Request, err = r.Request(c, selects); err != nil {
		return s, err
	}
	switch {
	case sc != nil && r.Dash >= 0:
		return s, usage.Errorf("a job runs %s or the command after --, not both", sc.Name)
	case sc == nil && len(s.Command) == 0:
		err = runsNothing(c, &s.Request)
	default:
		s.Sign = r.Sign
		s.Payload, err = payloadOf(r, c, sc)
	}
	if err != nil {
		return s, err
	}
	s.Hold, s.Accept = c.Bool("hold"), c.String("accept")
	if err := each(r, c, &s); err != nil {
		return s, err
	}
	return s, readAttributes(r, c, &s)
}

// attributeFlags returns the flags that give a job an attribute as it is.
func attributeFlags() (list []cli.Flag) {
	for _, f := range attribute.Flags {
		short := strings.Fields(f.Letter)
		switch f.Type {
		case attribute.Integer:
			list = append(list, &cli.Int64Flag{Category: f.Heading, Name: f.Name, Aliases: short, Usage: f.Usage})
		case attribute.Truth:
			list = append(list, &cli.BoolFlag{Category: f.Heading, Name: f.Name, Aliases: short, Usage: f.Usage})
		default:
			list = append(list, &cli.StringFlag{Category: f.Heading, Name: f.Name, Aliases: short, Usage: f.Usage})
		}
	}
	return list
}

// readAttributes reads those flags.
func readAttributes(r *session.Run, c *cli.Context, s *engine.Submission) error {
	for _, f := range attribute.Flags {
		if !c.IsSet(f.Name) {
			continue
		}
		value := c.Value(f.Name)
		if f.Type == attribute.Time {
			at, err := r.TimeToCome(c, f.Name)
			if err != nil {
				return err
			}
			value = at
		}
		reflect.ValueOf(s).Elem().FieldByName(attribute.FieldName(f.Name)).Set(reflect.ValueOf(value))
	}
	if c.IsSet("begin") && s.Begin.Before(r.Instant()) {
		r.Notef("--begin %s is in the past: the job may start at once", text.Quoted(c.String("begin")))
	}
	return nil
}

// runsNothing checks a submission whose job another program launches.
func runsNothing(c *cli.Context, q *placer.Request) error {
	for _, flag := range request.OnlyWithPayload {
		if c.IsSet(flag) {
			return usage.Errorf("--%s needs a command after --, or a script", flag)
		}
	}
	return request.Any(c, q)
}

// array reads the number of jobs, or their indices.
func array(c *cli.Context, s *engine.Submission) error {
	if !c.IsSet("array") {
		return nil
	}
	a, err := text.ParseArray(c.String("array"), engine.MaxArray)
	if err != nil {
		return usage.Errorf("--array: %w", err)
	}
	s.Throttle = min(a.Limit, engine.MaxArray)
	if s.Array = a.Count; a.Count == 0 {
		s.Indexes = a.Indexes()
	}
	return nil
}
