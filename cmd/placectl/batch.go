package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func batchVerb() *verb {
	return &verb{
		Name:     "batch",
		Category: "Locality",
		Usage:    "jobs that share files, worked off so that each file goes to few hosts",
		Description: "A batch is a sequence of files and a sequence of jobs, each of which uses some files that follow each\n" +
			"other. Hosts ask for work (next) and report it (done, fail); which jobs a host is given depends on the\n" +
			"files that it has. docs/locality.md has the loop that a host runs.",
		Example: "placectl batch create night-12 --files files.csv --jobs jobs.csv\nplacectl batch next night-12 --host $(hostname)",
		Verbs: []*verb{
			batchCreateVerb(),
			{Name: "list", Usage: "all batches", Access: reads, Run: (*runner).batchList,
				Example: "placectl batch list"},
			batchShowVerb(),
			batchNextVerb(),
			batchAnswerVerb("done", "take a host's results of jobs", (*store.Tx).BatchDone),
			batchAnswerVerb("fail", "take a host's report that it could not do jobs", (*store.Tx).BatchFail),
			batchExpireVerb(),
			batchRecomputeVerb(),
			batchCursorsVerb(),
			{Name: "rm", Usage: "forget a batch and all of its jobs", Args: []arg{{Name: "NAME", Kind: kindBatch}}, Access: writes, Run: (*runner).batchRemove,
				Example: "placectl batch rm night-12"},
		},
	}
}

func (r *runner) batchList(c *cli.Context) error {
	return r.view(func(tx *store.Tx) error {
		p := r.printer(output.Result{Columns: batchColumns()})
		if err := tx.EachBatch(func(b *store.Batch) error { return r.batchRow(p, tx, b) }); err != nil {
			return err
		}
		return p.Close()
	})
}

func (r *runner) batchRemove(c *cli.Context) error {
	return r.update(c, func(tx *store.Tx) error {
		b, err := tx.RemoveBatch(c.Args().First())
		if err != nil {
			return err
		}
		return r.printBatch(tx, b)
	})
}

// printBatch prints one batch.
func (r *runner) printBatch(tx *store.Tx, b *store.Batch) error {
	p := r.printer(output.Result{Record: true, Columns: batchColumns()})
	if err := r.batchRow(p, tx, b); err != nil {
		return err
	}
	return p.Close()
}

func batchColumns() []output.Column {
	return []output.Column{{Name: "name"}, {Name: "state"}, {Name: "policy"}, {Name: "jobs", Kind: output.Integer}, {Name: "done", Kind: output.Integer},
		{Name: "failed", Kind: output.Integer}, {Name: "progress", Kind: output.Number}, {Name: "files", Kind: output.Integer}, {Name: "hosts", Kind: output.Integer},
		{Name: "transfers", Kind: output.Integer}, {Name: "bound", Kind: output.Integer}, {Name: "ratio", Kind: output.Number}, {Name: "end", Kind: output.Time},
		{Name: "bytes", Kind: output.Size, Detail: true}, {Name: "quorum", Kind: output.Integer, Detail: true}, {Name: "moves", Kind: output.Integer, Detail: true},
		{Name: "credit", Kind: output.Number, Detail: true}, {Name: "remaining_credit", Kind: output.Number, Detail: true},
		{Name: "waiting_credit", Kind: output.Number, Detail: true}, {Name: "expavg_credit", Kind: output.Number, Detail: true},
		{Name: "team", Kind: output.Integer, Detail: true}, {Name: "cushion", Kind: output.Integer, Detail: true}, {Name: "created", Kind: output.Time, Detail: true}}
}

func (r *runner) batchRow(p *output.Printer, tx *store.Tx, b *store.Batch) error {
	s := b.Settings
	return p.Row(b.Name, b.State(), s.Policy, b.Jobs, b.Done, b.Failed, b.DonePart(), b.Files, b.Active,
		b.Transfers, b.Bound, b.TransferRatio(), instant(b.End(tx.Now())), b.Bytes, b.Layers, b.Moves,
		locality.Credits(b.Total), locality.Credits(b.Remaining), locality.Credits(b.Waiting), locality.Credits(b.Rate), s.Team, s.Cushion, b.Created)
}
