package share

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/sharefile"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/urfave/cli/v2"
)

func classPlanVerb() *session.Verb {
	return &session.Verb{
		Name:  "plan",
		Usage: "show what each class may start now, and must stop",
		May:   engine.Anybody,
		Description: "Plans for the database: for its nodes that are up, its running jobs and its queued ones, " +
			"counted in the\n" +
			"setting share_unit. With --from it plans for a state in a file, and needs no database:\n" +
			"  {\"total_workers\":100,\"classes\":[{\"name\":\"a\",\"load_pct\":60,\"running\":10,\"waiting\":80}, " +
			"...]}\n" +
			"load_pct is a load; the loads need not add up to 100. Optional keys are class_order (the order " +
			"of classes\n" +
			"with equal loads), running_workers, idle_workers, rebalance (threshold, min_duration_s, " +
			"exceeded_for_s; -1:\n" +
			"not exceeded), and in a class jobs (id, running, waiting). In the answer, entitlement is the " +
			"class's part of\n" +
			"the whole, and idle is what no class wants.",
		Flags:  []cli.Flag{&cli.StringFlag{Name: "from", Usage: "plan the state in `FILE`, - for standard input"}},
		Access: verbs.Reads,
		Example: "placectl class plan\n" +
			`echo '{"total_workers":10,"classes":[{"name":"a","load_pct":7,"running":2,"waiting":9},{"name":"b","load_pct":3}]}' |` + "\n" +
			"  placectl class plan --from - -o json",
		Run: classPlan,
	}
}

func classPlan(r *session.Run, c *cli.Context) error {
	if !c.IsSet("from") {
		return r.View(func(tx *engine.Tx) error {
			state, err := tx.Shares().State()
			if err != nil {
				return err
			}
			return planShares(r, state, func(class, job int) string { return "" })
		})
	}
	text, err := r.ReadText(c.String("from"))
	if err != nil {
		return session.Malformed(err)
	}
	f, err := sharefile.Parse(text)
	if err != nil {
		return session.Malformed(err)
	}
	if len(f.Unknown) > 0 {
		r.Notef("%s: unknown, skipped: %s", f.Name, strings.Join(f.Unknown, ", "))
	}
	if err := planShares(r, f.State(r.Instant().Unix()), f.JobID); err != nil {
		return usage.Errorf("%s: %w", f.Name, err)
	}
	return nil
}

// classPlanned is a class's part of a plan as JSON shows it.
type classPlanned struct {
	Name        string         `json:"name"`
	LoadPct     int            `json:"load_pct"`
	Entitlement int            `json:"entitlement"`
	Running     int            `json:"running"`
	Waiting     int            `json:"waiting"`
	Loaned      int            `json:"loaned"`
	Start       int            `json:"start"`
	Stop        int            `json:"stop"`
	JobStarts   map[string]int `json:"job_starts"`
	StopJobs    []string       `json:"stop_jobs"`
}

// planShares plans a state and prints the result. jobID names a job of a class.
func planShares(r *session.Run, state *fairshare.State, jobID func(class, job int) string) error {
	plan, err := new(fairshare.Planner).Plan(state)
	if err != nil {
		return err
	}
	classes := make([]classPlanned, len(plan.Classes))
	for i, c := range plan.Classes {
		s := &state.Classes[i]
		classes[i] = classPlanned{Name: c.Name, LoadPct: c.LoadPct, Entitlement: c.Entitlement, Running: s.Running,
			Waiting: s.Waiting,
			Loaned:  c.Loaned, Start: c.Start, Stop: c.Stop, JobStarts: jobStarts(c.JobStarts, func(job int) string {
				return jobID(i, job)
			}), StopJobs: []string{}}
		for _, t := range c.StopTasks {
			classes[i].StopJobs = append(classes[i].StopJobs, strconv.FormatUint(t.ID, 10))
		}
	}
	if r.Audience().Document {
		return printShareSums(r, state, plan, classes)
	}
	p := r.Printer(output.Result{Columns: []output.Column{{Name: "name"}, {Name: "load_pct", Kind: output.Integer},
		{Name: "entitlement", Kind: output.Integer},
		{Name: "running", Kind: output.Integer}, {Name: "waiting", Kind: output.Integer},
		{Name: "loaned", Kind: output.Integer},
		{Name: "start", Kind: output.Integer}, {Name: "stop", Kind: output.Integer}}})
	for _, c := range classes {
		p.Row(c.Name, c.LoadPct, c.Entitlement, c.Running, c.Waiting, c.Loaned, c.Start, c.Stop)
	}
	if err := p.Close(); err != nil || !r.Audience().Table {
		return err
	}
	fmt.Fprintln(r.Stdout)
	return printShareSums(r, state, plan, nil)
}

// printShareSums prints the sums over all classes, and in a document also the classes.
func printShareSums(r *session.Run, state *fairshare.State, plan *fairshare.Plan, classes []classPlanned) error {
	res := output.Result{Record: true, Columns: []output.Column{{Name: "idle", Kind: output.Integer},
		{Name: "total_workers", Kind: output.Integer},
		{Name: "away", Kind: output.Integer}, {Name: "spread", Kind: output.Integer},
		{Name: "rebalanced", Kind: output.Boolean}}}
	row := []any{plan.Idle, state.TotalWorkers, state.Away, plan.Spread, plan.Rebalanced}
	if r.Audience().Document {
		res.Columns = append([]output.Column{{Name: "classes", Kind: output.Object}}, res.Columns...)
		row = append([]any{classes}, row...)
	}
	p := r.Printer(res)
	p.Row(row...)
	return p.Close()
}

// jobStarts returns a class's starts by job, none if the tasks of each job are unknown.
func jobStarts(starts []int, id func(job int) string) map[string]int {
	out := make(map[string]int)
	for i, n := range starts {
		if n == 0 {
			continue
		}
		out[id(i)] += n
	}
	return out
}

func classRebalanceVerb() *session.Verb {
	return &session.Verb{
		Name:  "rebalance",
		Usage: "set when jobs are stopped to restore shares",
		May:   engine.Operators,
		Description: "The spread is how far one class is below its share plus how far another is above its own. If " +
			"the spread\n" +
			"stays at the threshold or more for the minimum duration, the next cycle stops the newest jobs " +
			"of classes\n" +
			"that have borrowed, and starts others. Rebalancing is off while the threshold or the minimum is 0, the\n" +
			"default.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "threshold", Usage: "spread of `P` percentage points, 0 to 200, that triggers it"},
			&cli.StringFlag{Name: "minimum", Usage: "duration `D` for which the spread must last"},
			&cli.StringFlag{Name: "min-run", Usage: "protect jobs that have run for less than `D` (0)"},
			&cli.StringFlag{Name: "at-most", Usage: "stop a job at most `N` times; 0: no limit (0)"}},
		Access:  verbs.Writes,
		Example: "placectl class rebalance --threshold 20 --minimum 10m",
		Run:     classRebalance,
	}
}

func classRebalance(r *session.Run, c *cli.Context) error {
	if !c.IsSet("threshold") && !c.IsSet("minimum") && !c.IsSet("min-run") && !c.IsSet("at-most") {
		return usage.Errorf("nothing to set: add --threshold, --minimum, --min-run or --at-most")
	}
	points, err := parsePoints(c.String("threshold"))
	if c.IsSet("threshold") && err != nil {
		return usage.Errorf("--threshold: %w", err)
	}
	minimum, err := r.Duration(c, "minimum")
	if err != nil {
		return err
	}
	minRun, err := r.Duration(c, "min-run")
	if err != nil {
		return err
	}
	atMost, err := session.WholeAmount(c.String("at-most"))
	if c.IsSet("at-most") && err != nil {
		return usage.Errorf("--at-most: %w", err)
	}
	return changeShares(r, c, func(s *fairshare.Settings) error {
		var threshold, duration error
		spare := s.Spare
		if c.IsSet("min-run") {
			spare.MinRun = int64(minRun / time.Second)
		}
		if c.IsSet("at-most") {
			spare.AtMost = int(atMost)
		}
		if c.IsSet("threshold") {
			threshold = s.SetRebalanceThreshold(points)
		}
		if c.IsSet("minimum") {
			duration = s.SetRebalanceMinimumDuration(int64(minimum / time.Second))
		}
		if (s.RebalanceThreshold() == 0) != (s.RebalanceMinimumDuration() == 0) {
			r.Notef("rebalancing is off until both the threshold and the minimum are above 0")
		}
		return errors.Join(threshold, duration, s.SetSpare(spare))
	})
}

// parsePoints parses percentage points, 20 or 20%.
func parsePoints(s string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSuffix(s, "%"))
	if err != nil {
		return 0, fmt.Errorf("%s is not a whole number of percentage points, such as 20", text.Quoted(s))
	}
	return n, nil
}
