package batch

import (
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/locality"
	"github.com/urfave/cli/v2"
)

func batchShowVerb() *session.Verb {
	return &session.Verb{
		Name:  "show",
		Usage: "show a batch: progress, expected end and files sent",
		May:   engine.Anybody,
		Args:  []verbs.Arg{{Name: "NAME", Kind: verbs.KindBatch}},
		Description: "bound is the minimum number of transfers: each file once for every wanted result. ratio is the " +
			"transfers so far\n" +
			"over bound, and means little before the end. end is estimated from the remaining work and the " +
			"progress of the\n" +
			"hosts that work now. --jobs lists the jobs instead.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "jobs", Usage: "list every job with its host"},
		},
		Access:  verbs.Reads,
		Example: "placectl batch show night-12\nplacectl batch show night-12 --jobs -o csv",
		Run:     batchShow,
	}
}

func batchShow(r *session.Run, c *cli.Context) error {
	return r.View(func(tx *engine.Tx) error {
		b, err := tx.Batches().Get(c.Args().First())
		if err != nil {
			return err
		}
		if c.Bool("jobs") {
			return printBatchJobs(r, tx, b.Name)
		}
		return printBatch(r, tx, b)
	})
}

// printBatchJobs lists the jobs of a batch.
func printBatchJobs(r *session.Run, tx *engine.Tx, name string) error {
	names, err := batchHostNames(tx, name)
	if err != nil {
		return err
	}
	p := r.Printer(output.Result{Columns: []output.Column{{Name: "job", Kind: output.Integer}, {Name: "state"},
		{Name: "first", Kind: output.Integer}, {Name: "last", Kind: output.Integer},
		{Name: "credit", Kind: output.Number}, {Name: "quorum", Kind: output.Integer},
		{Name: "errors", Kind: output.Integer}, {Name: "hosts", Kind: output.List}}})
	err = tx.Batches().EachJob(name, func(n int, j *locality.Job, t *locality.Task) error {
		hosts := []string{}
		for _, x := range t.Instances {
			hosts = append(hosts, names[x.Host]+":"+x.State.String())
		}
		return p.Row(n, t.State(j), j.A, j.B, locality.Credits(j.Credit), j.Quorum, t.Errors, hosts)
	})
	if err != nil {
		return err
	}
	return p.Close()
}

func batchHostNames(tx *engine.Tx, name string) (map[uint32]string, error) {
	names := make(map[uint32]string)
	err := tx.Batches().EachHost(name, func(h *locality.Host, _ *locality.Member) error {
		names[h.Number] = h.Name
		return nil
	})
	return names, err
}
