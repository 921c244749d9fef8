package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/swf"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
)

// What is recorded; demodata/README.md says where it comes from.
var (
	//go:embed demodata/wagap-2013.swf.gz
	demoTrace []byte
	//go:embed demodata/wagap-2013.swf.machines
	demoMachines string
)

// The stretch of the record that demodata holds, in Unix seconds: six days, up to
// an afternoon in Brno on which nearly everything was taken.
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
		data.Jobs = append(data.Jobs, newDemoJob(rec, until-recordedUntil))
	}
}

// The extra fields of demodata's trace.
const (
	extraQueue = iota
	extraRequest
)

// hostDomain is behind the names of hosts in requests; our nodes do without.
const hostDomain = ".cerit-sc.cz"

// newDemoJob makes a request of what is recorded. The record keeps what its user
// wrote behind -l nodes=, cores a node and properties, so that nothing has to be
// guessed from the number of processors. Memory that is not written there it has in
// bytes for the whole job, which is what a mem= beside nodes= means, too.
func newDemoJob(rec swf.Job, shift int64) *demoJob {
	asked := strings.ReplaceAll(rec.Extra[extraRequest], hostDomain, "")
	if rec.WantMemory > 0 && !strings.Contains(asked, "mem=") {
		asked += ",mem=" + memoryText(rec.WantMemory)
	}
	return &demoJob{
		Submit: rec.Submit + shift,
		// A job is stopped at its walltime; the record has some seconds more.
		Run:   min(rec.Run, rec.WantTime),
		Asked: asked,
		Request: placer.Request{Select: "nodes=" + asked, Walltime: time.Duration(rec.WantTime) * time.Second, Queue: rec.Extra[extraQueue],
			Name: fmt.Sprintf("wagap-%d", rec.Number), User: fmt.Sprintf("user%d", rec.User)},
	}
}

// memoryText writes an amount of bytes in the largest unit that has it whole.
func memoryText(bytes int64) string {
	n, unit := (bytes+1023)/1024, 0
	for ; n%1024 == 0 && unit < 2; unit++ {
		n /= 1024
	}
	return strconv.FormatInt(n, 10) + [...]string{"kb", "mb", "gb"}[unit]
}

// demoFeatures are the properties that requests of the trace name, and which
// nodes have them, found from where the jobs that named them ran.
var demoFeatures = map[string][]string{
	"zewura": {"x86_64", "brno", "nfs4", "debian", "linux", "cl_zewura", "nodecpus80"},
	"zegox":  {"x86_64", "brno", "nfs4", "debian", "linux", "cl_zegox", "nodecpus12"},
}

// smallFirst is the priority of the small nodes: what fits them leaves the
// large ones to those that need them.
const smallFirst = 10

// readMachines makes the nodes: each line of the file is a kind of them, as
// number, name, how many, cores, a speed, and memory in kb.
func (data *demoData) readMachines() error {
	for line := range strings.Lines(demoMachines) {
		var id, count, speed int
		var cpus, mem int64
		var name string
		if _, err := fmt.Sscan(line, &id, &name, &count, &cpus, &speed, &mem); err != nil {
			return fmt.Errorf("machines of the demo: %q: %w", line, err)
		}
		for i := range count {
			n := &index.Node{Name: fmt.Sprintf("%s%d", name, i+1), Features: demoFeatures[name]}
			if name == "zegox" {
				n.Priority = smallFirst
			}
			n.Set(index.NCPUs, index.Value{Num: cpus})
			n.Set(index.Mem, index.Value{Num: mem})
			data.Nodes = append(data.Nodes, n)
		}
	}
	return nil
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
