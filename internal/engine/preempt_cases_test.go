package engine

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/preempt"
)

// preemptCase is a row of testdata/limits/preempt.jsonl: what a real Slurm did with jobs that
// were submitted one after the other, or what a test of OpenPBS expects of steps.
type preemptCase struct {
	ID    string
	Setup struct {
		Nodes   []struct{ NCPUs int64 }
		Queues  []string
		Preempt json.RawMessage
	}
	Jobs []struct {
		User, Class, Ask, Ends string
		NoRequeue              bool `json:"no_requeue"`
	}
	Timeline []struct {
		After  int64 `json:"after_s"`
		States []string
	}
	Steps []struct {
		Do, User, Queue, Ask, Expect, State string
		NoRequeue                           bool `json:"no_requeue"`
		Job                                 uint64
		Walltime                            int64
	}
	Ours []string // if we decide otherwise
}

// rule returns the rule of a case.
func (c *preemptCase) rule(t *testing.T) *preempt.Rule {
	var said struct {
		Rule, How string
		Grace     int64
		MinRun    int64 `json:"min_run"`
	}
	if json.Unmarshal(c.Setup.Preempt, &said) != nil {
		said.Rule, said.How, said.Grace = "queue=expressq over queue=workq", "requeue", preempt.OwnGrace
	}
	r, err := preempt.Parse(said.Rule)
	if err == nil {
		r.How, err = preempt.ParseHow(said.How)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.Grace, r.MinRun = said.Grace, said.MinRun
	return r
}

// outcome returns the word that cases have for a job that was started before.
func outcome(j *Job) string {
	switch {
	case (j.State == JobQueued || j.State == JobReserved) && j.Attempt > 0:
		return "queued again"
	case j.State == JobQueued || j.State == JobReserved:
		return "waiting"
	}
	return j.State.String()
}

func TestPreemptCases(t *testing.T) {
	t.Parallel()
	f, err := os.Open(filepath.Join("..", "..", "testdata", "limits", "preempt.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		var c preemptCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		t.Run(c.ID, func(t *testing.T) { c.run(t) })
	}
	if n != 7 {
		t.Errorf("%d cases", n)
	}
}

func (c *preemptCase) run(t *testing.T) {
	db, clock := newDB(t)
	addNodes(t, db, "n", 1, c.Setup.Nodes[0].NCPUs)
	cycle := func() {
		t.Helper()
		err := db.Update(func(tx *Tx) error {
			_, err := tx.Cycle().Run(CycleSpec{By: ByLauncher, Nonce: Nonce{1}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	submit := func(s Submission) uint64 {
		t.Helper()
		var id uint64
		err := db.Update(func(tx *Tx) error {
			jobs, err := tx.Jobs().Submit(s)
			if err == nil {
				id = jobs[0].ID
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	job := func(id uint64) (j *Job) {
		t.Helper()
		if err := db.View(func(tx *Tx) (err error) { j, err = tx.Jobs().Get(id); return err }); err != nil {
			t.Fatal(err)
		}
		return j
	}
	r := c.rule(t)
	err := db.Update(func(tx *Tx) error {
		for _, q := range c.Setup.Queues {
			if err := tx.Queues().Add(Queue{Name: q}); err != nil {
				return err
			}
		}
		return tx.Preemption().Set(r)
	})
	if err != nil {
		t.Fatal(err)
	}
	began := clock.t
	for _, j := range c.Jobs {
		clock.t += 2
		began = clock.t
		submit(Submission{Request: placer.Request{Select: j.Ask, User: j.User, Class: j.Class, Walltime: time.Hour},
			NoRequeue: j.NoRequeue})
		cycle()
	}
	for _, at := range c.Timeline {
		clock.t = began + at.After
		for i, want := range at.States {
			if want == "pending" {
				want = map[bool]string{true: "queued again", false: "waiting"}[i == 0]
			}
			if got := outcome(job(uint64(i + 1))); got != want {
				t.Errorf("after %d s job %d is %s, want %s", at.After, i+1, got, want)
			}
		}
	}
	for i, j := range c.Jobs {
		want := j.Ends
		if c.Ours != nil {
			want = c.Ours[i]
		}
		if got := outcome(job(uint64(i + 1))); got != want {
			t.Errorf("job %d is %s, want %s: %s", i+1, got, want, job(uint64(i+1)).Reason)
		}
	}
	var last uint64
	for _, s := range c.Steps {
		walltime := time.Hour
		if s.Walltime > 0 {
			walltime = time.Duration(s.Walltime) * time.Second
		}
		switch s.Do {
		case "submit":
			last = submit(Submission{Request: placer.Request{Select: s.Ask, User: s.User, Queue: s.Queue,
				Walltime: walltime}, NoRequeue: s.NoRequeue})
			cycle()
			if s.Expect == "run" && job(last).State == JobReserved { // when the grace of those that make way is over
				clock.t += int64(DefaultGrace / time.Second)
			}
			if want := map[string]string{"run": "running", "wait": "waiting"}[s.Expect]; outcome(job(last)) != want {
				t.Errorf("job %d is %s, want %s", last, outcome(job(last)), want)
			}
		case "expect":
			if got := outcome(job(s.Job)); got != s.State {
				t.Errorf("job %d is %s, want %s", s.Job, got, s.State)
			}
		default:
			t.Fatalf("there is no step %q", s.Do)
		}
	}
}
