package share

import (
	"cmp"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

// Pool declares the verb pool.
func Pool() *session.Verb {
	flags := func() []cli.Flag {
		return []cli.Flag{&cli.StringFlag{Name: "outside", Usage: "amount `N` that is used outside placectl"},
			&cli.StringFlag{Name: "until", Usage: "end of that use, `TIME` (until changed)"}}
	}
	return &session.Verb{
		Name:     "pool",
		Category: "Cluster",
		Usage:    "manage amounts of the whole cluster, such as licences",
		Description: "A job asks once for its whole amount of a pool, however many nodes it runs on: --pool " +
			"fluent=2, or in a\n" +
			"resource list, -l ncpus=2,fluent=2. Running and planned jobs and reservations hold their " +
			"amounts. If you\n" +
			"make a pool smaller than what is held, no job is stopped, none of its jobs starts, and plans are " +
			"made again.",
		Example: "placectl pool add fluent=30",
		Verbs: []*session.Verb{
			{Name: "list", Usage: "list pools and their use", May: engine.Anybody, Access: verbs.Reads, InTx: poolList,
				Example: "placectl pool list"},
			{Name: "add", Usage: "make a pool", May: engine.Operators, Args: []verbs.Arg{{Name: "NAME=AMOUNT"}},
				Access: verbs.Writes, Run: poolAdd,
				Flags:   flags(),
				Example: "placectl pool add fluent=30"},
			{Name: "set", Usage: "change a pool", May: engine.Operators,
				Args: []verbs.Arg{{Name: "NAME[=AMOUNT]", Kind: verbs.KindPool}}, Access: verbs.Writes,
				Run:   poolSet,
				Flags: flags(),
				Example: "placectl pool set fluent=40\n" +
					"placectl pool set fluent --outside $(lmstat-used fluent) --until now+15m"},
			{Name: "rm", Usage: "delete an unused pool", May: engine.Operators,
				Args: []verbs.Arg{{Name: "NAME", Kind: verbs.KindPool}}, Access: verbs.Writes, InTx: poolRemove,
				Example: "placectl pool rm fluent"},
		},
	}
}

func poolList(r *session.Run, tx *engine.Tx, _ *cli.Context) error {
	pools, err := tx.Pools().At(tx.Now())
	if err != nil {
		return err
	}
	return printPools(r, pools)
}

func poolAdd(r *session.Run, c *cli.Context) error {
	change, err := poolChange(r, c)
	if err != nil {
		return err
	}
	if !strings.Contains(c.Args().First(), "=") {
		return usage.Errorf("the amount is missing: write %s=30", c.Args().First())
	}
	return r.Update(c, func(tx *engine.Tx) error {
		var p engine.Pool
		change(&p)
		return putPool(r, tx, p, true)
	})
}

func poolSet(r *session.Run, c *cli.Context) error {
	change, err := poolChange(r, c)
	if err != nil {
		return err
	}
	if !strings.Contains(c.Args().First(), "=") && !c.IsSet("outside") {
		return usage.Errorf("nothing to change: write %s=30, or --outside 7", c.Args().First())
	}
	return r.Update(c, func(tx *engine.Tx) error {
		p := engine.Pool{Name: poolName(c)}
		pools, err := tx.Pools().At(tx.Now())
		if err != nil {
			return err
		}
		for _, u := range pools {
			if strings.EqualFold(u.Name, p.Name) {
				p = u.Pool
			}
		}
		change(&p)
		return putPool(r, tx, p, false)
	})
}

func poolName(c *cli.Context) string {
	name, _, _ := strings.Cut(c.Args().First(), "=")
	return name
}

// poolChange reads the new properties of a pool.
func poolChange(r *session.Run, c *cli.Context) (func(*engine.Pool), error) {
	name, text, given := strings.Cut(c.Args().First(), "=")
	var amount, outside int64
	var until time.Time
	var err error
	if given {
		if amount, err = session.WholeAmount(text); err != nil {
			return nil, usage.Errorf("%s: %w", name, err)
		}
	}
	if c.IsSet("outside") {
		if outside, err = session.WholeAmount(c.String("outside")); err != nil {
			return nil, usage.Errorf("--outside: %w", err)
		}
	}
	if c.IsSet("until") {
		if !c.IsSet("outside") {
			return nil, usage.Errorf("--until needs --outside")
		}
		if until, err = r.Time(c, "until"); err != nil {
			return nil, err
		}
	}
	return func(p *engine.Pool) {
		if given {
			p.Name, p.Amount = cmp.Or(p.Name, name), amount
		}
		if c.IsSet("outside") {
			p.Outside, p.Until = outside, until
		}
	}, nil
}

func putPool(r *session.Run, tx *engine.Tx, p engine.Pool, add bool) error {
	if err := tx.Pools().Set(p, add); err != nil {
		return err
	}
	r.SayMoved(tx)
	pools, err := tx.Pools().At(tx.Now())
	if err != nil {
		return err
	}
	for _, u := range pools {
		if u.Name == p.Name {
			return printPools(r, []engine.PoolUse{u})
		}
	}
	return nil
}

func poolRemove(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	pools, err := tx.Pools().At(tx.Now())
	if err != nil {
		return err
	}
	name := c.Args().First()
	if err := tx.Pools().Remove(name); err != nil {
		return err
	}
	for _, u := range pools {
		if strings.EqualFold(u.Name, name) {
			return printPools(r, []engine.PoolUse{u})
		}
	}
	return nil
}

func printPools(r *session.Run, pools []engine.PoolUse) error {
	p := r.Printer(output.Result{Columns: []output.Column{{Name: "name"}, {Name: "amount", Kind: output.Integer},
		{Name: "held", Kind: output.Integer},
		{Name: "outside", Kind: output.Integer}, {Name: "until", Kind: output.Time},
		{Name: "free", Kind: output.Integer}}})
	for _, u := range pools {
		p.Row(u.Name, u.Amount, u.Held, u.Outside, output.OrNil(u.Until), u.Free)
	}
	return p.Close()
}
