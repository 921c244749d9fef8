// Package batch holds the verb batch: lists of items that hosts get by locality.
package batch

import (
	"strconv"

	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/locality"
	"github.com/urfave/cli/v2"
)

// Batch declares the verb batch.
func Batch() *session.Verb {
	return &session.Verb{
		Name:     "batch",
		Category: "Locality",
		Usage:    "run jobs that share files, each file on few hosts",
		Description: "A batch is a sequence of files and a sequence of jobs, each using some consecutive files. " +
			"Hosts ask for work\n" +
			"(next) and report it (done, fail); work does that for a command. A host gets jobs whose files it has.",
		Example: "placectl batch create night-12 --files files.csv --jobs jobs.csv\nplacectl batch work night-12 -- " +
			"./run-job",
		Verbs: []*session.Verb{
			batchCreateVerb(),
			{Name: "list", Usage: "list batches", May: engine.Anybody, Access: verbs.Reads, InTx: batchList,
				Example: "placectl batch list"},
			batchShowVerb(),
			batchWorkVerb(),
			batchNextVerb(),
			batchAnswerVerb("done", "take a host's results of jobs", engine.Batches.Done),
			batchAnswerVerb("fail", "take a host's report that it could not do jobs", engine.Batches.Fail),
			batchExpireVerb(),
			batchRecomputeVerb(),
			batchCursorsVerb(),
			{Name: "rm", Usage: "delete a batch and all of its jobs", May: engine.Anybody,
				Args: []verbs.Arg{{Name: "NAME", Kind: verbs.KindBatch}}, Access: verbs.Writes, InTx: batchRemove,
				Example: "placectl batch rm night-12"},
		},
	}
}

func batchList(r *session.Run, tx *engine.Tx, _ *cli.Context) error {
	p := r.Printer(output.Result{Columns: listing.BatchFields.Columns()})
	if err := tx.Batches().Each(func(b *engine.Batch) error {
		return listing.BatchFields.Print(p, listing.Batch{Batch: b, Now: tx.Now().Unix()})
	}); err != nil {
		return err
	}
	return p.Close()
}

func batchRemove(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	b, err := tx.Batches().Remove(c.Args().First())
	if err != nil {
		return err
	}
	return printBatch(r, tx, b)
}

// printBatch prints one batch.
func printBatch(r *session.Run, tx *engine.Tx, b *engine.Batch) error {
	p := r.Printer(output.Result{Record: true, Columns: listing.BatchFields.Columns()})
	listing.BatchFields.Print(p, listing.Batch{Batch: b, Now: tx.Now().Unix()})
	return p.Close()
}

// batchAnswerVerb makes one of the verbs done and fail.
func batchAnswerVerb(name, usage string, answer func(engine.Batches, string, string, []int) ([]locality.Report,
	error)) *session.Verb {
	return &session.Verb{
		Name:  name,
		Usage: usage,
		May:   engine.Anybody,
		Args:  []verbs.Arg{{Name: "NAME", Kind: verbs.KindBatch}, {Name: "JOB", Many: true}},
		Description: "Reports all of the jobs, or none. Status 7: the host does not hold a job, because its lease " +
			"has expired or the\n" +
			"host has reported it before; the message says which. The work of other hosts does not change.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "host", Required: true, Usage: "reporting host `H`"},
		},
		Access:  verbs.Writes,
		Example: "placectl batch " + name + " night-12 17 18 --host $(hostname)",
		Run: func(r *session.Run, c *cli.Context) error {
			jobs, err := batchJobs(c)
			if err != nil {
				return err
			}
			return r.Update(c, func(tx *engine.Tx) error {
				reports, err := answer(tx.Batches(), c.Args().First(), c.String("host"), jobs)
				if err != nil {
					return err
				}
				return printReports(r, reports)
			})
		},
	}
}

// batchJobs reads the numbers of jobs of a batch, each once.
func batchJobs(c *cli.Context) ([]int, error) {
	seen := make(map[int]bool)
	var jobs []int
	for _, arg := range c.Args().Slice()[1:] {
		n, err := strconv.Atoi(arg)
		if err != nil || n < 0 {
			return nil, usage.Errorf("%s is not the number of a job", text.Quoted(arg))
		}
		if !seen[n] {
			seen[n] = true
			jobs = append(jobs, n)
		}
	}
	return jobs, nil
}

func printReports(r *session.Run, reports []locality.Report) error {
	p := r.Printer(output.Result{Columns: []output.Column{{Name: "job", Kind: output.Integer}, {Name: "state"},
		{Name: "remaining_credit", Kind: output.Number}}})
	for _, x := range reports {
		p.Row(x.Job, x.State, locality.Credits(x.Remaining))
	}
	return p.Close()
}

func batchCursorsVerb() *session.Verb {
	return &session.Verb{
		Name:  "cursors",
		Usage: "list the ranges of a batch, with progress, hosts and time left",
		May:   engine.Anybody,
		Args:  []verbs.Arg{{Name: "NAME", Kind: verbs.KindBatch}},
		Description: "rules shows which soft rules a team breaks: its fastest host should be no faster than the " +
			"others together, and\n" +
			"its hosts should belong to different users. Without --all, finished ranges are left out.",
		Flags:   []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "include finished ranges"}},
		Access:  verbs.Reads,
		Example: "placectl batch cursors night-12\nplacectl batch cursors night-12 --all -o csv",
		Run:     batchCursors,
	}
}

func batchCursors(r *session.Run, c *cli.Context) error {
	name := c.Args().First()
	return r.View(func(tx *engine.Tx) error {
		b, err := tx.Batches().Get(name)
		if err != nil {
			return err
		}
		p := r.Printer(output.Result{Columns: []output.Column{{Name: "first_job", Kind: output.Integer},
			{Name: "last_job", Kind: output.Integer}, {Name: "result", Kind: output.Integer},
			{Name: "first_unfinished", Kind: output.Integer}, {Name: "first_ungenerated", Kind: output.Integer},
			{Name: "remaining_credit", Kind: output.Number},
			{Name: "expavg_credit", Kind: output.Number}, {Name: "est_time_left", Kind: output.Duration},
			{Name: "hosts", Kind: output.List}, {Name: "rules", Kind: output.List}}})
		places, err := tx.Batches().Places(name)
		if err != nil {
			return err
		}
		err = tx.Batches().EachRange(name, func(cur *locality.Cursor) error {
			if cur.Remaining() == 0 && !c.Bool("all") {
				return nil
			}
			return cursorRow(p, b, cur, places.In(cur))
		})
		if err != nil {
			return err
		}
		return p.Close()
	})
}

func cursorRow(p *output.Printer, b *engine.Batch, cur *locality.Cursor, t *locality.Team) error {
	at := b.Progress(cur)
	var result, left any
	if at.Result > 0 {
		result = at.Result
	}
	if s, ok := cur.Left(); ok {
		left = s
	}
	return p.Row(at.First, at.Last, result, at.Unfinished, at.Ungenerated, locality.Credits(cur.Remaining()),
		locality.Credits(cur.Rate()), left, t.Hosts, t.Broken())
}
