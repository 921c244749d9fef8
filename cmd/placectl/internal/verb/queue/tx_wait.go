package queue

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
)

const (
	shownLogs  = 10 // how many failed jobs show the end of their output
	shownLines = 10 // of each
)

// awaitMade waits until the jobs that a transaction has made have ended, and fails unless all ended well. People see
// how, and the end of the output of those that failed.
func awaitMade(r *session.Run, timeout time.Duration, limited bool) error {
	if r.Submitted.Count == 0 {
		return nil
	}
	words := []string{fmt.Sprintf("%d-%d", r.Submitted.First, r.Submitted.First+r.Submitted.Count-1)}
	var deadline time.Time
	if limited {
		deadline = r.Env.Clock().Add(timeout)
	}
	a, err := await(r, words, false, deadline)
	if err != nil {
		return err
	}
	if a.bad, err = judged(r, a.jobs, true); err != nil {
		return err
	}
	if form := r.Audience(); !form.Table && (a.err() == nil || !form.Document) {
		a.tell(r) // the transaction's answer is the whole of it
		return a.err()
	}
	err = a.print(r)
	if !r.Audience().Table {
		return err
	}
	return errors.Join(showLogs(r, a.bad.each(a.jobs)), err)
}

// showLogs prints the end of the output of jobs.
func showLogs(r *session.Run, jobs []fate) error {
	for i, f := range jobs {
		if i == shownLogs {
			_, err := fmt.Fprintf(r.Stdout, "==> %s more\n", text.Plural(len(jobs)-i, "failed job"))
			return err
		}
		out, err := r.AnswerOf("logs", "--tail", strconv.Itoa(shownLines), strconv.FormatUint(f[0].ID, 10))
		switch {
		case errors.Is(err, exit.ErrNothingYet) || errors.Is(err, engine.ErrNotFound):
			continue
		case err != nil:
			out = []byte(err.Error())
		case len(out) == 0:
			continue
		}
		if _, err = fmt.Fprintf(r.Stdout, "==> %s\n%s\n", f.name(), bytes.TrimRight(out, "\n")); err != nil {
			return err
		}
	}
	return nil
}
