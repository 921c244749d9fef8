// Package rows gives front-ends the jobs and nodes of a database as plain rows.
package rows

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/subject"
)

// View is a transaction as front-ends see it.
type View struct {
	Tx       *engine.Tx
	Database string // the file's name
	Host     *fronts.Host

	defs    *index.Defs
	look    *engine.Outlook
	selects map[string]*demand
	limits  map[uint64]int64 // how many jobs of an array may run at once, if limited
}

// About describes the whole database.
func (v *View) About() (*fronts.About, error) {
	s, err := v.Tx.Config().Settings()
	if err != nil {
		return nil, err
	}
	queues, err := v.Tx.Queues().All()
	if err != nil {
		return nil, err
	}
	a := &fronts.About{Now: v.Tx.Now(), Server: s.Server, Partition: s.Partition, Keep: s.MinJobAge,
		Walltime: s.DefaultWalltime, MaxArray: s.MaxArray, Database: filepath.Base(v.Database)}
	for _, q := range queues {
		a.Queues = append(a.Queues, q.Name)
	}
	shares, err := v.Tx.Shares().Get()
	if err != nil {
		return nil, err
	}
	if shares != nil {
		for _, l := range shares.Loads {
			a.Accounts = append(a.Accounts, l.Class)
		}
	}
	pools, err := v.Tx.Pools().At(v.Tx.Now())
	if err != nil {
		return nil, err
	}
	for _, p := range pools {
		a.Licenses = append(a.Licenses, fronts.License{Name: p.Name, Total: p.Amount, Used: p.Held + p.Outside,
			Free: p.Free})
	}
	err = v.Tx.Reservations().Each(func(r *engine.Reservation) error {
		one, err := v.reservation(r)
		a.Reserved = append(a.Reserved, one)
		return err
	})
	return a, err
}

func (v *View) reservation(r *engine.Reservation) (out *fronts.Reservation, err error) {
	out = &fronts.Reservation{Name: r.Name, Start: r.Start, End: r.End}
	if out.Nodes, err = v.Tx.Nodes().Names(r.Nodes); err != nil {
		return nil, err
	}
	if r.Uses == nil {
		out.CPUs = v.whole(out.Nodes, 0)
	}
	for _, use := range r.Uses {
		for _, a := range use.Amounts {
			if a.Quantity == uint16(index.NCPUs) {
				out.CPUs += int(a.N)
			}
		}
	}
	for _, e := range r.Access {
		switch e.Kind {
		case subject.User:
			out.Users = append(out.Users, e.Name)
		case subject.Group:
			out.Groups = append(out.Groups, e.Name)
		case subject.Account:
			out.Accounts = append(out.Accounts, e.Name)
		}
	}
	for _, p := range r.Pools {
		out.Licenses = append(out.Licenses, fronts.License{Name: p.Pool, Used: p.Amount})
	}
	return out, nil
}

// Missing reports whether an error says that something of a kind does not exist.
func (v *View) Missing(err error, kind string) bool {
	var missing *engine.MissingError
	return errors.As(err, &missing) && (missing.Kind == kind || kind == "job" && missing.Kind == "job array")
}

// Nodes lists the nodes, with what is on each.
func (v *View) Nodes() (list []*fronts.Node, err error) {
	if v.defs, err = v.Tx.Config().Resources(); err != nil {
		return nil, err
	}
	err = v.Tx.Nodes().Scan(func(n *index.Node) error {
		one, err := v.node(n)
		list = append(list, one)
		return err
	})
	return list, err
}

// states translates the states of nodes.
var states = map[engine.NodeState]fronts.NodeState{engine.NodeFree: fronts.Free, engine.NodePartly: fronts.Partly,
	engine.NodeBusy: fronts.Busy,
	engine.NodeDown: fronts.Down, engine.NodeOffline: fronts.Offline, engine.NodeDrained: fronts.Drained}

func (v *View) node(n *index.Node) (*fronts.Node, error) {
	o, err := v.Tx.Nodes().Occupancy(n)
	if err != nil {
		return nil, err
	}
	out := &fronts.Node{Name: strings.Clone(n.Name), Queue: strings.Clone(n.Queue), State: states[o.State],
		Reason: strings.Clone(n.Reason), Load: n.Load, Priority: int64(n.Priority)}
	for _, f := range n.Features {
		out.Features = append(out.Features, strings.Clone(f))
	}
	if o.State != engine.NodeFree {
		list, err := v.Tx.Nodes().Allocations(n.Number)
		if err != nil {
			return nil, err
		}
		for _, a := range list {
			switch {
			case a.Now && a.Job != 0:
				out.Jobs = append(out.Jobs, a.Job)
			case a.Now:
				out.Reserved = true
			}
		}
	}
	left := n.Res
	if len(out.Jobs) > 0 {
		left = v.Tx.Nodes().Left(n)
	}
	for _, a := range n.Res {
		def, ok := v.defs.Get(a.Res)
		if !ok {
			continue
		}
		value := fronts.Value{Name: def.Name, Value: strings.Clone(def.Format(a.Value)), Consumable: def.Consumable,
			Counted: def.Type == index.Long}
		used := a.Value
		if i := slices.IndexFunc(left, func(l index.Amount) bool { return l.Res == a.Res }); i >= 0 {
			used.Num = max(a.Value.Num-left[i].Value.Num, 0)
		} else if !def.Consumable {
			used.Num = 0
		}
		if def.Consumable {
			value.Used = def.Format(used)
		}
		out.Values = append(out.Values, value)
		switch def.Name {
		case "ncpus":
			out.CPUs, out.CPUsUsed = int(a.Value.Num), int(used.Num)
		case "mem":
			out.Mem, out.MemUsed = a.Value.Num, used.Num
		case "disk":
			out.Disk = a.Value.Num
		case "ngpus":
			out.GPUs, out.GPUsUsed = int(a.Value.Num), int(used.Num)
		}
	}
	out.Excl = o.State == engine.NodeBusy && len(out.Jobs) == 1
	return out, nil
}

// demand is what a select asks for.
type demand struct {
	nodes, cpus, tasks, gpus int
	mem                      int64
	nodeMem                  int64
	nodeCPUs, nodeGPUs       int
	features                 []string
}

// demand parses a select once for all jobs with it.
func (v *View) demand(text string) (*demand, error) {
	if d := v.selects[text]; d != nil {
		return d, nil
	}
	if v.defs == nil {
		var err error
		if v.defs, err = v.Tx.Config().Resources(); err != nil {
			return nil, err
		}
	}
	if v.selects == nil {
		v.selects = make(map[string]*demand)
	}
	d := &demand{}
	v.selects[text] = d
	chunks, err := placer.ParseSelect(v.defs, text)
	if err != nil {
		return d, nil // a resource in it is no longer defined
	}
	for i, c := range chunks {
		tasks := 1
		for _, w := range c.Wants {
			def, ok := v.defs.Get(w.Res)
			if !ok {
				continue
			}
			n := int(w.Value.Num)
			switch def.Name {
			case "ncpus":
				d.cpus += c.Count * n
				if i == 0 {
					d.nodeCPUs = n
				}
			case "mem":
				d.mem += int64(c.Count) * w.Value.Num
				if i == 0 {
					d.nodeMem = w.Value.Num
				}
			case "ngpus":
				d.gpus += c.Count * n
				if i == 0 {
					d.nodeGPUs = n
				}
			case "mpiprocs":
				tasks = n
			case "feature":
				if i == 0 {
					d.features = append(d.features, def.Format(w.Value))
				}
			}
		}
		d.tasks += c.Count * tasks
		d.nodes += c.Count
	}
	return d, nil
}

// Cores returns the number of cpus that a select asks for.
func (v *View) Cores(sel string) (int, error) {
	d, err := v.demand(sel)
	if err != nil {
		return 0, err
	}
	return d.cpus, nil
}
