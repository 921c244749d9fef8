package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
)

// demoHint is a command to try.
type demoHint struct {
	Command string `json:"command"`
	Why     string `json:"why"`
}

// hints are commands that work on the database as it now is, in this order.
func (rep *demoReport) hints() {
	hints := []demoHint{
		{"bucket list", "the buckets, in the order in which a placement tries them"},
		{"node list", "what is on each node, and what it has left"},
		{"gantt", "who has which node until when, and the holes"},
	}
	if w, job := rep.heldUp(); w != nil {
		when := fmt.Sprintf("when -l nodes=%s -t %s", w.Request, spell.AppendDuration(nil, w.Walltime))
		hints = append(hints,
			demoHint{when, "when one that waits could start, and whose end that waits for"},
			demoHint{"show " + job, "all about that job"},
			demoHint{"release " + job, "end it early; then ask once more when the other could start"})
	}
	hints = append(hints,
		demoHint{"place 2:ncpus=2:mem=4gb --place scatter -t 1h", "run something for an hour on what others leave of two nodes"},
		demoHint{"place 1:ncpus=2:mem=4gb -t 1h --queue q_2h", "the same kind of thing from a queue that reservation short lets in"},
		demoHint{"check", "prove that every index and bitmap agrees with what runs"})
	for _, h := range hints {
		rep.Next = append(rep.Next, demoHint{rep.program() + " --db " + spell.ShellWord(rep.DB) + " " + h.Command, h.Why})
	}
}

// heldUp finds a request that waits for the end of a single job, and that job.
func (rep *demoReport) heldUp() (*demoWait, string) {
	for i := range rep.Waiting {
		w := &rep.Waiting[i]
		if job, ok := strings.CutPrefix(strings.Join(w.WaitsFor, "+"), "job "); ok && !strings.Contains(job, "+") {
			return w, job
		}
	}
	return nil, ""
}

// program is how to run placectl again: somebody who tries it with go run has
// nothing of that name.
func (rep *demoReport) program() string {
	self, _ := os.Executable()
	if strings.Contains(self, "go-build") {
		if _, err := os.Stat(filepath.FromSlash("cmd/placectl/demo.go")); err == nil {
			return "go run ./cmd/placectl"
		}
	}
	return "placectl"
}
