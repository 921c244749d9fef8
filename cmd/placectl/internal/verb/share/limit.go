package share

import (
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer/subject"
	"github.com/urfave/cli/v2"
)

// Limit declares the verb limit.
func Limit() *session.Verb {
	soft := func(usage string) cli.Flag { return &cli.BoolFlag{Name: "soft", Usage: usage} }
	return &session.Verb{
		Name:     "limit",
		Category: "Shares",
		Usage:    "limit what users, groups, accounts, classes and queues use",
		Description: "KEY is all, or KIND=NAME of the kinds " + subject.Shared.String() +
			", or several of them joined\n" +
			"by commas. With * instead of a name, the limit holds for each one separately. A name replaces the *:\n" +
			"user=ann replaces user=*, whether it is smaller or larger. All other limits apply together. A limit\n" +
			"on an account covers the accounts below it. MEASURE is\n" +
			"  running queued jobs     numbers of jobs: running, waiting, both\n" +
			"  RES                     in running jobs: a consumable, a pool, or nodes (chunks)\n" +
			"  RES.queued RES.jobs     in waiting jobs, in both\n" +
			"  RES.left                its amount times the remaining seconds of running jobs\n" +
			"  RES.job walltime.job    of one job\n\n" +
			"Limits on waiting jobs and on one job are checked at submission: the exit status is 3, or 4. Limits\n" +
			"on running jobs hold at every instant, and for plans, too. If a limit holds a job back, room in that\n" +
			"limit is kept for it from its earliest start, so that later jobs cannot pass it for ever. Jobs under\n" +
			"other limits start around it. Jobs over a --soft limit run after all others. A request with\n" +
			"--over-limits ignores limits.",
		Example: "placectl limit set user=* running=20 ncpus=256 jobs=1000",
		Verbs: []*session.Verb{
			{Name: "list", Usage: "list limits, with --use how much of them is used", May: engine.Anybody,
				Access: verbs.Reads, InTx: limitList,
				Flags:   []cli.Flag{&cli.BoolFlag{Name: "use", Usage: "one row for each subject that has some"}},
				Example: "placectl limit list --use"},
			{Name: "set", Usage: "set or change limits", May: engine.Operators,
				Args: []verbs.Arg{{Name: "KEY"}, {Name: "MEASURE=N", Many: true}}, Access: verbs.Writes, InTx: limitSet,
				Flags: []cli.Flag{soft("jobs over a soft limit run after all others")},
				Example: "placectl limit set user=ann running=50\n" +
					"placectl limit set queue=gpu,user=* ngpus=4\n" +
					"placectl limit set --soft account=chem mem=2tb"},
			{Name: "rm", Usage: "delete limits, all of a key if you name no measure", May: engine.Operators,
				Args: []verbs.Arg{{Name: "KEY"}, {Name: "MEASURE", Many: true, Optional: true}}, Access: verbs.Writes,
				InTx:    limitRemove,
				Flags:   []cli.Flag{soft("only soft ones")},
				Example: "placectl limit rm user=ann running"},
		},
	}
}

func limitList(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	if !c.Bool("use") {
		var list []engine.Limit
		err := tx.Limits().Each(func(l engine.Limit) error { list = append(list, l); return nil })
		if err != nil {
			return err
		}
		return printLimits(r, tx, list)
	}
	uses, err := tx.Limits().Uses()
	if err != nil {
		return err
	}
	defs, err := tx.Config().Resources()
	if err != nil {
		return err
	}
	return inAmounts(r, defs, func(in amounts) error {
		p := r.Printer(output.Result{Columns: append(limitColumns(), output.Column{Name: "entity"},
			output.Column{Name: "used", Kind: output.Number},
			output.Column{Name: "planned", Kind: output.Number}, output.Column{Name: "max", Kind: output.Number})})
		for _, u := range uses {
			p.Row(u.Key, u.Measure, u.Soft, output.OrNil(u.Who), in.of(u.Measure, u.Used), in.of(u.Measure, u.Planned),
				in.of(u.Measure, u.Max))
		}
		return p.Close()
	})
}

func limitSet(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	defs, err := tx.Config().Resources()
	if err != nil {
		return err
	}
	list, err := session.LimitsOf(defs, c.Args().First(), c.Args().Tail(), c.Bool("soft"))
	if err != nil {
		return err
	}
	if err := tx.Limits().Set(list...); err != nil {
		return err
	}
	r.SayMoved(tx)
	return printLimits(r, tx, list)
}

// amounts shows amounts: as people write them, or as numbers for programs, sizes in bytes.
type amounts struct {
	defs   *index.Defs
	people bool
}

// of returns the value to print of an amount of a measure.
func (a amounts) of(measure string, n int64) any {
	def, ok := session.LimitOf(a.defs, measure)
	v := index.Value{Num: n}
	switch {
	case !ok || !def.Type.Numeric() || def.Type == index.Long:
		return n
	case a.people:
		return def.Format(v)
	case def.Type == index.Size:
		return int64(def.Units(v))
	}
	return def.Units(v)
}

// inAmounts prints an answer with amounts, in each form as its readers need them.
func inAmounts(r *session.Run, defs *index.Defs, show func(amounts) error) error {
	in := func(people bool) func() error { return func() error { return show(amounts{defs, people}) } }
	return r.Either(func(f output.Format) bool { return f.Traits().People }, in(true), in(false))
}

func limitRemove(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	gone, err := tx.Limits().Remove(c.Args().First(), c.Bool("soft"), c.Args().Tail()...)
	if err != nil {
		return err
	}
	return printLimits(r, tx, gone)
}

func limitColumns() []output.Column {
	return []output.Column{{Name: "key"}, {Name: "measure"}, {Name: "soft", Kind: output.Boolean}}
}

func printLimits(r *session.Run, tx *engine.Tx, list []engine.Limit) error {
	defs, err := tx.Config().Resources()
	if err != nil {
		return err
	}
	return inAmounts(r, defs, func(in amounts) error {
		p := r.Printer(output.Result{Columns: append(limitColumns(), output.Column{Name: "max", Kind: output.Number})})
		for _, l := range list {
			p.Row(l.Key, l.Measure, l.Soft, in.of(l.Measure, l.Max))
		}
		return p.Close()
	})
}
