package demo

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
)

// Report is what came of a replay, and how things stand in its database.
type Report struct {
	DB       string // "" when it was not kept
	Outcomes []Outcome
	Hints    []Hint
	replay   *Replay
	past     *past
	waiting  []waiting
	reserved []*store.Reservation
}

// Hint is a command to try.
type Hint struct {
	Command string `json:"command"`
	Why     string `json:"why"`
}

// waiting is jobs of the queue that ask for the same.
type waiting struct {
	request  string
	walltime time.Duration
	jobs     int
	submit   time.Time // of the first
	start    time.Time // expected, zero where nobody knows
	waitsFor store.Wait
}

// Report looks at the database that a replay has made at a path.
func (p *Replay) Report(d *Data, path string) (*Report, error) {
	past, err := p.past(d)
	if err != nil {
		return nil, err
	}
	rep := &Report{DB: path, Outcomes: []Outcome{past.Outcome}, replay: p, past: past}
	return rep, p.DB.View(func(tx *store.Tx) error {
		if err := rep.readQueue(tx); err != nil {
			return err
		}
		if err := rep.findHints(tx); err != nil {
			return err
		}
		return tx.EachReservation(func(v *store.Reservation) error { rep.reserved = append(rep.reserved, v); return nil })
	})
}

// readQueue puts together the jobs of the queue that ask for the same.
func (rep *Report) readQueue(tx *store.Tx) error {
	outlook, err := tx.Outlook()
	if err != nil {
		return err
	}
	for _, j := range rep.past.queue {
		prospect, err := outlook.Prospect(j)
		if err != nil {
			return err
		}
		w := waiting{rep.past.data.byName[j.Name].Asked, j.Walltime, 0, j.Submit, prospect.Start, prospect.Wait}
		i := slices.IndexFunc(rep.waiting, func(o waiting) bool {
			return o.request == w.request && o.walltime == w.walltime && o.waitsFor == w.waitsFor
		})
		if i < 0 {
			i = len(rep.waiting)
			rep.waiting = append(rep.waiting, w)
		}
		rep.waiting[i].jobs++
	}
	return nil
}

// findHints finds commands that work on the database as it now is, in this order.
func (rep *Report) findHints(tx *store.Tx) error {
	hints := []Hint{
		{"node list", "what is on each node, and what it has left"},
		{"bucket list", "the nodes that are alike, in the order in which a placement tries them"},
		{"gantt", "who has which node until when, and the holes"},
		{"job list --state queued", "who waits, why, and when each is expected to start"},
		{"query 'SELECT queue, count(*) jobs, avg(start - submit) wait_s FROM jobs WHERE start > submit GROUP BY queue'", "how long jobs waited that did not start at once, by queue"},
	}
	job, other, err := rep.heldUp(tx)
	if err != nil {
		return err
	}
	if job != "" {
		hints = append(hints,
			Hint{"explain " + job, "what the first of the queue waits for, and when it will start"},
			Hint{"release " + other, "end that job early"},
			Hint{"cycle", "one pass over the queue: the first starts now"})
	}
	hints = append(hints,
		Hint{"place 2:ncpus=2:mem=4gb --place scatter -t 1h", "run something for an hour on what others leave of two nodes"},
		Hint{"place 1:ncpus=2:mem=4gb -t 1h --queue q_2h", "the same kind of thing from a queue that reservation short lets in"},
		Hint{"check", "prove that every index and bitmap agrees with what runs"})
	for _, h := range hints {
		rep.Hints = append(rep.Hints, Hint{program() + " --db " + text.ShellWord(rep.DB) + " " + h.Command, h.Why})
	}
	return nil
}

// heldUp finds a job with a plan that waits for the end of a single other job.
func (rep *Report) heldUp(tx *store.Tx) (job, other string, err error) {
	for _, j := range rep.past.queue {
		if j.State != store.JobReserved {
			continue
		}
		ex, err := tx.ExplainJob(j.ID, placer.Explain{})
		if err != nil {
			return "", "", err
		}
		if len(ex.WaitsFor) == 1 && ex.WaitsFor[0].Job != 0 {
			return fmt.Sprint(j.ID), fmt.Sprint(ex.WaitsFor[0].Job), nil
		}
	}
	return "", "", nil
}

// program is how to run placectl again: somebody who tries it with go run has
// nothing of that name.
func program() string {
	self, _ := os.Executable()
	if strings.Contains(self, "go-build") {
		if _, err := os.Stat(filepath.FromSlash("cmd/placectl/cmd_demo.go")); err == nil {
			return "go run ./cmd/placectl"
		}
	}
	return "placectl"
}
