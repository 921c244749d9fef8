package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	attempts "github.com/placectl/placectl/cmd/placectl/internal/runner"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
)

// order is what whoever has claimed an attempt is to execute.
func (r *runner) order(tx *store.Tx, g *store.Granted) (*attempts.Order, error) {
	j, a := g.Job, g.Attempt
	settings, err := tx.Settings()
	if err != nil {
		return nil, err
	}
	o := &attempts.Order{Key: attempts.Key{Job: j.ID, Number: a.Number}, Command: j.Command, Left: g.Left, Ending: a.State == store.AttemptEnding,
		Name: j.Name, User: j.User, Queue: j.Queue, Class: j.Class, Account: j.Account, Reservation: j.Reservation,
		Walltime: j.Walltime, Start: j.Start, End: tx.Now().Add(g.Left), Enforce: settings.Enforce, Cluster: r.clusterName()}
	if o.Payload, err = tx.Payload(j.ID); err != nil {
		return nil, err
	}
	if o.Payload == nil {
		if o.Payload, err = r.bare(); err != nil {
			return nil, err
		}
	}
	if o.Nodes, err = tx.NodeNames(j.AllNodes()); err != nil {
		return nil, err
	}
	if err := r.orderChunks(tx, j, o); err != nil {
		return nil, err
	}
	if j.Array != 0 {
		o.Array, err = arrayOf(tx, j, o.Payload.Compat == "slurm")
	}
	return o, err
}

// orderChunks says what each chunk has, and how much memory there is on the first node.
func (r *runner) orderChunks(tx *store.Tx, j *store.Job, o *attempts.Order) error {
	objects, err := chunkObjects(tx, j)
	if err != nil {
		return err
	}
	defs, err := tx.Resources()
	if err != nil {
		return err
	}
	asked, err := tx.Asked(j)
	if err != nil {
		return err
	}
	for _, c := range objects {
		chunk := attempts.Chunk{Node: c.Node, Cores: int(c.Resources["ncpus"]), GPUs: int(c.Resources["ngpus"])}
		for _, w := range asked[c.Chunk].Wants {
			switch def, ok := defs.Get(w.Res); {
			case ok && def.ID == index.MPIProcs:
				chunk.Processes = int(w.Value.Num)
			case ok && def.Name == "ompthreads":
				chunk.Threads = int(w.Value.Num)
			}
		}
		for range c.Count {
			o.Chunks = append(o.Chunks, chunk)
		}
		if c.Node == objects[0].Node {
			o.Memory += int64(c.Count) * c.Resources["mem"]
		}
	}
	return nil
}

// arrayOf is the array that a job is in. How many jobs it has, and which indexes, is for
// those who ask alone: there may be a hundred thousand.
func arrayOf(tx *store.Tx, j *store.Job, all bool) (*attempts.Array, error) {
	a := &attempts.Array{First: j.Array, Index: j.Index}
	if !all {
		return a, nil
	}
	jobs, err := tx.ArrayJobs(j.Array)
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

// bare is what a job carries that was submitted by an older version: the home directory of
// the file's owner, and an environment as --export none makes it.
func (r *runner) bare() (*store.Payload, error) {
	if owner := fileOwner(r.DB); owner != os.Getuid() {
		return nil, fmt.Errorf("the job says nothing of its owner, and the database is that of the user %d, and not of %d", owner, os.Getuid())
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	p := &store.Payload{Dir: home, Umask: 0o022}
	for _, kv := range r.environ() {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains([]string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ"}, name) || strings.HasPrefix(name, "LC_") {
			p.Env = append(p.Env, kv)
		}
	}
	return p, nil
}

// fileOwner is the uid of a file's owner, -1 where that cannot be told.
func fileOwner(path string) int {
	info, err := os.Stat(path)
	if err != nil {
		return -1
	}
	return int(info.Sys().(*syscall.Stat_t).Uid)
}
