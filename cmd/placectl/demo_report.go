package main

import (
	"cmp"
	"fmt"
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
	Busiest      []demoNode // all, the busiest first
	Running      []demoRun  // those that end next first
	Waiting      []demoWait // first come first
	Reservations []demoReservation
	Next         []demoHint
}

// demoTime is Unix seconds, written to JSON as all times are.
type demoTime int64

func (t demoTime) MarshalJSON() ([]byte, error) {
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
	Request string   `json:"request"` // as recorded
	Select  string   `json:"select"`
	Start   demoTime `json:"start"`
	End     demoTime `json:"end"`
	Nodes   []string `json:"nodes"`
}

// demoWait is waiting jobs that ask for the same.
type demoWait struct {
	Request  string   `json:"request"`
	Walltime int64    `json:"walltime"`
	Jobs     int      `json:"jobs"`
	Submit   demoTime `json:"submit"` // of the first
	Start    demoTime `json:"start"`
	WaitsFor []string `json:"waits_for"`
}

type demoReservation struct {
	Name  string   `json:"name"`
	State string   `json:"state"`
	Start demoTime `json:"start"`
	End   demoTime `json:"end"`
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
	asked := make(map[uint64]string)
	for _, e := range rep.d.running {
		asked[e.job] = e.what.Asked
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
		rep.Running = append(rep.Running, demoRun{strconv.FormatUint(j.ID, 10), j.Name, j.User, asked[j.ID], j.Select, demoTime(j.Start), demoTime(j.End), names})
		return err
	})
	slices.SortStableFunc(rep.Running, func(a, b demoRun) int { return cmp.Compare(a.End, b.End) })
	slices.SortStableFunc(nodes, func(a, b demoNode) int { return cmp.Compare(b.Seconds, a.Seconds) })
	rep.Busiest = nodes
	return err
}

// waits asks when each waiting job could start, and puts together those that
// look the same.
func (rep *demoReport) waits(tx *store.Tx) error {
	for _, j := range rep.d.waiting {
		plans, err := tx.When(j.Request, tx.Now(), 1)
		if err != nil {
			return err
		}
		ends, err := tx.WaitsFor(plans[0])
		if err != nil {
			return err
		}
		wall, start := int64(j.Request.Walltime/time.Second), demoTime(plans[0].Start)
		i := slices.IndexFunc(rep.Waiting, func(w demoWait) bool {
			return w.Request == j.Asked && w.Walltime == wall && w.Start == start
		})
		if i < 0 {
			i = len(rep.Waiting)
			rep.Waiting = append(rep.Waiting, demoWait{Request: j.Asked, Walltime: wall, Submit: demoTime(j.Submit), Start: start, WaitsFor: ends})
		}
		rep.Waiting[i].Jobs++
	}
	return nil
}

func (rep *demoReport) reservations(tx *store.Tx) error {
	err := tx.EachReservation(func(v *store.Reservation) error {
		names, err := tx.NodeNames(v.Nodes)
		rep.Reservations = append(rep.Reservations, demoReservation{v.Name, v.State(tx.Now()), demoTime(v.Start), demoTime(v.End), names})
		return err
	})
	slices.SortStableFunc(rep.Reservations, func(a, b demoReservation) int { return cmp.Compare(a.Start, b.Start) })
	return err
}

// hints are commands that work on the database as it now is, in this order. The
// nodes asked for are one more than are free, so that releasing a job brings
// their start forward.
func (rep *demoReport) hints() {
	idle := 0
	for _, b := range rep.Buckets {
		idle += b.Free + b.Later
	}
	when := fmt.Sprintf("when %d:ncpus=12 --place scatter:excl -t 4h", idle+1)
	hints := []demoHint{
		{"bucket list", "the buckets, in the order in which a placement tries them"},
		{"gantt", "who has which node until when, and the holes"},
		{"node list --state later", "nodes that are free until the upgrade"},
		{when, fmt.Sprintf("when %d nodes are free for four hours, and whose end that waits for", idle+1)},
	}
	if n := len(rep.Running); n > 0 {
		hints = append(hints,
			demoHint{"show " + rep.Running[n-1].Job, "all about one job"},
			demoHint{"release " + rep.Running[0].Job, fmt.Sprintf("end a job early; then ask once more when those %d nodes are free", idle+1)})
	}
	hints = append(hints,
		demoHint{"place 1:ncpus=12 --place excl -t 1h", "run something for an hour: it gets a node that is free until the upgrade"},
		demoHint{"check", "prove that every index and bitmap agrees with what runs"})
	for _, h := range hints {
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
