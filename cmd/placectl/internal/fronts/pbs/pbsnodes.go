package pbs

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/index"
)

// parseSize reads a size, in kB.
func parseSize(text string) (int64, error) { return index.ParseSize(strings.ToLower(text)) }

// nodeState returns PBS's word for a node's state.
func nodeState(n *fronts.Node) string {
	switch {
	case n.State == fronts.Down:
		return "down"
	case n.State == fronts.Offline, n.State == fronts.Drained:
		return "offline"
	case n.Reserved && len(n.Jobs) == 0:
		return "resv-exclusive"
	case n.State == fronts.Busy && n.Excl && n.CPUsUsed < n.CPUs:
		return "job-exclusive"
	case n.State == fronts.Busy:
		return "job-busy"
	}
	return "free"
}

// pbsnodes lists nodes, and changes their state.
func pbsnodes(c *fronts.Call) error {
	given, rest, err := options(c, "a v l L S j H s= o r c C= F= D= d")
	if err != nil {
		return err
	}
	set := fronts.SetOf(given)
	for len(rest) > 0 && strings.HasPrefix(rest[len(rest)-1], "-") { // an option after nodes
		return fronts.Failf(2, "pbsnodes: options stand in front of nodes")
	}
	if set.Has("o", "r", "c") {
		return changeNodes(c, set, rest)
	}
	if set.Has("C") {
		return fronts.Failf(2, "pbsnodes: -C is for nodes that go offline, or come back: it goes with -o or -r")
	}
	if form, ok := set["F"]; ok && form != "json" && form != "dsv" {
		return fronts.Failf(2, "pbsnodes: -F: %s is neither json nor dsv", form)
	}
	if !set.Has("a", "l", "S", "L", "j") && len(rest) == 0 {
		return fronts.Failf(2, "usage: pbsnodes -a | -l | NODE...")
	}
	var b, missed strings.Builder
	err = c.View(func(v fronts.View) error {
		b.Reset()
		missed.Reset()
		about, err := v.About()
		if err != nil {
			return err
		}
		all, err := v.Nodes()
		if err != nil {
			return err
		}
		nodes := all
		if len(rest) > 0 {
			nodes = nil
			for _, name := range rest {
				i := slices.IndexFunc(all, func(n *fronts.Node) bool { return n.Name == name })
				if i < 0 {
					fmt.Fprintf(&missed, "Node: %s,  Error: Unknown node \n", name)
					continue
				}
				nodes = append(nodes, all[i])
			}
		}
		l := &nodeList{c: c, about: about, set: set, nodes: nodes}
		if l.jobs, err = namesOn(v, about, nodes); err != nil {
			return err
		}
		return l.print(&b)
	})
	if err != nil {
		return err
	}
	if _, err := io.WriteString(c.Stdout, b.String()); err != nil {
		return err
	}
	if missed.Len() > 0 {
		return &fronts.Status{Code: 1, Text: missed.String()}
	}
	return nil
}

// nodeList is the output of pbsnodes.
type nodeList struct {
	c     *fronts.Call
	about *fronts.About
	set   fronts.Set
	nodes []*fronts.Node
	jobs  map[uint64]string // names of the jobs on the nodes
}

// namesOn returns the names of the jobs on nodes.
func namesOn(v fronts.View, about *fronts.About, nodes []*fronts.Node) (map[uint64]string, error) {
	var ids []uint64
	for _, n := range nodes {
		ids = append(ids, n.Jobs...)
	}
	names := make(map[uint64]string)
	if ids == nil {
		return names, nil
	}
	err := v.Jobs(fronts.Selection{IDs: ids}, func(j *fronts.Job) error {
		names[j.ID] = name(j, about.Server)
		return nil
	})
	return names, err
}

func (l *nodeList) print(b *strings.Builder) error {
	set := l.set
	switch {
	case set["F"] == "json":
		return l.json(b)
	case set.Has("l"):
		for _, n := range l.nodes {
			if s := nodeState(n); s == "offline" || s == "down" {
				fmt.Fprintf(b, "%-20s %s %s\n", n.Name, s, n.Reason)
			}
		}
	case set.Has("j"):
		l.busy(b)
	case set.Has("S", "L"):
		fmt.Fprintf(b, "%-15s %-15s %-8s %-8s %-15s %-8s %8s %7s %7s %7s  %s\n", "vnode", "state", "OS", "hardware",
			"host", "queue", "mem", "ncpus", "nmics", "ngpus", "comment")
		fmt.Fprintf(b, "%s\n", strings.Repeat("-", 15)+" "+strings.Repeat("-", 15)+" -------- -------- "+strings.Repeat(
			"-", 15)+" ---------- -------- ------- ------- ------- ---------")
		for _, n := range l.nodes {
			fmt.Fprintf(b, "%-15s %-15s %-8s %-8s %-15s %-8s %8s %7d %7d %7d  %s\n", n.Name, nodeState(n), "--", "--",
				n.Name, cmp.Or(n.Queue, "--"), size(n.Mem), n.CPUs, 0, n.GPUs, cmp.Or(n.Reason, "--"))
		}
	case set["F"] == "dsv":
		for _, n := range l.nodes {
			b.WriteString("Name=" + n.Name)
			for _, a := range l.attributes(n) {
				b.WriteString(cmp.Or(set["D"], "|") + a.key() + "=" + a.value)
			}
			b.WriteByte('\n')
		}
	default:
		for _, n := range l.nodes {
			b.WriteString(n.Name + "\n")
			for _, a := range l.attributes(n) {
				fmt.Fprintf(b, "     %s = %s\n", a.key(), a.value)
			}
			b.WriteByte('\n')
		}
	}
	return nil
}

func (l *nodeList) attributes(n *fronts.Node) (list []attribute) {
	add := func(name, resource, value string) {
		if value != "" {
			list = append(list, attribute{name, resource, value})
		}
	}
	add("Mom", "", n.Name)
	add("ntype", "", "PBS")
	add("state", "", nodeState(n))
	add("pcpus", "", fmt.Sprint(n.CPUs))
	add("jobs", "", strings.Join(l.jobsOn(n), ", "))
	add("resources_available", "host", n.Name)
	add("resources_available", "vnode", n.Name)
	for _, v := range n.Values {
		add("resources_available", v.Name, v.Value)
	}
	for _, v := range n.Values {
		if v.Consumable {
			add("resources_assigned", v.Name, v.Used)
		}
	}
	add("queue", "", n.Queue)
	add("properties", "", strings.Join(n.Features, ",")) // Torque's name for them
	add("comment", "", n.Reason)
	add("resv_enable", "", "True")
	add("sharing", "", "default_shared")
	if !n.Since.IsZero() {
		add("last_state_change_time", "", stamp(n.Since, l.c.Zone))
	}
	return list
}

func (l *nodeList) jobsOn(n *fronts.Node) (list []string) {
	for _, id := range n.Jobs {
		list = append(list, l.jobs[id]+"/0")
	}
	return list
}

func (l *nodeList) json(b *strings.Builder) error {
	all := new(object)
	for _, n := range l.nodes {
		one, in := new(object), new(object)
		for _, a := range l.attributes(n) {
			switch {
			case a.name == "jobs":
				one.set("jobs", l.jobsOn(n))
			case a.resource == "":
				one.set(a.name, number(a.value))
			default:
				if had, ok := one.get(a.name).(*object); ok {
					in = had
				} else {
					in = new(object)
					one.set(a.name, in)
				}
				in.set(a.resource, number(a.value))
			}
		}
		all.set(n.Name, one)
	}
	doc := new(object)
	doc.set("timestamp", l.about.Now.Unix())
	doc.set("pbs_version", strings.TrimPrefix(version, "pbs_version = PBSPro_"))
	doc.set("pbs_server", l.about.Server)
	doc.set("nodes", all)
	return doc.write(b)
}

// busy is -j: one line for each node with its jobs, and how much of each resource is free.
func (l *nodeList) busy(b *strings.Builder) {
	b.WriteString("                                                        mem       ncpus   nmics   ngpus\n" +
		"vnode           state           njobs   run   susp      f/t        f/t     f/t     f/t   jobs\n" +
		"--------------- --------------- ------ ----- ------ ------------ ------- ------- ------- -------\n")
	for _, n := range l.nodes {
		names := make([]string, len(n.Jobs))
		for i, id := range n.Jobs {
			names[i], _, _ = strings.Cut(l.jobs[id], ".")
		}
		fmt.Fprintf(b, "%-15s %-15s %6d %5d %6d %12s %7s %7s %7s %s\n", n.Name, nodeState(n), len(n.Jobs), len(n.Jobs),
			0, rounded(n.Mem-n.MemUsed)+"/"+rounded(n.Mem),
			fmt.Sprintf("%d/%d", n.CPUs-n.CPUsUsed, n.CPUs), "0/0", fmt.Sprintf("%d/%d", n.GPUs-n.GPUsUsed, n.GPUs),
			cmp.Or(strings.Join(names, ","), "--"))
	}
}

// changeNodes takes nodes offline (-o) or back (-r, -c), with a comment (-C).
func changeNodes(c *fronts.Call, set fronts.Set, names []string) error {
	if len(names) == 0 {
		return fronts.Failf(2, "usage: pbsnodes -o | -r NODE...")
	}
	if !c.Master {
		return fronts.Failf(notAllowed, "pbsnodes: Unauthorized Request ")
	}
	state := "up"
	if set.Has("o") {
		state = "offline"
	}
	missing := ""
	err := c.Update(func(ch fronts.Change) error {
		for _, name := range names {
			if err := ch.SetNode(name, state, set["C"]); err != nil {
				if ch.Missing(err, "node") {
					missing = name
				}
				return err
			}
		}
		return nil
	})
	if missing != "" {
		return fronts.Failf(1, "Node: %s,  Error: Unknown node ", missing)
	}
	return err
}
