package cluster

import (
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Bucket declares the verb bucket.
func Bucket() *session.Verb {
	return &session.Verb{
		Name:     "bucket",
		Category: "Cluster",
		Usage:    "show nodes that are alike: same resources, queue, priority",
		Example:  "placectl bucket list",
		Verbs: []*session.Verb{
			{Name: "list", Usage: "list the buckets, in the order they are tried", May: engine.Anybody,
				Access: verbs.Reads, InTx: bucketList,
				Description: "Counts each bucket's nodes that are up. Of those, free ones have nothing on them or " +
					"planned, later ones only\n" +
					"plans, busy ones something on them. open counts busy ones with a cpu left. For nodes, free and " +
					"later are one\n" +
					"state, and busy is two: docs/states.md.",
				Flags:   []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "include buckets without a node that is up"}},
				Example: "placectl bucket list"},
		},
	}
}

func bucketList(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	buckets, err := tx.Ask().Buckets()
	if err != nil {
		return err
	}
	p := r.Printer(output.Result{Columns: []output.Column{{Name: "bucket", Kind: output.Integer}, {Name: "signature"},
		{Name: "queue"}, {Name: "priority", Kind: output.Integer},
		{Name: "total", Kind: output.Integer}, {Name: "free", Kind: output.Integer},
		{Name: "later", Kind: output.Integer}, {Name: "busy", Kind: output.Integer},
		{Name: "open", Kind: output.Integer}, {Name: "not_up", Kind: output.Integer}}})
	for _, b := range buckets {
		if b.Up > 0 || c.Bool("all") {
			p.Row(b.ID, b.Signature, output.OrNil(b.Queue), b.Priority, b.Up, b.Free, b.Later, b.Busy, b.Open, b.NotUp)
		}
	}
	return p.Close()
}

// Set declares the verb set.
func Set() *session.Verb {
	return &session.Verb{
		Name:     "set",
		Category: "Cluster",
		Usage:    "show placement sets: nodes that share a value",
		Example:  "placectl set list",
		Verbs: []*session.Verb{
			{Name: "list", Usage: "list the placement sets, in the order they are tried", May: engine.Anybody,
				Access: verbs.Reads, InTx: setList,
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "queue", Usage: "only sets of the nodes of `QUEUE`"},
					&cli.StringFlag{Name: "group-key", Usage: "use resources `R,R` instead of the configured ones"},
				},
				Example: "placectl set list\nplacectl set list --group-key rack"},
		},
	}
}

func setList(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	sets, err := tx.Ask().PlacementSets(c.String("queue"), text.SplitList(c.String("group-key")))
	if err != nil {
		return err
	}
	p := r.Printer(output.Result{Columns: []output.Column{{Name: "set"}, {Name: "total", Kind: output.Integer},
		{Name: "free", Kind: output.Integer},
		{Name: "total_ncpus", Kind: output.Integer}, {Name: "free_ncpus", Kind: output.Integer},
		{Name: "total_mem", Kind: output.Size}, {Name: "free_mem", Kind: output.Size}}})
	for _, s := range sets {
		p.Row(s.Name, s.Total, s.Free, s.TotalCPUs, s.FreeCPUs, s.TotalMem*1024, s.FreeMem*1024)
	}
	return p.Close()
}
