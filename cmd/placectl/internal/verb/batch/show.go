package batch

import (
	"fmt"

	"github.com/placectl/placectl/cmd/placectl/internal/chart"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func batchShowVerb() *session.Verb {
	return &session.Verb{
		Name:  "show",
		Usage: "show a batch: progress, expected end and files sent",
		May:   store.Anybody,
		Args:  []verbs.Arg{{Name: "NAME", Kind: verbs.KindBatch}},
		Description: "bound is the minimum number of transfers: each file once for every wanted result. ratio is the " +
			"transfers so far\n" +
			"over bound, and means little before the end. end is estimated from the remaining work and the " +
			"progress of the\n" +
			"hosts that work now. --jobs lists the jobs instead. --svg draws which host worked where in the file " +
			"sequence,\n" +
			"over time.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "jobs", Usage: "list every job with its host"},
			&cli.StringFlag{Name: "svg", Usage: "draw into `FILE` as SVG, - for standard output"},
			&cli.IntFlag{Name: "width", Value: 1200, Usage: "width of the SVG, `N` pixels"},
		},
		Access: verbs.Reads,
		Example: "placectl batch show night-12\nplacectl batch show night-12 --jobs -o csv\nplacectl batch show " +
			"night-12 --svg night.svg",
		Run: batchShow,
	}
}

func batchShow(r *session.Run, c *cli.Context) error {
	if c.String("svg") != "" {
		return batchSVG(r, c)
	}
	return r.View(func(tx *store.Tx) error {
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

const narrowBatch = 300 // pixels

// batchSVG draws the batch into the file that --svg names.
func batchSVG(r *session.Run, c *cli.Context) error {
	width := c.Int("width")
	if width < narrowBatch || width > chart.WidestSVG {
		return usage.Errorf("--width: %d is not from %d to %d", width, narrowBatch, chart.WidestSVG)
	}
	var b *chart.Batch
	err := r.View(func(tx *store.Tx) (err error) {
		b, err = readBatchChart(tx, c.Args().First())
		return err
	})
	if err != nil {
		return err
	}
	return r.WriteFile("svg", c.String("svg"), b.SVG(width, r.Loc))
}

// readBatchChart gathers what each host got.
func readBatchChart(tx *store.Tx, name string) (*chart.Batch, error) {
	b, err := tx.Batches().Get(name)
	if err != nil {
		return nil, err
	}
	hosts, err := batchHostNames(tx, name)
	if err != nil {
		return nil, err
	}
	p := &chart.Batch{Files: b.Files, From: b.Created, To: max(b.Created+1, b.Ended), Hosts: hosts,
		Title: fmt.Sprintf("batch %s: %d files, %d of %d jobs finished, %d hosts", b.Name, b.Files, b.Done+b.Failed,
			b.Jobs, len(hosts)),
		Note: fmt.Sprintf("%d transfers; the least there can be is %d. From left to right the files, from top to "+
			"bottom the time; a color is a host.",
			b.Transfers, b.Bound)}
	err = tx.Batches().EachJob(name, func(_ int, j *locality.Job, t *locality.Task) error {
		for _, x := range t.Instances {
			end := x.Until
			if x.State == locality.Live {
				end = tx.Now().Unix()
			}
			p.Marks = append(p.Marks, chart.BatchMark{Host: x.Host, First: j.A, Last: j.B, From: x.Sent,
				To: max(end, x.Sent), State: x.State.String(),
				Lost: x.State != locality.Answered && x.State != locality.Live})
			p.To = max(p.To, end)
		}
		return nil
	})
	return p, err
}

// printBatchJobs lists the jobs of a batch.
func printBatchJobs(r *session.Run, tx *store.Tx, name string) error {
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

func batchHostNames(tx *store.Tx, name string) (map[uint32]string, error) {
	names := make(map[uint32]string)
	err := tx.Batches().EachHost(name, func(h *locality.Host, _ *locality.Member) error {
		names[h.Number] = h.Name
		return nil
	})
	return names, err
}
