package main

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

// What is recorded; demodata/README.md says where it comes from.
var (
	//go:embed demodata/wagap-2013.swf.gz
	demoTrace []byte
	//go:embed demodata/wagap-2013.swf.machines
	demoMachines string
)

// The stretch of the record that is replayed, in Unix seconds: six days, up to an
// afternoon in Brno on which nearly everything was taken.
const (
	recordedFrom  = 1360332000 // 2013-02-08 15:00
	recordedUntil = 1360850400 // 2013-02-14 15:00
)

// demoData is the cluster and its jobs, moved so that they end at an instant.
// Replays only read it, so that several may run side by side.
type demoData struct {
	From, Until int64 // Unix seconds
	Nodes       []*index.Node
	Jobs        []*demoJob // in order of submission
}

// demoJob is a recorded job.
type demoJob struct {
	Submit  int64  // Unix seconds, moved
	Run     int64  // how long it ran, in seconds
	Asked   string // what it asked for, as -l nodes= takes it
	Request placer.Request
}

// loadDemo reads what is embedded, moved so that it ends at until.
func loadDemo(until int64) (*demoData, error) {
	data := &demoData{From: until - (recordedUntil - recordedFrom), Until: until}
	if err := data.readMachines(); err != nil {
		return nil, err
	}
	log, err := swf.NewReader(bytes.NewReader(demoTrace))
	if err != nil {
		return nil, err
	}
	for {
		rec, err := log.Next()
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if rec.Submit >= recordedFrom && rec.Submit < recordedUntil {
			data.Jobs = append(data.Jobs, newDemoJob(rec, until-recordedUntil))
		}
	}
}

// The extra fields of demodata's trace.
const (
	extraQueue = iota
	extraRequest
)

// newDemoJob makes a request of what is recorded.
func newDemoJob(rec swf.Job, shift int64) *demoJob {
	asked := strings.ReplaceAll(rec.Extra[extraRequest], hostDomain, "")
	sel := recordedSelect(asked, rec.WantMemory)
	return &demoJob{
		Submit: rec.Submit + shift,
		// A job is stopped at its walltime; the record has some seconds more.
		Run:   min(rec.Run, rec.WantTime),
		Asked: strings.TrimPrefix(sel, "nodes="),
		Request: placer.Request{Select: sel, Walltime: time.Duration(rec.WantTime) * time.Second, Queue: rec.Extra[extraQueue],
			Name: fmt.Sprintf("wagap-%d", rec.Number), User: fmt.Sprintf("user%d", rec.User)},
	}
}

// smallFirst is the priority of the small nodes: what fits them leaves the
// large ones to those that need them.
const smallFirst = 10

// readMachines makes the nodes.
func (data *demoData) readMachines() (err error) {
	f := infile.New("machines of the demo", []byte(demoMachines))
	data.Nodes, err = nodefile.ParseMachines(&f)
	for _, n := range data.Nodes {
		if nodeKind(n.Name) == "zegox" {
			n.Priority = smallFirst
		}
	}
	return err
}

// setUp puts the cluster into a new database.
func (data *demoData) setUp(tx *store.Tx) error {
	queues := map[string]bool{}
	for _, j := range data.Jobs {
		queues[j.Request.Queue] = true
	}
	for _, name := range slices.Sorted(maps.Keys(queues)) {
		if err := tx.AddQueue(store.Queue{Name: name}); err != nil {
			return err
		}
	}
	for _, n := range data.Nodes {
		mine := *n // it is given a number
		if _, err := tx.PutNode(&mine); err != nil {
			return err
		}
	}
	return nil
}

// cpus is how many the cluster has.
func (data *demoData) cpus() (sum int64) {
	for _, n := range data.Nodes {
		sum += cpusOf(n)
	}
	return sum
}

func cpusOf(n *index.Node) int64 {
	v, _ := n.Get(index.NCPUs)
	return v.Num
}

// hasNodes reports whether these are the names of the demo's nodes.
func (data *demoData) hasNodes(names []string) bool {
	return slices.EqualFunc(data.Nodes, names, func(n *index.Node, name string) bool { return n.Name == name })
}

func allNodeNames(tx *store.Tx) (names []string, err error) {
	err = tx.EachNode(func(n *index.Node) error { names = append(names, n.Name); return nil })
	return names, err
}
