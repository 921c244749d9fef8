package share

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/placer/subject"
	"github.com/urfave/cli/v2"
)

// Preempt declares the verb preempt.
func Preempt() *session.Verb {
	rule := []verbs.Arg{{Name: "RULE", Many: true}}
	return &session.Verb{
		Name:     "preempt",
		Category: "Shares",
		Usage:    "decide which jobs make way for others",
		Description: "RULE is KEY over KEY. A KEY is KIND=NAME of the kinds " + subject.Shared.String() + ", or\n" +
			"several of them joined by commas, if all must match. On the right, all, * or KIND=* stand for all\n" +
			"jobs that no rule has on its left. The next cycle stops the jobs that lose the least work, and\n" +
			"only as many as the other job needs. It stops none if a limit, a pool or its class's share holds\n" +
			"the other job up, and not twice for the same job. Rules that form a circle are refused.",
		Example: "placectl preempt set 'queue=urgent over queue=*'",
		Verbs: []*session.Verb{
			{Name: "list", Usage: "list rules", May: engine.Anybody, Access: verbs.Reads, InTx: preemptList,
				Example: "placectl preempt list"},
			{Name: "set", Usage: "make or change a rule", May: engine.Operators, Args: rule, Access: verbs.Writes,
				Run: preemptSet,
				Description: "A stopped job keeps its nodes until none of its processes is left, and the other job " +
					"is planned there from\n" +
					"then on. A job that a launcher was told about ends by the end of its grace at the latest. A job " +
					"that must\n" +
					"not run twice (submit --no-requeue) is cancelled.",
				Flags: []cli.Flag{
					verbs.Choice(&cli.StringFlag{Name: "how", Usage: "what happens to stopped jobs, `HOW` (requeue)"},
						"requeue", "cancel"),
					&cli.StringFlag{Name: "grace",
						Usage: "grace `D` between being told to stop and being killed (each job's own)"},
					&cli.StringFlag{Name: "min-run", Usage: "protect jobs that have run for less than `D` (10m)"},
					&cli.StringFlag{Name: "at-most", Usage: "stop a job at most `N` times; 0: no limit (3)"}},
				Example: "placectl preempt set 'queue=urgent over queue=*' --grace 1m\n" +
					"placectl preempt set class=day over class=night --how cancel --min-run 0"},
			{Name: "rm", Usage: "delete a rule", May: engine.Operators, Args: rule, Access: verbs.Writes,
				InTx:    preemptRemove,
				Example: "placectl preempt rm 'queue=urgent over all'"},
		},
	}
}

// ruleOf returns the rule in the arguments of a verb.
func ruleOf(c *cli.Context) string { return strings.Join(c.Args().Slice(), " ") }

func preemptList(r *session.Run, tx *engine.Tx, _ *cli.Context) error {
	var list []*preempt.Rule
	if err := tx.Preemption().Each(func(rule *preempt.Rule) error {
		list = append(list, rule)
		return nil
	}); err != nil {
		return err
	}
	return printRules(r, list...)
}

func preemptSet(r *session.Run, c *cli.Context) error {
	fresh, err := preempt.Parse(ruleOf(c))
	if err != nil {
		return usage.Errorf("%w", err)
	}
	grace, errGrace := r.Duration(c, "grace")
	minRun, errRun := r.Duration(c, "min-run")
	if err := errors.Join(errGrace, errRun); err != nil {
		return err
	}
	return r.Update(c, func(tx *engine.Tx) error {
		rule, err := tx.Preemption().Get(fresh.String())
		if errors.Is(err, engine.ErrNotFound) {
			again := *fresh
			rule, err = &again, nil
		}
		if err != nil {
			return err
		}
		if c.IsSet("how") {
			if rule.How, err = preempt.ParseHow(c.String("how")); err != nil {
				return usage.Errorf("--how: %w", err)
			}
		}
		if c.IsSet("grace") {
			rule.Grace = int64(grace / time.Second)
		}
		if c.IsSet("min-run") {
			rule.MinRun = int64(minRun / time.Second)
		}
		if c.IsSet("at-most") {
			n, err := session.WholeAmount(c.String("at-most"))
			if err != nil {
				return usage.Errorf("--at-most: %w", err)
			}
			rule.AtMost = int(n)
		}
		if err := tx.Preemption().Set(rule); err != nil {
			return err
		}
		return printRules(r, rule)
	})
}

func preemptRemove(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	rule, err := tx.Preemption().Get(ruleOf(c))
	if err != nil {
		return err
	}
	if err := tx.Preemption().Remove(rule.String()); err != nil {
		return err
	}
	return printRules(r, rule)
}

func printRules(r *session.Run, list ...*preempt.Rule) error {
	p := r.Printer(
		output.Result{Columns: []output.Column{{Name: "rule"}, {Name: "how"}, {Name: "grace", Kind: output.Duration},
			{Name: "min_run", Kind: output.Duration}, {Name: "at_most", Kind: output.Integer}}})
	for _, rule := range list {
		var grace any
		if rule.Grace != preempt.OwnGrace {
			grace = time.Duration(rule.Grace) * time.Second
		}
		p.Row(fmt.Sprint(rule), rule.How.String(), grace, time.Duration(rule.MinRun)*time.Second, rule.AtMost)
	}
	return p.Close()
}
