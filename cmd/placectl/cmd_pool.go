package main

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func poolVerb() *verb {
	flags := func() []cli.Flag {
		return []cli.Flag{&cli.StringFlag{Name: "outside", Usage: "of it others use `N`, who do not ask placectl"},
			&cli.StringFlag{Name: "until", Usage: "they do until `TIME` (until told otherwise)"}}
	}
	return &verb{
		Name:     "pool",
		Category: "Cluster",
		Usage:    "amounts of the whole cluster, such as licences",
		Description: "A job asks once for all that it wants of a pool, on however many nodes it runs: --pool fluent=2, or in a resource\n" +
			"list, -l ncpus=2,fluent=2. What runs, is planned or reserved holds its amount. Where a pool is given less than is\n" +
			"held of it nothing is stopped, nothing more starts, and plans are made anew.",
		Example: "placectl pool add fluent=30",
		Verbs: []*verb{
			{Name: "list", Usage: "all pools, and what is held of them", May: store.Anybody, Access: verbs.Reads, InTx: (*runner).poolList,
				Example: "placectl pool list"},
			{Name: "add", Usage: "make a pool", May: store.Operators, Args: []verbs.Arg{{Name: "NAME=AMOUNT"}}, Access: verbs.Writes, Whole: true, Run: (*runner).poolAdd,
				Flags:   flags(),
				Example: "placectl pool add fluent=30"},
			{Name: "set", Usage: "change a pool", May: store.Operators, Args: []verbs.Arg{{Name: "NAME[=AMOUNT]", Kind: verbs.KindPool}}, Access: verbs.Writes, Whole: true, Run: (*runner).poolSet,
				Flags: flags(),
				Example: "placectl pool set fluent=40\n" +
					"placectl pool set fluent --outside $(lmstat-used fluent) --until now+15m"},
			{Name: "rm", Usage: "forget a pool that nobody asks for", May: store.Operators, Args: []verbs.Arg{{Name: "NAME", Kind: verbs.KindPool}}, Access: verbs.Writes, InTx: (*runner).poolRemove,
				Example: "placectl pool rm fluent"},
		},
	}
}

func (r *runner) poolList(tx *store.Tx, _ *cli.Context) error {
	pools, err := tx.Pools().At(tx.Now())
	if err != nil {
		return err
	}
	return r.printPools(pools)
}

func (r *runner) poolAdd(c *cli.Context) error {
	change, err := r.poolChange(c)
	if err != nil {
		return err
	}
	if !strings.Contains(c.Args().First(), "=") {
		return usagef("how much of it is there? write %s=30", c.Args().First())
	}
	return r.update(c, func(tx *store.Tx) error {
		var p store.Pool
		change(&p)
		return r.putPool(tx, p, true)
	})
}

func (r *runner) poolSet(c *cli.Context) error {
	change, err := r.poolChange(c)
	if err != nil {
		return err
	}
	if !strings.Contains(c.Args().First(), "=") && !c.IsSet("outside") {
		return usagef("what is to change? write %s=30, or --outside 7", c.Args().First())
	}
	return r.update(c, func(tx *store.Tx) error {
		p := store.Pool{Name: poolName(c)}
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
		return r.putPool(tx, p, false)
	})
}

func poolName(c *cli.Context) string {
	name, _, _ := strings.Cut(c.Args().First(), "=")
	return name
}

// poolChange reads what a pool is to be from now on.
func (r *runner) poolChange(c *cli.Context) (func(*store.Pool), error) {
	name, text, given := strings.Cut(c.Args().First(), "=")
	var amount, outside int64
	var until time.Time
	var err error
	if given {
		if amount, err = wholeAmount(text); err != nil {
			return nil, usagef("%s: %w", name, err)
		}
	}
	if c.IsSet("outside") {
		if outside, err = wholeAmount(c.String("outside")); err != nil {
			return nil, usagef("--outside: %w", err)
		}
	}
	if c.IsSet("until") {
		if !c.IsSet("outside") {
			return nil, usagef("--until says how long others use what --outside says")
		}
		if until, err = r.time(c, "until"); err != nil {
			return nil, err
		}
	}
	return func(p *store.Pool) {
		if given {
			p.Name, p.Amount = cmp.Or(p.Name, name), amount
		}
		if c.IsSet("outside") {
			p.Outside, p.Until = outside, until
		}
	}, nil
}

func wholeAmount(value string) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		return 0, usagef("%s is not a whole number from 0 on", text.Quoted(value))
	}
	return n, nil
}

func (r *runner) putPool(tx *store.Tx, p store.Pool, add bool) error {
	if err := tx.Pools().Set(p, add); err != nil {
		return err
	}
	r.sayMoved(tx)
	pools, err := tx.Pools().At(tx.Now())
	if err != nil {
		return err
	}
	for _, u := range pools {
		if u.Name == p.Name {
			return r.printPools([]store.PoolUse{u})
		}
	}
	return nil
}

func (r *runner) poolRemove(tx *store.Tx, c *cli.Context) error {
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
			return r.printPools([]store.PoolUse{u})
		}
	}
	return nil
}

func (r *runner) printPools(pools []store.PoolUse) error {
	p := r.printer(output.Result{Columns: []output.Column{{Name: "name"}, {Name: "amount", Kind: output.Integer}, {Name: "held", Kind: output.Integer},
		{Name: "outside", Kind: output.Integer}, {Name: "until", Kind: output.Time}, {Name: "free", Kind: output.Integer}}})
	for _, u := range pools {
		p.Row(u.Name, u.Amount, u.Held, u.Outside, output.OrNil(u.Until), u.Free)
	}
	return p.Close()
}
