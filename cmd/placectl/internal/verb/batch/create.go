package batch

import (
	"errors"
	"io"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/batchfile"
	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/locality"
	"github.com/urfave/cli/v2"
)

func batchCreateVerb() *session.Verb {
	return &session.Verb{
		Name:  "create",
		Usage: "make a batch from lists of files and jobs",
		May:   engine.Anybody,
		Args:  []verbs.Arg{{Name: "NAME"}},
		Description: "Both lists are CSV with a header, or JSON, an object a line. One may be standard input (-). " +
			"Files have name\n" +
			"and, if known, size in bytes; their order is the sequence. Jobs have first and last (names of " +
			"files), or files\n" +
			"(all of them, a|b|c in CSV, an array in JSON). Their files must be consecutive in the sequence. " +
			"Jobs may also\n" +
			"have credit (amount of work, 1) and quorum (results wanted, each of another host and user). Jobs are\n" +
			"ordered by their first files. All or nothing.\n\n" +
			policiesText(),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "files", Required: true, Usage: "list of files, a `FILE`"},
			&cli.StringFlag{Name: "jobs", Required: true, Usage: "list of jobs, a `FILE`"},
			&cli.StringFlag{Name: "policy", Usage: "`POLICY` that places hosts (" + locality.DefaultPolicy + ")"},
			&cli.IntFlag{Name: "hosts", Usage: "expected number of hosts, `N` (100)"},
			&cli.IntFlag{Name: "team", Usage: "`N` hosts in a range, with policy cursors (5)"},
			&cli.IntFlag{Name: "quorum", Value: 1, Usage: "`R` results of each job, unless the list says otherwise"},
			&cli.IntFlag{Name: "cushion", Usage: "keep `N` instances generated ahead of each cursor"},
			&cli.IntFlag{Name: "max-errors", Usage: "give up a job that has failed more than `N` times (3)"},
			&cli.StringFlag{Name: "lease", Usage: "lease `D` for hosts not yet measured (1d)"},
			&cli.IntFlag{Name: "keep", Usage: "let a host keep `N` files that no job needs"},
		},
		Access: verbs.Writes,
		Example: "placectl batch create night-12 --files files.csv --jobs jobs.csv --hosts 40\n" +
			"make-jobs | placectl batch create night-12 --files files.jsonl --jobs - --quorum 2",
		Run: batchCreate,
	}
}

// policiesText lists the policies for help.
func policiesText() string {
	text := "Policies:"
	for _, p := range locality.Policies() {
		text += "\n  " + p.Name + ": " + p.Does
	}
	return text
}

func batchCreate(r *session.Run, c *cli.Context) error {
	settings, err := batchSettings(r, c)
	if err != nil {
		return err
	}
	if c.String("files") == "-" && c.String("jobs") == "-" {
		return usage.Errorf("--files and --jobs cannot both be standard input")
	}
	if q := c.Int("quorum"); q < 1 || q > locality.MaxQuorum {
		return usage.Errorf("--quorum: %d is not from 1 to %d", q, locality.MaxQuorum)
	}
	// Read everything before opening the database, so that a slow pipe blocks no other process.
	in := batchfile.New(c.Int("quorum"))
	for _, list := range []struct {
		flag string
		read func(io.Reader, string, func(int64)) error
	}{{"files", in.ReadFiles}, {"jobs", in.ReadJobs}} {
		if err := readList(r, list.flag, c.String(list.flag), list.read); err != nil {
			return session.Malformed(err)
		}
	}
	return r.Update(c, func(tx *engine.Tx) error {
		b, err := makeBatch(r, tx, c.Args().First(), settings, in)
		if err != nil {
			return err
		}
		return printBatch(r, tx, b)
	})
}

func batchSettings(r *session.Run, c *cli.Context) (locality.Settings, error) {
	s := locality.Settings{Policy: c.String("policy"), Team: c.Int("team"), Hosts: c.Int("hosts"),
		Cushion:   c.Int("cushion"),
		MaxErrors: c.Int("max-errors"), Keep: c.Int("keep")}
	if c.IsSet("lease") {
		d, err := r.Duration(c, "lease")
		if err != nil {
			return s, err
		}
		s.Lease = int64(d / time.Second)
	}
	if err := s.Valid(); err != nil {
		return s, usage.Errorf("%w", err)
	}
	return s, nil
}

// readList reads a list and shows its progress in a bar.
func readList(r *session.Run, label, name string, read func(io.Reader, string, func(int64)) error) error {
	in, err := r.Input(name)
	if err != nil {
		return err
	}
	defer in.Close()
	bar := r.Progress("read "+label, 0)
	defer bar.Done()
	return read(in, session.ShownFile(name), bar.Add)
}

// makeBatch writes a new batch to the database.
func makeBatch(r *session.Run, tx *engine.Tx, name string, s locality.Settings, in *batchfile.Lists) (*engine.Batch,
	error) {
	m, err := tx.Batches().Make(name, s)
	if err != nil {
		return nil, err
	}
	const step = 4096 // rows between looks at the clock and at an interrupt
	bar := r.Progress("create", int64(len(in.Files)+len(in.Jobs)))
	defer bar.Done()
	for i, f := range in.Files {
		if i%step == step-1 {
			bar.Add(step)
		}
		if err := m.AddFile(engine.BatchFile(f)); err != nil {
			return nil, err
		}
	}
	for i, j := range in.Jobs {
		if i%step == step-1 {
			bar.Add(step)
			if err := r.Ctx.Err(); err != nil {
				return nil, err
			}
		}
		if err := m.AddJob(j); err != nil {
			if errors.Is(err, engine.ErrInvalid) {
				err = &infile.Error{Position: in.At(i), Err: err}
			}
			return nil, err
		}
	}
	return m.Finish()
}
