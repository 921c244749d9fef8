package dispatch

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/environ"
	"github.com/placectl/placectl/internal/keeper"
	"github.com/placectl/placectl/placer"
)

// order returns what the claimant of an attempt must execute.
func (d *DB) order(tx *engine.Tx, g *engine.Granted) (*keeper.Order, error) {
	j, a := g.Job, g.Attempt
	settings, err := tx.Config().Settings()
	if err != nil {
		return nil, err
	}
	o := &keeper.Order{Key: keeper.Key{Job: j.ID, Number: a.Number}, Command: j.Command, Line: j.Line, Left: g.Left,
		Ending: a.State == engine.AttemptEnding,
		Name:   j.Name, User: j.User, Queue: j.Queue, Class: j.Class, Account: j.Account, Reservation: j.Reservation,
		Walltime: j.Walltime, Start: j.Start, End: tx.Now().Add(g.Left), Enforce: settings.Enforce,
		Cluster: d.cluster(), Server: settings.Server, Partition: cmp.Or(j.Queue, settings.Partition)}
	if o.Payload, err = tx.Jobs().Payload(j.ID); err != nil {
		return nil, err
	}
	if o.Payload == nil {
		if o.Payload, err = d.bare(tx); err != nil {
			return nil, err
		}
	}
	if o.Nodes, err = tx.Nodes().Names(j.AllNodes()); err != nil {
		return nil, err
	}
	for _, fill := range []func(*engine.Tx, *engine.Job, *keeper.Order) error{orderChunks, orderHosts, orderWhole} {
		if err := fill(tx, j, o); err != nil {
			return nil, err
		}
	}
	if err := orderDevices(tx, j, o, settings.Pin == engine.PinCores); err != nil {
		return nil, err
	}
	if j.Array != 0 {
		o.Array, err = arrayOf(tx, j, o.Payload.Compat == "slurm")
	}
	return o, err
}

// orderChunks fills in what each chunk has, and the job's memory and cores on the first node.
func orderChunks(tx *engine.Tx, j *engine.Job, o *keeper.Order) error {
	nodes, err := tx.Nodes().Names(j.NodeNumbers())
	if err != nil {
		return err
	}
	defs, err := tx.Config().Resources()
	if err != nil {
		return err
	}
	asked, err := tx.Jobs().Asked(j)
	if err != nil {
		return err
	}
	at := 0
	for i, chunk := range j.Chunks {
		one, memory := keeper.Chunk{}, int64(0)
		for _, w := range asked[i].Wants {
			def, _ := defs.Get(w.Res)
			switch n := int(w.Value.Num); def.Name {
			case "ncpus":
				one.Cores = n
			case "mpiprocs":
				one.Processes = n
			case "ompthreads":
				one.Threads = n
			case "ngpus":
				one.GPUs = n
			case "mem":
				memory = int64(def.Units(w.Value))
			}
		}
		for _, n := range chunk.Nodes {
			one.Node = nodes[at]
			at++
			for range n.Chunks {
				o.Chunks = append(o.Chunks, one)
			}
			if one.Node == nodes[0] {
				o.Memory += int64(n.Chunks) * memory
				o.Cores += int(n.Chunks) * one.Cores
			}
		}
	}
	return nil
}

// orderHosts fills in the other hosts of the job's nodes.
func orderHosts(tx *engine.Tx, j *engine.Job, o *keeper.Order) error {
	home := ""
	for i, number := range j.AllNodes() {
		n, err := tx.Nodes().ByNumber(number)
		if err != nil {
			return err
		}
		host := engine.HostOfNode(n)
		if i == 0 {
			home = host
		}
		if !engine.SameHost(host, home) && !slices.Contains(o.Hosts, host) {
			o.Hosts = append(o.Hosts, host)
		}
	}
	return nil
}

// orderWhole fills in the cores of the nodes if the job has whole nodes.
func orderWhole(tx *engine.Tx, j *engine.Job, o *keeper.Order) error {
	defs, err := tx.Config().Resources()
	if err != nil {
		return err
	}
	place, err := placer.ParsePlace(defs, j.Place)
	if err != nil || !place.Exclusive() {
		return err
	}
	for _, name := range o.Nodes {
		n, err := tx.Nodes().Get(name)
		if err != nil {
			return err
		}
		cores, _ := n.Get(index.NCPUs)
		o.Whole = append(o.Whole, int(cores.Num))
	}
	return nil
}

// orderDevices fills in the job's devices on nodes that name theirs. pin says whether to bind the job to
// its cores.
func orderDevices(tx *engine.Tx, j *engine.Job, o *keeper.Order, pin bool) error {
	for i, node := range j.AllNodes() {
		held, named, err := tx.Devices().On(j, node)
		if err != nil {
			return err
		}
		env := devices.Environ(held, named)
		if len(env) == 0 {
			continue
		}
		o.DeviceFile = append(o.DeviceFile, o.Nodes[i]+" "+strings.TrimPrefix(env[0], "PLACECTL_DEVICES="))
		if i > 0 {
			continue
		}
		o.DeviceEnv = env
		for _, h := range held {
			if h.Resource != devices.Cores {
				continue
			}
			threads := devices.CPUs(h.Devices)
			if len(threads) > 0 { // cores are named by their numbers
				o.Cores = len(threads)
			}
			if pin {
				o.CPUs, o.Groups = threads, devices.Groups(h.Devices)
			}
		}
	}
	return nil
}

// arrayOf returns the array of a job. Its size and indices are read only with all, because there may be
// a hundred thousand.
func arrayOf(tx *engine.Tx, j *engine.Job, all bool) (*keeper.Array, error) {
	a := &keeper.Array{Number: j.Array, Index: j.Index}
	if !all {
		return a, nil
	}
	jobs, err := tx.Jobs().Array(j.Array)
	if err != nil {
		return nil, err
	}
	indexes := make([]int, len(jobs))
	for i, j := range jobs {
		indexes[i] = j.Index
	}
	slices.Sort(indexes)
	a.Count, a.Least, a.Greatest, a.Step = len(indexes), indexes[0], indexes[len(indexes)-1], 1
	if len(indexes) > 1 {
		a.Step = indexes[1] - indexes[0]
	}
	return a, nil
}

// bare returns the payload of a job submitted by an older version: the home directory of the file's
// owner, and an environment as with --export none.
func (d *DB) bare(tx *engine.Tx) (*engine.Payload, error) {
	if owns, err := d.owns(tx); err != nil || !owns {
		return nil,
			errors.Join(err, fmt.Errorf("the job does not name its owner, and the database does not belong to user %d",
				d.UID))
	}
	env := environ.Users(d.Environ())
	home := "/"
	for _, kv := range env {
		if dir, is := strings.CutPrefix(kv, "HOME="); is {
			home = dir
		}
	}
	return &engine.Payload{Dir: home, Umask: 0o022, Env: env}, nil
}

// cluster returns the file's name, for SLURM_CLUSTER_NAME.
func (d *DB) cluster() string {
	return strings.TrimSuffix(filepath.Base(d.Path), ".db")
}
