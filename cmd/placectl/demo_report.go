package main

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
)

// demoReport is what the database looks like after the replay, in the shape that
// -o json prints.
type demoReport struct {
	DB string // "" when it was not kept
	d  *demoReplay

	Buckets      []demoBucket
	Busiest      []demoNode
	Running      []demoRun // those that end next
	RunningCount int
	Waiting      []demoWait
	Reservations []demoReservation
	Next         []demoHint
}

// instant is Unix seconds, written to JSON as all times are.
type instant int64

func (t instant) MarshalJSON() ([]byte, error) {
	return append(appendRFC3339([]byte{'"'}, int64(t)), '"'), nil
}

type demoBucket struct {
	Nodes     []string `json:"nodes"`
	Signature string   `json:"signature"`
	Priority  int32    `json:"priority"`
	Total     int      `json:"total"`
	Free      int      `json:"free"`
	Later     int      `json:"later"`
	Busy      int      `json:"busy"`
}

type demoNode struct {
	Node    string `json:"node"`
	Jobs    int    `json:"jobs"`
	Seconds int64  `json:"busy"` // taken by jobs
}

type demoRun struct {
	Job     string   `json:"job"`
	Name    string   `json:"name"`
	User    string   `json:"user"`
	Request string   `json:"request"`
	Start   instant  `json:"start"`
	End     instant  `json:"end"`
	Nodes   []string `json:"nodes"`
}

// demoWait is waiting jobs that ask for the same.
type demoWait struct {
	sel      string
	Request  string   `json:"request"`
	Walltime int64    `json:"walltime"`
	Jobs     int      `json:"jobs"`
	Submit   instant  `json:"submit"` // of the first
	Start    instant  `json:"start"`
	WaitsFor []string `json:"waits_for"`
}

type demoReservation struct {
	Name  string   `json:"name"`
	State string   `json:"state"`
	Start instant  `json:"start"`
	End   instant  `json:"end"`
	Nodes []string `json:"nodes"`
}

// demoHint is a command to try.
type demoHint struct {
	Command string `json:"command"`
	Why     string `json:"why"`
}

// look reads the report from the database.
func (rep *demoReport) look(tx *store.Tx) error {
	for _, read := range []func(*store.Tx) error{rep.buckets, rep.jobs, rep.waits, rep.reservations} {
		if err := read(tx); err != nil {
			return err
		}
	}
	rep.hints()
	return nil
}

func (rep *demoReport) buckets(tx *store.Tx) error {
	ix, err := tx.Index()
	if err != nil {
		return err
	}
	for _, b := range ix.Buckets() {
		var numbers []uint32
		for _, class := range []index.Class{index.Free, index.Later, index.Busy} {
			numbers = append(numbers, ix.Nodes(b, class).ToArray()...)
		}
		slices.Sort(numbers)
		names, err := tx.NodeNames(numbers)
		if err != nil {
			return err
		}
		rep.Buckets = append(rep.Buckets, demoBucket{names, ix.Describe(b), b.Priority, b.Up(),
			int(b.Count[index.Free]), int(b.Count[index.Later]), int(b.Count[index.Busy])})
	}
	return ix.Err()
}

// jobs sums up all jobs by node, and finds those that run.
func (rep *demoReport) jobs(tx *store.Tx) error {
	nodes := make([]demoNode, len(rep.d.data.Nodes))
	for i, n := range rep.d.data.Nodes {
		nodes[i].Node = n.Name
	}
	err := tx.EachJob(func(j *store.Job) error {
		for _, n := range j.NodeNumbers() {
			nodes[n].Jobs++
			nodes[n].Seconds += min(j.End, tx.Now()) - j.Start
		}
		if j.State != store.JobRunning {
			return nil
		}
		names, err := tx.NodeNames(j.NodeNumbers())
		rep.Running = append(rep.Running, demoRun{strconv.FormatUint(j.ID, 10), j.Name, j.User, j.Select, instant(j.Start), instant(j.End), names})
		return err
	})
	rep.RunningCount = len(rep.Running)
	slices.SortStableFunc(rep.Running, func(a, b demoRun) int { return cmp.Compare(a.End, b.End) })
	slices.SortStableFunc(nodes, func(a, b demoNode) int { return cmp.Compare(b.Seconds, a.Seconds) })
	rep.Busiest = nodes
	return err
}

// waits asks when each waiting request could start, those that ask for the same
// once.
func (rep *demoReport) waits(tx *store.Tx) error {
	for _, j := range rep.d.waiting {
		wall := int64(j.Request.Walltime / time.Second)
		i := slices.IndexFunc(rep.Waiting, func(w demoWait) bool { return w.sel == j.Request.Select && w.Walltime == wall })
		if i >= 0 {
			rep.Waiting[i].Jobs++
			continue
		}
		plans, err := tx.When(j.Request, tx.Now(), 1)
		if err != nil {
			return err
		}
		ends, err := tx.WaitsFor(plans[0])
		if err != nil {
			return err
		}
		rep.Waiting = append(rep.Waiting, demoWait{j.Request.Select, j.Asked, wall, 1, instant(j.Submit), instant(plans[0].Start), ends})
	}
	return nil
}

func (rep *demoReport) reservations(tx *store.Tx) error {
	err := tx.EachReservation(func(v *store.Reservation) error {
		names, err := tx.NodeNames(v.Nodes)
		rep.Reservations = append(rep.Reservations, demoReservation{v.Name, v.State(tx.Now()), instant(v.Start), instant(v.End), names})
		return err
	})
	slices.SortStableFunc(rep.Reservations, func(a, b demoReservation) int { return cmp.Compare(a.Start, b.Start) })
	return err
}

// hints are commands that work on the database as it now is.
func (rep *demoReport) hints() {
	first := rep.Running[0].Job
	last := rep.Running[len(rep.Running)-1].Job
	for _, h := range []demoHint{
		{"bucket list", "the buckets, in the order in which a placement tries them"},
		{"job list", "what runs, and where"},
		{"show " + last, "all about one job"},
		{"when 8:ncpus=8 --place scatter:excl -t 2h --count 3", "the first three moments at which eight nodes are free for two hours"},
		{"place 1:ncpus=12 --place excl -t 1h", "take a node now; prints where, and the number to release it by"},
		{"release " + first, "end a job early; ask when once more, and the answer is another"},
		{"check", "prove that every index and bitmap agrees with the rows"},
	} {
		rep.Next = append(rep.Next, demoHint{rep.program() + " --db " + shellWord(rep.DB) + " " + h.Command, h.Why})
	}
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

// shellWord quotes a word where a shell would not take it as it stands.
func shellWord(s string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("/._-+,:@%", c)
	}
	if strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
