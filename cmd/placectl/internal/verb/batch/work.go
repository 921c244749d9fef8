package batch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/launch"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer"
	"github.com/urfave/cli/v2"
)

func batchWorkVerb() *session.Verb {
	return &session.Verb{
		Name:  "work",
		Usage: "run a command for each job of a batch that this host gets",
		May:   engine.Anybody,
		Args: []verbs.Arg{{Name: "NAME", Kind: verbs.KindBatch}, {Name: "-- COMMAND", Kind: verbs.KindCommand},
			{Name: "ARGUMENTS", Kind: verbs.KindCommand, Optional: true, Many: true}},
		Description: "Takes jobs for this host, runs the command for each, and reports the job as done if the " +
			"status is 0,\n" +
			"else as failed, until the batch is finished. While others have the last jobs it waits: one may come " +
			"back.\n" +
			"PLACECTL_BATCH is the batch, PLACECTL_BATCH_JOB the job's number, PLACECTL_BATCH_FIRST and _LAST its " +
			"first and\n" +
			"last file, and PLACECTL_BATCH_FILES all of them, one a line. The command fetches those that are not " +
			"here yet.\n" +
			"PLACECTL_BATCH_DELETE lists files that this host needs no more. The command gets no input.\n\n" +
			"The exit status is 0 if every job of the batch is done and 1 if one has failed. If work or its host " +
			"is killed,\n" +
			"its jobs go to others when their leases end. Any number of work may run at once.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "jobs", Aliases: []string{"c"},
				Usage: "run `N` jobs at a time (in a job as many as it has cores, else 1)"},
			&cli.StringFlag{Name: "host", Usage: "name `H` of this host (the system's)"},
		},
		Access:  verbs.Writes,
		Unkeyed: true,
		Alone:   true,
		Example: "placectl batch work night-12 -- ./run-job\n" +
			"placectl submit -c 8 --array 20 -- placectl batch work night-12 -- ./run-job",
		Run: batchWork,
	}
}

const (
	idleFor = 10 * time.Second // how long a host without work waits if nothing changes
	glance  = time.Second      // how often it looks whether something has
)

// A worker runs jobs of a batch.
type worker struct {
	r          *session.Run
	c          *cli.Context
	name, host string
	words, env []string // of the command
	running    int
	ended      chan outcome
	unneeded   []string // files that the next command is told to delete
}

// outcome is how the command of a job ended.
type outcome struct {
	locality.Given
	launch.Ended
}

func batchWork(r *session.Run, c *cli.Context) error {
	if r.Dash != 1 || c.NArg() < 2 {
		return usage.Errorf("put the command after --: placectl batch work night-12 -- ./run-job")
	}
	if c.IsSet("jobs") && c.Int("jobs") < 1 {
		return usage.Errorf("--jobs must be 1 or more")
	}
	words := c.Args().Slice()[1:]
	if _, err := launch.Find(words[0]); err != nil {
		return err
	}
	w := &worker{r: r, c: c, name: c.Args().First(), host: c.String("host"), words: words, env: r.Environ(),
		ended: make(chan outcome)}
	if w.host == "" {
		name, err := os.Hostname()
		if err != nil {
			return err
		}
		w.host = name
	}
	if c.Bool(verbs.DryRun) {
		_, err := w.next()
		return err
	}
	slots := c.Int("jobs")
	if slots == 0 {
		n, err := w.cores()
		if err != nil {
			return err
		}
		slots = n
	}
	ctx, stop := signal.NotifyContext(r.Ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	return w.work(ctx, slots)
}

// work runs jobs until the batch is finished or a request fails. What runs then is awaited.
func (w *worker) work(ctx context.Context, slots int) error {
	over := false // no more is asked for
	var why error
	var seen session.FileStamp
	var idle time.Time // when to ask again though nothing has changed
	for {
		for w.running < slots && !over && ctx.Err() == nil &&
			!(w.r.Env.Clock().Before(idle) && w.r.FileStamp() == seen) {
			idle = time.Time{}
			job, err := w.next()
			switch {
			case job != nil:
				w.begin(job)
			case errors.Is(err, engine.ErrBatchIdle), errors.Is(err, engine.ErrBatchOver),
				errors.Is(err, engine.ErrLocked):
				seen, idle = w.r.FileStamp(), w.r.Env.Clock().Add(idleFor)
			default:
				over, why = true, err
			}
		}
		if w.running == 0 && over {
			return why
		}
		select {
		case end := <-w.ended:
			w.running--
			if ctx.Err() == nil {
				w.report(end)
			}
		case <-time.After(glance):
		case <-ctx.Done():
			for ; w.running > 0; w.running-- {
				<-w.ended
			}
			return ctx.Err()
		}
	}
}

// job is a job of the batch, with the names of its files.
type job struct {
	locality.Given
	files []string
}

// next takes a job. There is none and no error once every job is done; if some have failed, the error says so.
func (w *worker) next() (given *job, why error) {
	var unneeded []string
	err := w.r.Update(w.c, func(tx *engine.Tx) error {
		var g *engine.BatchGrant
		given, unneeded = nil, nil
		if g, why = tx.Batches().Next(w.name, w.host, "", locality.Want{Jobs: 1}); g == nil {
			return why
		}
		for _, f := range g.Delete {
			unneeded = append(unneeded, f.Name)
		}
		if len(g.Jobs) == 0 {
			b, err := tx.Batches().Get(w.name)
			if err != nil || !b.Over() {
				return err
			}
			if why = nil; b.Failed > 0 {
				why = fmt.Errorf("batch %s is finished, but %d of %s failed", w.name, b.Failed,
					text.Plural(b.Jobs, "job"))
			}
			return nil
		}
		given = &job{Given: g.Jobs[0]}
		files, err := tx.Batches().Files(w.name, given.Files)
		for _, f := range files {
			given.files = append(given.files, f.Name)
		}
		if err == nil && w.r.Dry {
			err = printGranted(w.r, g, true)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	w.unneeded = append(w.unneeded, unneeded...)
	return given, why
}

// begin runs the command of a job. Signals to us reach it, too.
func (w *worker) begin(j *job) {
	task := &launch.Task{Words: w.words, Out: w.r.Answers.Writer, Err: w.r.Stderr}
	task.Env = append(slices.Clip(w.env), "PLACECTL_DB="+w.r.DatabasePath(), "PLACECTL_BATCH="+w.name,
		"PLACECTL_BATCH_JOB="+strconv.Itoa(j.Job), "PLACECTL_BATCH_FIRST="+j.files[0],
		"PLACECTL_BATCH_LAST="+j.files[len(j.files)-1], "PLACECTL_BATCH_FILES="+strings.Join(j.files, "\n"),
		"PLACECTL_BATCH_DELETE="+strings.Join(w.unneeded, "\n"))
	w.unneeded = nil
	w.running++
	all := &launch.Tasks{List: []*launch.Task{task}, Terminal: w.r.StderrTTY}
	go func() { w.ended <- outcome{j.Given, all.Run()[0]} }()
}

// report tells how a job ended, until it is taken, refused, or the lease is over.
func (w *worker) report(o outcome) {
	tell := engine.Batches.Done
	switch {
	case o.Err != nil:
		tell = engine.Batches.Fail
		w.r.Loudf("job %d of batch %s failed: %v", o.Job, w.name, o.Err)
	case o.Status != 0:
		tell = engine.Batches.Fail
		w.r.Loudf("job %d of batch %s failed: exit status %d", o.Job, w.name, o.Status)
	}
	for {
		err := w.r.Update(w.c, func(tx *engine.Tx) error {
			_, err := tell(tx.Batches(), w.name, w.host, []int{o.Job})
			return err
		})
		again := errors.Is(err, engine.ErrLocked) || errors.Is(err, engine.ErrUnknown)
		if again && w.r.Ctx.Err() == nil && w.r.Env.Clock().Unix() < o.Until {
			continue
		}
		switch {
		case errors.Is(err, engine.ErrConflict): // another host was faster, or has the job now
			w.r.Notef("%v", err)
		case err != nil:
			w.r.Loudf("the result of job %d of batch %s is lost: %v", o.Job, w.name, err)
		}
		return
	}
}

// cores returns how many cores the job around this process has on its first node for its first chunks, 1 if there is
// no job.
func (w *worker) cores() (n int, err error) {
	id, _ := w.r.Within()
	if id == 0 {
		return 1, nil
	}
	err = w.r.View(func(tx *engine.Tx) error {
		j, err := tx.Jobs().Get(id)
		if err != nil {
			return err
		}
		defs, err := tx.Config().Resources()
		if err != nil {
			return err
		}
		asked, err := placer.ParseSelect(defs, j.Select)
		if err != nil || len(j.Chunks) == 0 { // it has ended
			return err
		}
		for _, want := range asked[0].Wants {
			if want.Res == index.NCPUs {
				n = int(want.Value.Num) * j.Chunks[0].Nodes[0].Chunks
			}
		}
		return nil
	})
	return max(n, 1), err
}
