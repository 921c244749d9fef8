package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
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
			{Name: "list", Usage: "all batches", Access: verbs.Reads, InTx: (*runner).batchList,
				Example: "placectl batch list"},
			batchShowVerb(),
			batchNextVerb(),
			batchAnswerVerb("done", "take a host's results of jobs", (*store.Tx).BatchDone),
			batchAnswerVerb("fail", "take a host's report that it could not do jobs", (*store.Tx).BatchFail),
			batchExpireVerb(),
			batchRecomputeVerb(),
			batchCursorsVerb(),
			{Name: "rm", Usage: "forget a batch and all of its jobs", Args: []verbs.Arg{{Name: "NAME", Kind: verbs.KindBatch}}, Access: verbs.Writes, InTx: (*runner).batchRemove,
				Example: "placectl batch rm night-12"},
		},
	}
}

func (r *runner) batchList(tx *store.Tx, _ *cli.Context) error {
	p := r.printer(output.Result{Columns: batchFields.Columns()})
	if err := tx.EachBatch(func(b *store.Batch) error { return batchFields.Print(p, batchView{b, tx.Now().Unix()}) }); err != nil {
		return err
	}
	return p.Close()
}

func (r *runner) batchRemove(tx *store.Tx, c *cli.Context) error {
	b, err := tx.RemoveBatch(c.Args().First())
	if err != nil {
		return err
	}
	return r.printBatch(tx, b)
}

// printBatch prints one batch.
func (r *runner) printBatch(tx *store.Tx, b *store.Batch) error {
	p := r.printer(output.Result{Record: true, Columns: batchFields.Columns()})
	batchFields.Print(p, batchView{b, tx.Now().Unix()})
	return p.Close()
}

// batchView is a batch as answers show it, at an instant.
type batchView struct {
	*store.Batch
	now int64
}

var batchFields = output.Fields[batchView]{
	{Name: "name", Value: func(b batchView) any { return b.Name }},
	{Name: "state", Value: func(b batchView) any { return b.State() }},
	{Name: "policy", Value: func(b batchView) any { return b.Settings.Policy }},
	{Name: "jobs", Kind: output.Integer, Value: func(b batchView) any { return b.Jobs }},
	{Name: "done", Kind: output.Integer, Value: func(b batchView) any { return b.Done }},
	{Name: "failed", Kind: output.Integer, Value: func(b batchView) any { return b.Failed }},
	{Name: "progress", Kind: output.Number, Value: func(b batchView) any { return b.DonePart() }},
	{Name: "files", Kind: output.Integer, Value: func(b batchView) any { return b.Files }},
	{Name: "hosts", Kind: output.Integer, Value: func(b batchView) any { return b.Active }},
	{Name: "transfers", Kind: output.Integer, Value: func(b batchView) any { return b.Transfers }},
	{Name: "bound", Kind: output.Integer, Value: func(b batchView) any { return b.Bound }},
	{Name: "ratio", Kind: output.Number, Value: func(b batchView) any { return b.TransferRatio() }},
	{Name: "end", Kind: output.Time, Value: func(b batchView) any { return output.OrNil(b.End(b.now)) }},
	{Name: "bytes", Kind: output.Size, Detail: true, Value: func(b batchView) any { return b.Bytes }},
	{Name: "quorum", Kind: output.Integer, Detail: true, Value: func(b batchView) any { return b.Layers }},
	{Name: "moves", Kind: output.Integer, Detail: true, Value: func(b batchView) any { return b.Moves }},
	{Name: "credit", Kind: output.Number, Detail: true, Value: func(b batchView) any { return locality.Credits(b.Total) }},
	{Name: "remaining_credit", Kind: output.Number, Detail: true, Value: func(b batchView) any { return locality.Credits(b.Remaining) }},
	{Name: "waiting_credit", Kind: output.Number, Detail: true, Value: func(b batchView) any { return locality.Credits(b.Waiting) }},
	{Name: "expavg_credit", Kind: output.Number, Detail: true, Value: func(b batchView) any { return locality.Credits(b.Rate) }},
	{Name: "team", Kind: output.Integer, Detail: true, Value: func(b batchView) any { return b.Settings.Team }},
	{Name: "cushion", Kind: output.Integer, Detail: true, Value: func(b batchView) any { return b.Settings.Cushion }},
	{Name: "created", Kind: output.Time, Detail: true, Value: func(b batchView) any { return b.Created }},
}
