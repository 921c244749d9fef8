package demo

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
)

// Report describes the demo's database.
type Report struct {
	DB    string // "" if the database is not kept
	until int64
	nodes int
	cpus  int64
	jobs  int
	in    map[engine.JobState]int
	after int // jobs started after a wait
}

// Read reads the report from the database at a path.
func Read(tx *engine.Tx, path string) (*Report, error) {
	rep := &Report{DB: path, until: tx.Now().Unix(), in: make(map[engine.JobState]int)}
	err := tx.Nodes().Each(func(n *index.Node) error {
		v, _ := n.Get(index.NCPUs)
		rep.nodes, rep.cpus = rep.nodes+1, rep.cpus+v.Num
		return nil
	})
	if err != nil {
		return nil, err
	}
	return rep, tx.Jobs().Each(func(j *engine.Job) error {
		rep.jobs++
		rep.in[j.State]++
		if (j.State == engine.JobRunning || j.State == engine.JobFinished) && j.Start.After(j.Submit) {
			rep.after++
		}
		return nil
	})
}

// Hint is a command to try.
type Hint struct {
	Command string `json:"command"`
	Why     string `json:"why"`
}

// The jobs of the dump that hints name: the first in the queue, and the job whose end it waits for.
const (
	firstWaiting = 1037
	heldUpBy     = 802
)

// hints returns commands to try on the database, in order.
func (rep *Report) hints() []Hint {
	if rep.DB == "" {
		return []Hint{}
	}
	list := []Hint{
		{"status", "the cluster on one screen"},
		{"node list", "what is on each node, and what it has left; one has failed"},
		{"report", "how full it was, and how long users waited"},
		{"gantt", "which jobs have which node until when, and the holes"},
		{"job list --state queued", "which jobs wait, and why"},
		{"query 'SELECT queue, count(*) jobs, avg(start - submit) wait_s FROM jobs WHERE start > submit " +
			"GROUP BY queue'", "how long jobs waited that did not start at once, by queue"},
		{"whatif --compare easy,conservative,relaxed --horizon 1d",
			"what those who wait would wait under other policies"},
		{fmt.Sprint("explain ", firstWaiting), "what the first of the queue waits for, and when it will start"},
		{fmt.Sprint("release ", heldUpBy), "end that job early"},
		{"cycle", "one pass over the queue: the first starts now"},
		{"place 2:ncpus=2:mem=4gb --place scatter -t 1h",
			"run something for an hour on what others leave of two nodes"},
		{"place 1:ncpus=2:mem=4gb -t 1h --queue q_2h",
			"the same kind of thing from a queue that reservation short lets in"},
		{"check", "prove that every index and bitmap agrees with what runs"},
	}
	for i, h := range list {
		list[i].Command = program() + " --db " + text.ShellWord(rep.DB) + " " + h.Command
	}
	return list
}

// program returns how to run placectl again: under go run there is no program of that name.
func program() string {
	self, _ := os.Executable()
	if strings.Contains(self, "go-build") {
		if _, err := os.Stat(filepath.FromSlash("cmd/placectl/command/verbs.go")); err == nil {
			return "go run ./cmd/placectl"
		}
	}
	return "placectl"
}

// Print prints the report as text for people, or as one record. With brief it leaves out the hints.
func (rep *Report) Print(w io.Writer, o output.Options, brief bool) error {
	p := &output.Page{Options: o}
	f := new(output.Record)
	waiting := rep.in[engine.JobQueued] + rep.in[engine.JobReserved]
	if o.Format != output.Table {
		f.Add("db", output.Text, output.OrNil(rep.DB))
		f.Add("start", output.Time, rep.until-int64(Lasts.Seconds()))
		f.Add("end", output.Time, rep.until)
		f.Add("nodes", output.Integer, rep.nodes)
		f.Add("ncpus", output.Integer, rep.cpus)
		f.Add("requests", output.Integer, rep.jobs)
		f.Add("finished", output.Integer, rep.in[engine.JobFinished])
		f.Add("failed", output.Integer, rep.in[engine.JobFailed])
		f.Add("running", output.Integer, rep.in[engine.JobRunning])
		f.Add("waiting", output.Integer, waiting)
		f.Add("waited", output.Integer, rep.after)
		f.Add("next", output.Object, rep.hints())
	} else {
		p.Printf("Six days of MetaCentrum's cluster wagap (Brno, February 2013), as placectl scheduled them.\n\n")
		add := func(name, format string, args ...any) { f.Add(name, output.Text, fmt.Sprintf(format, args...)) }
		add("cluster", "%d nodes, %s cpus", rep.nodes, text.Comma(rep.cpus))
		add("time", "moved: it begins %s and ends now", text.AppendLocal(nil, rep.until-int64(Lasts.Seconds()), o.Zone))
		add("jobs", "%s: %d finished, %d failed, %d running, %d waiting", text.Comma(rep.jobs),
			rep.in[engine.JobFinished],
			rep.in[engine.JobFailed], rep.in[engine.JobRunning], waiting)
		add("waited", "%d of those that have started", rep.after)
		db := rep.DB
		if db == "" {
			db = "not kept"
		}
		add("database", "%s", db)
	}
	if err := p.Record(f); err != nil {
		return err
	}
	if hints := rep.hints(); o.Format == output.Table && !brief && len(hints) > 0 {
		p.Heading("Try next:", " the database is yours, and in it the time is now")
		for _, h := range hints {
			p.Printf("  %s\n      %s\n", h.Command, h.Why)
		}
	}
	_, err := p.WriteTo(w)
	return err
}
