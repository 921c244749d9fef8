package ask

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/daily"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/simulate"
	"github.com/placectl/placectl/cmd/placectl/internal/trends"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/urfave/cli/v2"
)

// Whatif declares the verb whatif.
func Whatif() *session.Verb {
	return &session.Verb{
		Name:     "whatif",
		Category: "Asking",
		Usage:    "show how a change would affect waiting jobs",
		May:      engine.Anybody,
		Description: "Plays the queue forward twice, with and without the change. Each job runs for its walltime, " +
			"and no more jobs\n" +
			"come. The answer has the mean waits from submission to start, of all jobs and by class and user. A " +
			"job that has\n" +
			"not started by the horizon counts as waiting until then (late). Nothing is written.\n\n" +
			"With --compare the queue is played once under each kind of backfilling. The answer has the mean " +
			"waits under\n" +
			"each, of all jobs and by class, user and size in cpus, and the differences from the first.",
		Flags: append(supposeFlags(""),
			&cli.StringFlag{Name: "compare", Usage: "compare backfill `RULES`, such as easy,relaxed:0.5"}),
		Exclusive: []string{"backfill compare"},
		Access:    verbs.Reads,
		Alone:     true,
		Example: "placectl whatif --add 'g[3-4] like g1'\n" +
			"placectl whatif --drop n7 --backfill conservative\n" +
			"placectl whatif --compare easy,conservative,relaxed\n" +
			"placectl whatif --limit 'user=* ncpus=64'\n" +
			"placectl whatif --priority 'PRIORITY + 10*XFACTOR'",
		Run: whatif,
	}
}

// supposeFlags describe the change, and for how long to play the queue forward. Help lists them
// under heading, or among the verb's other flags if it is empty.
func supposeFlags(heading string) []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Category: heading, Name: "add", Usage: "add nodes, `SPEC`: 'g[3-4] like g1'"},
		&cli.StringFlag{Category: heading, Name: "drop", Usage: "start nothing new on nodes `NAMES`"},
		&cli.StringSliceFlag{Category: heading, Name: "limit",
			Usage: "set a limit, `RULE`: 'user=* ncpus=64', as for placectl limit set"},
		&cli.StringSliceFlag{Category: heading, Name: "preempt",
			Usage: "preempt by `RULE`, as for placectl preempt set, without its protections"},
		&cli.StringFlag{Category: heading, Name: "priority",
			Usage: "order jobs by `EXPR`, as in the setting job_priority: placectl help --all priority"},
		verbs.Choice(&cli.StringFlag{Category: heading, Name: "backfill", Usage: "backfill by `B`"},
			backfill.PolicyNames()...),
		&cli.StringFlag{Category: heading, Name: "horizon", Usage: "play the queue forward for `D` (7d)"},
	}
}

// defaultHorizon is how far a queue is played forward.
const defaultHorizon = 7 * 24 * time.Hour

func whatif(r *session.Run, c *cli.Context) error {
	if c.IsSet("compare") {
		return whatifCompared(r, c)
	}
	list, err := supposed(r, c)
	if err != nil {
		return err
	}
	p := r.Printer(
		output.Result{Columns: []output.Column{{Name: "of"}, {Name: "name"}, {Name: "jobs", Kind: output.Integer},
			{Name: "before", Kind: output.Duration}, {Name: "after", Kind: output.Duration},
			{Name: "difference", Kind: output.Duration},
			{Name: "late_before", Kind: output.Integer}, {Name: "late_after", Kind: output.Integer}}})
	for _, w := range list {
		p.Row(w.Of, output.OrNil(w.Name), w.Jobs, w.Means[0], w.Means[1], w.Means[1]-w.Means[0], w.Late[0], w.Late[1])
	}
	return p.Close()
}

// whatifCompared plays the queue forward under several kinds of backfilling.
func whatifCompared(r *session.Run, c *cli.Context) error {
	horizon, err := horizon(r, c)
	if err != nil {
		return err
	}
	var rules []simulate.Rule
	for _, word := range strings.Split(c.String("compare"), ",") {
		rule, err := simulate.ParseRule(word)
		if err != nil {
			return usage.Errorf("--compare: %w", err)
		}
		rules = append(rules, rule)
	}
	var plays [][]engine.Played
	var until time.Time
	for _, rule := range rules {
		spec := engine.CycleSpec{}
		if spec.Backfill, err = engine.ParseBackfill(rule.Policy.String()); err != nil {
			return err
		}
		var list []engine.Played
		list, until, err = played(r, horizon, spec, func(tx *engine.Tx) error {
			if err := tx.Config().Set("slack", fmt.Sprint(rule.Slack)); err != nil {
				return err
			}
			return suppose(r, tx, c)
		})
		if err != nil {
			return err
		}
		plays = append(plays, list)
	}
	p := r.Printer(
		output.Result{Columns: []output.Column{{Name: "of"}, {Name: "name"}, {Name: "jobs", Kind: output.Integer},
			{Name: "backfill"},
			{Name: "mean_wait", Kind: output.Duration}, {Name: "difference", Kind: output.Duration},
			{Name: "late", Kind: output.Integer}}})
	for _, w := range daily.WaitsByRule(plays, until, trends.SizeOf) {
		for i, rule := range rules {
			p.Row(w.Of, output.OrNil(w.Name), w.Jobs, rule.String(), w.Means[i], w.Means[i]-w.Means[0], w.Late[i])
		}
	}
	return p.Close()
}

// horizon returns how far to play the queue forward.
func horizon(r *session.Run, c *cli.Context) (time.Duration, error) {
	horizon, err := r.Duration(c, "horizon")
	if err != nil {
		return 0, err
	}
	if !c.IsSet("horizon") {
		horizon = defaultHorizon
	}
	if horizon <= 0 {
		return 0, usage.Errorf("--horizon: it must be more than 0")
	}
	return horizon, nil
}

// supposed plays the queue forward as it is and with the changes of the flags, and compares.
func supposed(r *session.Run, c *cli.Context) ([]daily.WaitsUnder, error) {
	horizon, err := horizon(r, c)
	if err != nil {
		return nil, err
	}
	var other engine.CycleSpec
	if other.Backfill, err = engine.ParseBackfill(c.String("backfill")); err != nil {
		return nil, usage.Errorf("--backfill: %w", err)
	}
	before, _, err := played(r, horizon, engine.CycleSpec{}, nil)
	if err != nil {
		return nil, err
	}
	after, until, err := played(r, horizon, other, func(tx *engine.Tx) error { return suppose(r, tx, c) })
	if err != nil {
		return nil, err
	}
	return daily.WaitsByRule([][]engine.Played{before, after}, until, nil), nil
}

// played applies a change and plays the queue forward.
func played(r *session.Run, horizon time.Duration, spec engine.CycleSpec, change func(*engine.Tx) error) (
	list []engine.Played, until time.Time, err error) {
	err = r.View(func(tx *engine.Tx) error {
		until = tx.Now().Add(horizon)
		return tx.Suppose(func(tx *engine.Tx) error {
			if change != nil {
				if err := change(tx); err != nil {
					return err
				}
			}
			spec.Enough = func() bool { return r.Ctx.Err() != nil }
			list, err = tx.Cycle().Play(engine.PlaySpec{Cycle: spec, Until: until, Done: spec.Enough})
			return cmp.Or(err, r.Ctx.Err())
		})
	})
	return list, until, err
}

// suppose makes the changes that flags describe.
func suppose(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	for _, text := range c.StringSlice("add") {
		if err := addLike(tx, text); err != nil {
			return err
		}
	}
	if c.IsSet("drop") {
		nodes, err := tx.Nodes().Resolve(c.String("drop"))
		if err != nil {
			return err
		}
		for _, n := range nodes {
			if err := tx.Nodes().SetState(n, index.Offline, "supposed"); err != nil {
				return err
			}
		}
	}
	for _, text := range c.StringSlice("limit") {
		words := strings.Fields(text)
		if len(words) < 2 {
			return usage.Errorf("--limit %q: expected KEY MEASURE=N", text)
		}
		defs, err := tx.Config().Resources()
		if err != nil {
			return err
		}
		list, err := session.LimitsOf(defs, words[0], words[1:], false)
		if err != nil {
			return err
		}
		if err := tx.Limits().Set(list...); err != nil {
			return err
		}
	}
	if c.IsSet("priority") {
		if err := tx.Config().Set("job_priority", c.String("priority")); err != nil {
			return fmt.Errorf("--priority: %w", err)
		}
	}
	for _, text := range c.StringSlice("preempt") {
		rule, err := preempt.Parse(text)
		if err != nil {
			return usage.Errorf("--preempt: %w", err)
		}
		rule.MinRun, rule.AtMost = 0, 0
		if err := tx.Preemption().Set(rule); err != nil {
			return err
		}
	}
	return nil
}

// addLike adds nodes with the same properties as another: 'g[3-4] like g1'.
func addLike(tx *engine.Tx, text string) error {
	words := strings.Fields(text)
	if len(words) != 3 || words[1] != "like" {
		return usage.Errorf("--add %q: expected NAMES like NODE, such as 'g[3-4] like g1'", text)
	}
	names, err := index.ExpandNodeList(words[0])
	if err != nil {
		return usage.Errorf("--add: %w", err)
	}
	like, err := tx.Nodes().Get(words[2])
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, there, err := tx.Nodes().Number(name); err != nil || there {
			return errors.Join(err, usage.Errorf("--add: node %s already exists", name))
		}
		n := *like
		n.Name, n.State, n.Res, n.Features = name, index.Up, slices.Clone(like.Res), slices.Clone(like.Features)
		n.Set(index.Host, index.Value{Str: name})
		if _, err := tx.Nodes().Put(&n); err != nil {
			return err
		}
	}
	return nil
}
