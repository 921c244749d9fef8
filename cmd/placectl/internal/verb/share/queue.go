package share

import (
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Queue declares the verb queue.
func Queue() *session.Verb {
	flags := func() []cli.Flag {
		return []cli.Flag{
			&cli.StringFlag{Name: "group-key", Usage: "resources `R,R` whose values make the queue's placement sets"},
			&cli.StringFlag{Name: "policy", Usage: "`POLICY` that orders nodes for its jobs (the database's)"},
			&cli.StringFlag{Name: "allow", Usage: "admit only these, `user=U,group=G` ('': all)"}}
	}
	return &session.Verb{
		Name:     "queue",
		Category: "Cluster",
		Usage:    "manage queues, and the nodes that only their jobs use",
		Description: "The queue field of a node says which queue it belongs to (placectl node set n[1-8] " +
			"queue=fast). If a queue\n" +
			"owns nodes, its jobs use only those. All other jobs use only nodes without a queue.",
		Example: "placectl queue add fast",
		Verbs: []*session.Verb{
			{Name: "list", Usage: "list queues", May: engine.Anybody, Access: verbs.Reads, InTx: queueList,
				Example: "placectl queue list"},
			{Name: "add", Usage: "make a queue", May: engine.Operators, Args: []verbs.Arg{{Name: "NAME"}},
				Access: verbs.Writes, Run: queueAdd,
				Flags:   flags(),
				Example: "placectl queue add fast --group-key switch"},
			{Name: "set", Usage: "change a queue", May: engine.Operators,
				Args: []verbs.Arg{{Name: "NAME", Kind: verbs.KindQueue}}, Access: verbs.Writes, InTx: queueSet,
				Flags:   flags(),
				Example: "placectl queue set fast --group-key ''"},
			{Name: "rm", Usage: "delete a queue that owns no nodes", May: engine.Operators,
				Args: []verbs.Arg{{Name: "NAME", Kind: verbs.KindQueue}}, Access: verbs.Writes, InTx: queueRemove,
				Example: "placectl queue rm fast"},
		},
	}
}

func queueList(r *session.Run, tx *engine.Tx, _ *cli.Context) error {
	queues, err := tx.Queues().All()
	if err != nil {
		return err
	}
	return printQueues(r, tx, queues...)
}

func queueAdd(r *session.Run, c *cli.Context) error {
	q := engine.Queue{Name: c.Args().First(), GroupKey: text.SplitList(c.String("group-key")),
		Policy: c.String("policy"), Allow: text.SplitList(c.String("allow"))}
	return r.Update(c, func(tx *engine.Tx) error {
		if err := tx.Queues().Add(q); err != nil {
			return err
		}
		q, err := tx.Queues().Get(q.Name)
		if err != nil {
			return err
		}
		return printQueues(r, tx, q)
	})
}

func queueSet(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	q, err := tx.Queues().Get(c.Args().First())
	if err != nil {
		return err
	}
	if c.IsSet("group-key") {
		q.GroupKey = text.SplitList(c.String("group-key"))
	}
	if c.IsSet("policy") {
		q.Policy = c.String("policy")
	}
	if c.IsSet("allow") {
		q.Allow = text.SplitList(c.String("allow"))
	}
	if err := tx.Queues().Set(q); err != nil {
		return err
	}
	if q, err = tx.Queues().Get(q.Name); err != nil {
		return err
	}
	return printQueues(r, tx, q)
}

func queueRemove(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	q, err := tx.Queues().Get(c.Args().First())
	if err != nil {
		return err
	}
	if err := tx.Queues().Remove(q.Name); err != nil {
		return err
	}
	return printQueues(r, tx, q)
}

func printQueues(r *session.Run, tx *engine.Tx, queues ...engine.Queue) error {
	p := r.Printer(output.Result{Columns: []output.Column{{Name: "name"}, {Name: "group_key", Kind: output.List},
		{Name: "policy"}, {Name: "nodes", Kind: output.Integer}, {Name: "allow", Kind: output.List, Detail: true}}})
	buckets, err := tx.Ask().Buckets()
	if err != nil {
		return err
	}
	nodes := make(map[string]int)
	for _, b := range buckets {
		nodes[b.Queue] += b.Up + b.NotUp
	}
	for _, q := range queues {
		p.Row(q.Name, q.GroupKey, output.OrNil(q.Policy), nodes[q.Name], q.Allow)
	}
	return p.Close()
}
