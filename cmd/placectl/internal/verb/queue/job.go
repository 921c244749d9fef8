package queue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/daily"
	"github.com/placectl/placectl/cmd/placectl/internal/jobref"
	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Job declares the verb job.
func Job() *session.Verb {
	return &session.Verb{
		Name:     "job",
		Category: "Queue",
		Usage:    "show waiting, running and ended jobs",
		Example:  "placectl job list",
		Verbs: []*session.Verb{
			{Name: "list", Usage: "list jobs that have not ended", May: engine.Anybody, Access: verbs.Reads,
				Revives: true, Run: jobList,
				Description: "Lists running jobs by end, then waiting ones by expected start. WHEN shows that " +
					"time, and why it is not\n" +
					"sooner; explain JOB says more. Alike elements of an array share a line: 224[20-59]. What does " +
					"not fit the\n" +
					"terminal is cut (+). --wide shows a line for each job, with all columns; so do -o csv, json " +
					"and the like,\n" +
					"sorted by state and number. -o job,likely,safe,forecast_at shows by when waiting jobs start.",
				Flags: append(jobFilterFlags(),
					&cli.BoolFlag{Name: "all", Usage: "include ended jobs, newest first"},
					&cli.BoolFlag{Name: "wide", Usage: "show all columns"},
					verbs.Choice(&cli.StringFlag{Name: "order", Usage: "sort by `ORDER`"}, "next", "newest", "state"),
				),
				Example: "placectl job list --user ann\nplacectl job list --state queued,held --name " +
					"'night-*'\nplacectl job list --since today --order newest"},
			jobThrottleVerb(),
		},
	}
}

// Show declares the verb show.
func Show() *session.Verb {
	return &session.Verb{
		Name:     "show",
		Category: "Placing",
		Usage:    "show all about a job, an array or jobs by name",
		May:      engine.Anybody,
		Args:     []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob}},
		Description: "For several jobs a table has a line for each, or for alike jobs of an array. In JSON the " +
			"answer is a list with\n" +
			"all about each job, even of one.",
		Flags:   []cli.Flag{&cli.BoolFlag{Name: "env", Usage: "include the environment of its submission"}},
		Access:  verbs.Reads,
		Revives: true,
		Example: "placectl show 12\nplacectl show '24[3]'\nplacectl show nightly -o json",
		InTx:    jobShow,
	}
}

// The columns of the jobs table, those that programs get in addition, and those that job show adds. +
// stands for attributes that it does not name.
const (
	jobListColumns = "job name user account* queue class* state priority* select place walltime submit* begin* start " +
		"end nodes reservation* reason expected array* index*"
	jobMoreColumns = " reason_code* wait* run* attempt* exit* devices* paused* backfilled* retry_of* line* likely* " +
		"safe* forecast_at* guess*"
	jobShowColumns = " reason_code* wait* run* path policy set key exec_vnode devices exclude bind pools deadline " +
		"after command exit attempt attempts claimed* ending* preempted* slowdown* cpu_user* cpu_sys* cpu_time* " +
		"max_rss* mem_peak* directory script script_size out err out_mode umask interpreter compat notes input* " +
		"owner submit_host retries retry_on retry_wait signal grace mail mail_to paused backfilled* retry_of line + " +
		"retry_mem likely* safe* forecast_at* guess*"
)

// jobFilterFlags select the jobs of a list.
func jobFilterFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "state", Usage: "only jobs in `STATE`, or in one of several, such as queued,held"},
		&cli.StringFlag{Name: "user", Usage: "only jobs of `USER`"},
		&cli.StringFlag{Name: "queue", Usage: "only jobs in `QUEUE`"},
		&cli.StringFlag{Name: "class", Usage: "only jobs in `CLASS`"},
		&cli.StringFlag{Name: "name", Usage: "only jobs with names like `PATTERN`, such as night-*"},
		&cli.StringFlag{Name: "since", Usage: "only jobs that existed at `TIME` or later, including those ended since"},
		&cli.StringFlag{Name: "until", Usage: "only jobs submitted before `TIME`"},
	}
}

// jobFilter reads those flags.
func jobFilter(r *session.Run, c *cli.Context) (f daily.Filter, err error) {
	f = daily.Filter{User: c.String("user"), Queue: c.String("queue"), Class: c.String("class"), Name: c.String("name")}
	if err := daily.CheckName(f.Name); err != nil {
		return f, usage.Errorf("--name: %s: a [ that is not closed", text.Quoted(f.Name))
	}
	if f.Since, err = r.Time(c, "since"); err != nil {
		return f, err
	}
	if f.Until, err = r.Time(c, "until"); err != nil {
		return f, err
	}
	f.States, err = jobStates(c)
	return f, err
}

func jobList(r *session.Run, c *cli.Context) error {
	f, err := jobFilter(r, c)
	if err != nil {
		return err
	}
	order, err := jobOrder(r, c)
	if err != nil {
		return err
	}
	return r.View(func(tx *engine.Tx) error { return printJobs(r, tx, &f, order, c.Bool("wide")) })
}

// jobOrder returns --order, or the default for the form of the answer.
func jobOrder(r *session.Run, c *cli.Context) (daily.Order, error) {
	switch {
	case c.IsSet("order"):
		word, err := verbs.Chosen(c, "order")
		return map[string]daily.Order{"next": daily.Next, "newest": daily.Newest, "state": daily.ByState}[word], err
	case !r.Audience().Table || c.Bool("wide"):
		return daily.ByState, nil
	case c.Bool("all") || c.IsSet("since"):
		return daily.Newest, nil
	}
	return daily.Next, nil
}

// printJobs prints jobs. People get lines, unless they want all columns.
func printJobs(r *session.Run, tx *engine.Tx, f *daily.Filter, order daily.Order, wide bool) error {
	if r.Audience().Table && !wide {
		lines, err := daily.NewLines(tx, r.Loc, true)
		if err == nil {
			err = f.EachIn(tx, order, lines.Add)
		}
		if err != nil {
			return err
		}
		list, err := lines.Lines()
		if err != nil {
			return err
		}
		return daily.PrintLines(r.Printer, list)
	}
	look, err := tx.Ask().Outlook()
	if err != nil {
		return err
	}
	p := r.Jobs(tx, false, jobListColumns+jobMoreColumns)
	p.Look = look
	if err := f.EachIn(tx, order, p.Print); err != nil {
		return err
	}
	return p.Close()
}

// jobStates returns the states that --state, --all and --since select. None means all.
func jobStates(c *cli.Context) (states []engine.JobState, err error) {
	if !c.IsSet("state") {
		if c.Bool("all") || c.IsSet("since") {
			return nil, nil
		}
		return session.LiveStates(), nil
	}
	known := make(map[string]engine.JobState)
	var names []string
	for _, s := range engine.JobStates() {
		known[s.String()], names = s, append(names, s.String())
	}
	for word := range strings.SplitSeq(strings.ToLower(c.String("state")), ",") {
		s, ok := known[strings.TrimSpace(word)]
		if !ok {
			return nil, usage.Errorf("--state: %w", text.NotOneOf(word, names))
		}
		if !slices.Contains(states, s) {
			states = append(states, s)
		}
	}
	return states, nil
}

func jobShow(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	var jobs []*engine.Job
	err := r.SeveralNames(tx).Each(c.Args().Slice(), func(j *engine.Job, _ bool) error {
		jobs = append(jobs, j)
		return nil
	})
	if err != nil {
		return err
	}
	if len(jobs) == 1 {
		return printShown(r, tx, jobs, c.Bool("env"))
	}
	return r.Either(func(f output.Format) bool { return session.IsTable(f) && r.Columns == "" && !c.Bool("env") },
		func() error {
			return listing.PrintFolded(r.Printer, tx, jobs, "state name user start end nodes reason", func() error {
				p := r.Jobs(tx, false, "job state name user start end nodes reason")
				for _, j := range jobs {
					p.Print(j)
				}
				return p.Close()
			})
		}, func() error { return printShown(r, tx, jobs, c.Bool("env")) })
}

// printShown prints all that is known of jobs.
func printShown(r *session.Run, tx *engine.Tx, jobs []*engine.Job, env bool) error {
	look, err := tx.Ask().Outlook()
	if err != nil {
		return err
	}
	// There is room for the reason why it waits, and for since when.
	columns := listing.Complete(strings.ReplaceAll(jobListColumns, "*", "") + jobShowColumns)
	if env {
		columns += " env"
	}
	p := listing.PrintShown(r.Printer, tx, len(jobs) == 1, columns)
	p.Look = look
	for _, j := range jobs {
		sees, err := tx.Roles().Sees(j)
		if err == nil && env && !sees {
			err = fmt.Errorf("%w: the environment of job %d is for %s", engine.ErrNotPermitted, j.ID, j.User)
		}
		if err == nil {
			err = r.NoteLowered(tx, j)
		}
		if err != nil {
			return err
		}
		p.Print(j)
	}
	return p.Close()
}

// changeJobs changes every job that the arguments name in one transaction, and prints the result.
func changeJobs(r *session.Run, c *cli.Context, change func(*engine.Tx, uint64) (*engine.Job, error)) error {
	return r.Update(c, func(tx *engine.Tx) error {
		jobs, _, err := liveNamed(r.Names(tx), c.Args().Slice(), anyJob)
		if err != nil {
			return err
		}
		return changeEach(r, tx, jobs, change)
	})
}

func anyJob(*engine.Job) bool { return true }

// liveNamed returns the jobs that words name. Of an array, a range or a name of several it leaves out
// those that have ended, and the live ones that do not fit, unless none does: those are left over. Of a
// name one must not have ended.
func liveNamed(names jobref.Names, words []string, fits func(*engine.Job) bool) (jobs, over []*engine.Job, err error) {
	for _, word := range words {
		var last *engine.Job
		var fit, live []*engine.Job
		err := names.Each([]string{word}, func(j *engine.Job, one bool) error {
			if last = j; j.State.Live() || one && !jobref.IsName(word) {
				live = append(live, j)
			}
			return nil
		})
		switch fit = slices.DeleteFunc(slices.Clone(live), func(j *engine.Job) bool { return !fits(j) }); {
		case err != nil:
			return nil, nil, err
		case len(live) == 0 && jobref.IsName(word):
			return nil, nil, fmt.Errorf("%w: no job with the name %s waits or runs; the last, %s, %s",
				engine.ErrNotFound, text.Quoted(word), whole(last), last.State.Is())
		case len(fit) == 0:
			jobs = append(jobs, live...)
		default:
			jobs = append(jobs, fit...)
			over = append(over, slices.DeleteFunc(live, fits)...)
		}
	}
	return once(jobs), once(over), nil
}

// once leaves out jobs that come again.
func once(jobs []*engine.Job) []*engine.Job {
	seen := make(map[uint64]bool)
	return slices.DeleteFunc(jobs, func(j *engine.Job) bool {
		again := seen[j.ID]
		seen[j.ID] = true
		return again
	})
}

// whole names a job, or its array.
func whole(j *engine.Job) string { return jobref.Whole([]*engine.Job{j})[0].String() }

// changeEach changes jobs, and prints the result.
func changeEach(r *session.Run, tx *engine.Tx, jobs []*engine.Job, change func(*engine.Tx, uint64) (*engine.Job,
	error)) error {
	changed := make([]*engine.Job, 0, len(jobs))
	for _, was := range jobs {
		j, err := change(tx, was.ID)
		if err != nil {
			return err
		}
		changed = append(changed, j)
	}
	for i, j := range changed { // nothing was done unless all are changed
		if j.Ending && !jobs[i].Ending {
			r.Notef("job %d is ending: it keeps its nodes until its processes have ended", j.ID)
		}
	}
	return printChanged(r, tx, changed)
}

// printChanged prints jobs as they are now. For people, similar jobs of an array share a line.
func printChanged(r *session.Run, tx *engine.Tx, jobs []*engine.Job) error {
	each := func() error {
		p := r.Jobs(tx, false, "job state start end nodes reason* reason_code*")
		for _, j := range jobs {
			p.Print(j)
		}
		return p.Close()
	}
	if !slices.ContainsFunc(jobs, func(j *engine.Job) bool { return j.Array != 0 }) {
		return each()
	}
	return r.Either(session.IsTable, func() error {
		return listing.PrintFolded(r.Printer, tx, jobs, "state start end nodes", each)
	}, each)
}
