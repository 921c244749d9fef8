package run

import (
	"errors"
	"fmt"
	"io"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// loggedJobs returns the jobs whose output is shown. several says whether the word may name more than one.
func loggedJobs(r *session.Run, c *cli.Context) (jobs []*engine.Job, several bool, err error) {
	err = r.View(func(tx *engine.Tx) error {
		jobs, several = nil, false
		return r.Names(tx).Each(c.Args().Slice(), func(j *engine.Job, one bool) error {
			jobs, several = append(jobs, j), !one
			return nil
		})
	})
	return jobs, several, err
}

// eachLog shows the output of jobs one after the other. With --follow it fails as the first of them that
// failed. Jobs that have written nothing are counted, and other failures told, so that they hide no output.
func eachLog(r *session.Run, c *cli.Context, to *lines, jobs []*engine.Job) error {
	silent, follow := 0, c.Bool("follow")
	var first error
	for _, j := range jobs {
		l := &jobLog{r: r, c: c, to: to, job: j.ID, head: "==> " + listing.JobName(j) + "\n"}
		over, err := l.show()
		if err == nil && over != nil {
			err = jobStatus(over)
		}
		switch {
		case err == nil:
		case r.Ctx.Err() != nil:
			return err
		case errors.Is(err, exit.ErrNothingYet), errors.Is(err, engine.ErrNotFound) && !follow:
			silent++
		default:
			var status exit.Status
			if first == nil {
				first = err
			} else if !errors.As(err, &status) {
				r.Notef("%v", err)
			}
		}
	}
	switch {
	case first != nil:
		return first
	case silent == len(jobs):
		return fmt.Errorf("%w: none of %s has written anything; placectl logs -f waits for it", exit.ErrNothingYet,
			text.Plural(silent, "job"))
	case silent > 0:
		r.Notef("%d of %s have written nothing", silent, text.Plural(len(jobs), "job"))
	}
	return nil
}

// lines is a writer that knows whether it is at the start of a line.
type lines struct {
	to   io.Writer
	last byte
}

func (w *lines) Write(b []byte) (int, error) {
	if len(b) > 0 {
		w.last = b[len(b)-1]
	}
	return w.to.Write(b)
}

// heading shows the line before the output, once, at the start of a line.
func (l *jobLog) heading() error {
	if l.head == "" {
		return nil
	}
	head := l.head
	if w, ok := l.to.(*lines); ok && w.last != 0 && w.last != '\n' {
		head = "\n" + head
	}
	l.head = ""
	_, err := io.WriteString(l.to, head)
	return err
}
