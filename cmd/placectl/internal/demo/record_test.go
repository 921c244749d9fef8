package demo

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/backfill/swf"
)

// Data is the cluster and its jobs, moved in time so that they end at an instant.
type Data struct {
	From, Until int64 // Unix seconds
	Nodes       []*index.Node
	Jobs        []*Job // by submission
	byName      map[string]*Job
}

// Job is a recorded job.
type Job struct {
	Submit  int64  // Unix seconds, moved
	Run     int64  // run time in seconds
	Asked   string // the request, in the syntax of -l nodes=
	Request placer.Request
	Peak    int64 // bytes of memory used, 0 for unknown
	Exit    int   // exit status
}

// record returns a recorded file. data/README.md says where it comes from.
func record(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("data", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// read reads the record, moved so that it ends at until, in Unix seconds.
func read(t *testing.T, until int64) *Data {
	t.Helper()
	d := &Data{From: until - (recordedUntil - recordedFrom), Until: until, byName: make(map[string]*Job)}
	err := d.read(record(t, "wagap-2013.swf.gz"), string(record(t, "wagap-2013.swf.machines")))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// add adds what the record lacks.
func (d *Data) add() *Data {
	d.Jobs = append(d.Jobs, d.others()...)
	slices.SortStableFunc(d.Jobs, func(a, b *Job) int { return cmp.Compare(a.Submit, b.Submit) })
	for _, j := range d.Jobs {
		d.byName[j.Request.Name] = j
	}
	return d
}

// The node that fails, and the one with GPUs.
const (
	failing = "zegox48"
	withGPU = "zewura20"
)

// others returns jobs that the record lacks: some of a cluster with GPUs, one of them idle, some on a node
// that fails, and one that requested far more memory than it used.
func (d *Data) others() (list []*Job) {
	add := func(before, run, walltime time.Duration, name, sel string) *Job {
		j := &Job{Submit: d.Until - int64(before.Seconds()), Run: int64(run.Seconds()),
			Request: placer.Request{Select: sel, Walltime: walltime, Queue: "q_2h", Name: name, User: "user7"}}
		list = append(list, j)
		return j
	}
	for i := range 3 {
		j := add(time.Duration(8-i)*time.Hour, 40*time.Second, time.Hour, fmt.Sprint("probe-", i+1),
			"1:ncpus=1:host="+failing)
		j.Exit = 135
	}
	add(30*time.Hour, 5*time.Hour, 6*time.Hour, "train-1", "1:ncpus=2:ngpus=2")
	add(3*time.Hour, 5*time.Hour, 8*time.Hour, "train-2", "1:ncpus=2:ngpus=3")
	add(20*time.Hour, 2*time.Hour, 4*time.Hour, "sort", "1:ncpus=1:mem=64gb").Peak = 2 << 30
	add(26*time.Hour, 90*time.Minute, 4*time.Hour, "merge", "1:ncpus=2:mem=16gb").Peak = 14 << 30
	return list
}

// read reads the jobs and the nodes.
func (d *Data) read(trace []byte, machines string) error {
	if err := d.readMachines(machines); err != nil {
		return err
	}
	log, err := swf.NewReader(bytes.NewReader(trace))
	if err != nil {
		return err
	}
	for {
		rec, err := log.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if rec.Submit >= recordedFrom && rec.Submit < recordedUntil {
			d.Jobs = append(d.Jobs, d.job(rec))
		}
	}
}

// The additional fields of the trace.
const (
	extraQueue = iota
	extraRequest
)

// job makes a request from a record.
func (d *Data) job(rec swf.Job) *Job {
	isNode := func(name string) bool {
		return slices.ContainsFunc(d.Nodes, func(n *index.Node) bool { return n.Name == name })
	}
	sel, _ := swf.Select(rec.Extra[extraRequest], rec.WantMemory, isNode)
	return &Job{
		Submit: rec.Submit + d.Until - recordedUntil,
		// A job is stopped at its walltime. In the record it runs some seconds longer.
		Run:   min(rec.Run, rec.WantTime),
		Asked: strings.TrimPrefix(sel, "nodes="),
		Request: placer.Request{Select: sel, Walltime: time.Duration(rec.WantTime) * time.Second,
			Queue: rec.Extra[extraQueue],
			Name:  fmt.Sprintf("wagap-%d", rec.Number), User: fmt.Sprintf("user%d", rec.User)},
	}
}

// Priorities of nodes: jobs that fit small nodes leave the large ones to jobs that need them.
const (
	smallKind  = "zegox"
	smallFirst = 10
)

// readMachines makes the nodes.
func (d *Data) readMachines(machines string) (err error) {
	f := infile.New("machines of the demo", []byte(machines))
	d.Nodes, err = nodefile.ParseMachines(&f)
	for _, n := range d.Nodes {
		if kindOf(n.Name) == smallKind {
			n.Priority = smallFirst
		}
		if n.Name == withGPU {
			n.Set(index.NGPUs, index.Value{Num: 4})
		}
	}
	return err
}

// kindOf returns a node's name without its number.
func kindOf(name string) string { return strings.TrimRight(name, "0123456789") }

// setUp puts the cluster into a new database.
func (d *Data) setUp(tx *engine.Tx) error {
	queues := map[string]bool{}
	for _, j := range d.Jobs {
		queues[j.Request.Queue] = true
	}
	for _, name := range slices.Sorted(maps.Keys(queues)) {
		if err := tx.Queues().Add(engine.Queue{Name: name}); err != nil {
			return err
		}
	}
	for _, n := range d.Nodes {
		mine := *n // a copy, because it gets a number
		if _, err := tx.Nodes().Put(&mine); err != nil {
			return err
		}
	}
	if err := tx.Config().Set("launch", "work"); err != nil { // otherwise jobs executed here could not be claimed
		return err
	}
	for _, v := range d.reservations() {
		if err := v.make(tx); err != nil {
			return err
		}
	}
	return nil
}

// CPUs returns the cluster's number of cpus.
func (d *Data) CPUs() (sum int64) {
	for _, n := range d.Nodes {
		sum += cpusOf(n)
	}
	return sum
}

func cpusOf(n *index.Node) int64 {
	v, _ := n.Get(index.NCPUs)
	return v.Num
}
