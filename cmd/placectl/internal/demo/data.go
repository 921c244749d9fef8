// Package demo is what a newcomer runs first: a real cluster and some days of its
// recorded jobs, replayed into a database by what the product offers everybody (jobs
// are submitted, cycles start and plan them, and each is finished when it ended), and
// a page of what came of them. data.go reads what is recorded, replay.go replays it,
// past.go sums up what the database tells of it afterwards, page.go shows it.
//
// All that is peculiar to the recorded cluster is here and in the folder data. The
// package knows no verb; it makes databases where it is told to.
package demo

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/backfill/swf"
	"github.com/placectl/placectl/store"
)

// What is recorded; data/README.md says where it comes from.
var (
	//go:embed data/wagap-2013.swf.gz
	trace []byte
	//go:embed data/wagap-2013.swf.machines
	machines string
)

// The stretch of the record that is replayed, in Unix seconds: six days, up to an
// afternoon in Brno on which nearly everything was taken.
const (
	recordedFrom  = 1360332000 // 2013-02-08 15:00
	recordedUntil = 1360850400 // 2013-02-14 15:00
)

// Data is the cluster and its jobs, moved so that they end at an instant. Replays only
// read it, so that several may run side by side.
type Data struct {
	From, Until int64 // Unix seconds
	Nodes       []*index.Node
	Jobs        []*Job // in order of submission
	byName      map[string]*Job
}

// Job is a recorded job.
type Job struct {
	Submit  int64  // Unix seconds, moved
	Run     int64  // how long it ran, in seconds
	Asked   string // what it asked for, as -l nodes= takes it
	Request placer.Request
}

// Load reads what is embedded, moved so that it ends at until, in Unix seconds.
func Load(until int64) (*Data, error) {
	d := &Data{From: until - (recordedUntil - recordedFrom), Until: until, byName: make(map[string]*Job)}
	if err := d.readMachines(); err != nil {
		return nil, err
	}
	log, err := swf.NewReader(bytes.NewReader(trace))
	if err != nil {
		return nil, err
	}
	for {
		rec, err := log.Next()
		if err == io.EOF {
			return d, nil
		}
		if err != nil {
			return nil, err
		}
		if rec.Submit >= recordedFrom && rec.Submit < recordedUntil {
			j := d.job(rec)
			d.Jobs = append(d.Jobs, j)
			d.byName[j.Request.Name] = j
		}
	}
}

// The extra fields of the trace.
const (
	extraQueue = iota
	extraRequest
)

// job makes a request of what is recorded.
func (d *Data) job(rec swf.Job) *Job {
	isNode := func(name string) bool {
		return slices.ContainsFunc(d.Nodes, func(n *index.Node) bool { return n.Name == name })
	}
	sel, _ := swf.Select(rec.Extra[extraRequest], rec.WantMemory, isNode)
	return &Job{
		Submit: rec.Submit + d.Until - recordedUntil,
		// A job is stopped at its walltime; the record has some seconds more.
		Run:   min(rec.Run, rec.WantTime),
		Asked: strings.TrimPrefix(sel, "nodes="),
		Request: placer.Request{Select: sel, Walltime: time.Duration(rec.WantTime) * time.Second, Queue: rec.Extra[extraQueue],
			Name: fmt.Sprintf("wagap-%d", rec.Number), User: fmt.Sprintf("user%d", rec.User)},
	}
}

// What fits the small nodes leaves the large ones to those that need them: they have
// this priority.
const (
	smallKind  = "zegox"
	smallFirst = 10
)

// readMachines makes the nodes.
func (d *Data) readMachines() (err error) {
	f := infile.New("machines of the demo", []byte(machines))
	d.Nodes, err = nodefile.ParseMachines(&f)
	for _, n := range d.Nodes {
		if kindOf(n.Name) == smallKind {
			n.Priority = smallFirst
		}
	}
	return err
}

// kindOf is a node's name without its number.
func kindOf(name string) string { return strings.TrimRight(name, "0123456789") }

// setUp puts the cluster into a new database.
func (d *Data) setUp(tx *store.Tx) error {
	queues := map[string]bool{}
	for _, j := range d.Jobs {
		queues[j.Request.Queue] = true
	}
	for _, name := range slices.Sorted(maps.Keys(queues)) {
		if err := tx.AddQueue(store.Queue{Name: name}); err != nil {
			return err
		}
	}
	for _, n := range d.Nodes {
		mine := *n // it is given a number
		if _, err := tx.PutNode(&mine); err != nil {
			return err
		}
	}
	for _, v := range d.reservations() {
		if err := v.make(tx); err != nil {
			return err
		}
	}
	return nil
}

// CPUs is how many the cluster has.
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

// Made reports whether a database has the demo's nodes, which means that an earlier
// demo made it.
func (d *Data) Made(tx *store.Tx) (bool, error) {
	var names []string
	err := tx.EachNode(func(n *index.Node) error { names = append(names, n.Name); return nil })
	return slices.EqualFunc(d.Nodes, names, func(n *index.Node, name string) bool { return n.Name == name }), err
}
