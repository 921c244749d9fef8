package slurm

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

const sinfoOptions = "a,all b,bg cluster= d,dead e,exact federation F,future h,noheader help hide i,iterate= json l,long local M,clusters= n,nodes= noconvert N,Node o,format= O,Format= " +
	"p,partition= r,responding R,list-reasons s,summarize S,sort= t,states= T,reservation usage v,verbose V,version yaml"

// partition is a queue and its nodes.
type partition struct {
	name  string
	nodes []*fronts.Node
}

// partitionsOf lists the partitions by name. The default one comes first if it has nodes, or if there is
// no other.
func partitionsOf(nodes []*fronts.Node, about *fronts.About) (list []*partition) {
	by := make(map[string]*partition)
	add := func(name string) *partition {
		if by[name] == nil {
			by[name] = &partition{name: name}
			list = append(list, by[name])
		}
		return by[name]
	}
	for _, q := range about.Queues {
		add(q)
	}
	for _, n := range nodes {
		p := add(cmp.Or(n.Queue, about.Partition))
		p.nodes = append(p.nodes, n)
	}
	if len(list) == 0 {
		add(about.Partition)
	}
	slices.SortFunc(list, func(a, b *partition) int {
		if (a.name == about.Partition) != (b.name == about.Partition) {
			return map[bool]int{true: -1, false: 1}[a.name == about.Partition]
		}
		return cmp.Compare(a.name, b.name)
	})
	return list
}

// nodeGroup is a line of sinfo: nodes of a partition that look alike.
type nodeGroup struct {
	partition string
	star      bool
	nodes     []*fronts.Node
	about     *fronts.About
}

// sinfo lists nodes by partition and state.
func sinfo(c *fronts.Call) error {
	set, rest, err := options(c, sinfoOptions, fronts.Anywhere)
	if err != nil {
		return err
	}
	for _, no := range []string{"sort", "reservation", "iterate", "clusters", "yaml"} {
		if set.Has(no) {
			return fronts.Failf(1, "sinfo: error: --%s is not to be had here: placectl node list", no)
		}
	}
	if len(rest) > 0 {
		return fronts.Failf(1, "sinfo: error: Unrecognized option: %s", rest[0])
	}
	l := new(listing[*nodeGroup])
	columns := func(nodes []*fronts.Node, about *fronts.About) (err error) {
		if set.Has("Format") {
			l.cols, err = nodeFields().named(set["Format"])
		} else {
			l.lead, l.cols, err = nodeFields().percent(sized(infoFormat(set), nodes, about))
		}
		if err != nil {
			return fronts.Failf(1, "sinfo: error: %v", err)
		}
		return nil
	}
	names, err := expand(set["nodes"])
	if err != nil {
		return fronts.Failf(1, "sinfo: error: Invalid node name specified")
	}
	var groups []*nodeGroup
	var now time.Time
	err = c.View(func(v fronts.View) error {
		about, err := v.About()
		if err != nil {
			return err
		}
		nodes, err := v.Nodes()
		if err != nil {
			return err
		}
		nodes = slices.DeleteFunc(nodes, func(n *fronts.Node) bool { return !nodeWanted(n, names, set) })
		if err := columns(nodes, about); err != nil {
			return err
		}
		now = about.Now
		groups = grouped(nodes, about, set, l.cols)
		return nil
	})
	if err != nil {
		return err
	}
	if set.Has("json") {
		return sinfoJSON(c, groups)
	}
	if !set.Has("noheader") {
		if set.Has("long") {
			fmt.Fprintln(c.Stdout, now.In(c.Zone).Format(dated))
		}
		l.header()
	}
	for _, g := range groups {
		l.row(g)
	}
	_, err = io.WriteString(c.Stdout, l.b.String())
	return err
}

// sized replaces # in a format by the width of the longest name, at least 9.
func sized(format string, nodes []*fronts.Node, about *fronts.About) string {
	node, partition := 9, 9
	for _, n := range nodes {
		node = max(node, utf8.RuneCountInString(n.Name))
	}
	for _, p := range partitionsOf(nodes, about) {
		partition = max(partition, utf8.RuneCountInString(p.name)+1) // with a star
	}
	return strings.NewReplacer("%#N", fmt.Sprintf("%%%dN", node), "%#P", fmt.Sprintf("%%%dP", partition)).Replace(format)
}

func infoFormat(set fronts.Set) string {
	switch {
	case set.Has("format"):
		return set["format"]
	case set.Has("list-reasons"):
		return "%20E %9u %19H %N"
	case set.Has("summarize"):
		return "%#P %.5a %.10l %.16F %N"
	case set.Has("Node") && set.Has("long"):
		return "%#N %.6D %#P %.11T %.4c %.8z %.6m %.8d %.6w %.8f %20E"
	case set.Has("Node"):
		return "%#N %.6D %#P %6t"
	case set.Has("long"):
		return "%#P %.5a %.10l %.10s %.4r %.8h %.10g %.6D %.11T %N"
	}
	return "%#P %.5a %.10l %.6D %.6t %N"
}

func nodeWanted(n *fronts.Node, names []string, set fronts.Set) bool {
	if names != nil && !slices.Contains(names, n.Name) {
		return false
	}
	if set.Has("list-reasons") && (n.Reason == "" || n.State < fronts.Down) || set.Has("dead") && n.State != fronts.Down || set.Has("responding") && n.State == fronts.Down {
		return false
	}
	if !set.Has("states") || strings.EqualFold(set["states"], "all") {
		return true
	}
	state := nodeState(n)
	return slices.ContainsFunc(strings.Split(strings.ToLower(set["states"]), ","), func(want string) bool {
		want = strings.TrimSpace(want)
		aliases := map[string]string{"allocated": "alloc", "mixed": "mix", "drained": "drain", "draining": "drng", "reserved": "resv"}
		return cmp.Or(aliases[want], want) == state || (want == "drain" || want == "drained") && state == "drng" && want == "drain"
	})
}

// grouped makes the lines: nodes of a partition with equal columns, except those that count or name
// nodes. With -N each node has its own line.
func grouped(nodes []*fronts.Node, about *fronts.About, set fronts.Set, cols []column[*nodeGroup]) (out []*nodeGroup) {
	wantedParts := map[string]bool{}
	for name := range strings.SplitSeq(set["partition"], ",") {
		wantedParts[name] = true
	}
	byState := set.Has("long") || slices.ContainsFunc(cols, func(c column[*nodeGroup]) bool { return c.head == "STATE" })
	for _, p := range partitionsOf(nodes, about) {
		if set.Has("partition") && !wantedParts[p.name] {
			continue
		}
		var order []string
		by := make(map[string]*nodeGroup)
		for _, n := range p.nodes {
			one := &nodeGroup{partition: p.name, star: p.name == about.Partition, nodes: []*fronts.Node{n}, about: about}
			key := ""
			if set.Has("Node") {
				key = n.Name
			}
			for _, c := range cols {
				if !slices.Contains(summed, c.head) {
					key += "\x00" + c.value(one)
				}
			}
			if byState && !set.Has("summarize") {
				key += "\x00" + nodeState(n)
			}
			if by[key] == nil {
				by[key] = one
				order = append(order, key)
				continue
			}
			by[key].nodes = append(by[key].nodes, n)
		}
		if len(order) == 0 && !set.Has("Node") && !set.Has("list-reasons") {
			out = append(out, &nodeGroup{partition: p.name, star: p.name == about.Partition, about: about})
		}
		for _, key := range order {
			out = append(out, by[key])
		}
	}
	return out
}

// summed are headings of columns that count or name nodes.
var summed = []string{"NODES", "NODELIST", "CPUS(A/I/O/T)", "NODES(A/I)", "NODES(A/I/O/T)", "HOSTNAMES", "NODE_ADDR", "CPU_LOAD", "FREE_MEM", "ALLOCMEM"}

func (g *nodeGroup) first() *fronts.Node {
	if len(g.nodes) == 0 {
		return new(fronts.Node)
	}
	return g.nodes[0]
}

func (g *nodeGroup) state(word func(*fronts.Node) string) string {
	if len(g.nodes) == 0 {
		return "n/a"
	}
	return word(g.nodes[0])
}

// cpus are the numbers of allocated, idle, other and all cpus.
func (g *nodeGroup) cpus() string {
	var a, i, o, t int
	for _, n := range g.nodes {
		t += n.CPUs
		a += n.CPUsUsed
		if n.State >= fronts.Down {
			o += n.CPUs - n.CPUsUsed
		} else {
			i += n.CPUs - n.CPUsUsed
		}
	}
	return fmt.Sprintf("%d/%d/%d/%d", a, i, o, t)
}

// counts are the numbers of allocated, idle, other and all nodes.
func (g *nodeGroup) counts() (a, i, o, t int) {
	for _, n := range g.nodes {
		switch {
		case n.State >= fronts.Down:
			o++
		case n.State == fronts.Free:
			i++
		default:
			a++
		}
	}
	return a, i, o, len(g.nodes)
}

func (g *nodeGroup) name() string {
	if g.star {
		return g.partition + "*"
	}
	return g.partition
}

func (g *nodeGroup) list() string {
	names := make([]string, len(g.nodes))
	for i, n := range g.nodes {
		names[i] = n.Name
	}
	return fold(names)
}

// longStates are the words of sinfo's long states.
var longStates = map[string]string{"alloc": "allocated", "mix": "mixed", "drain": "drained", "drng": "draining", "resv": "reserved"}

func longNodeState(n *fronts.Node) string {
	s := nodeState(n)
	return cmp.Or(longStates[s], s)
}

func nodeText1(of func(*fronts.Node) string) func(*nodeGroup) string {
	return func(g *nodeGroup) string { return of(g.first()) }
}

func say(text string) func(*nodeGroup) string { return func(*nodeGroup) string { return text } }

// nodeFields are the fields of sinfo.
var nodeFields = sync.OnceValue(func() fields[*nodeGroup] {
	return fields[*nodeGroup]{
		{'P', "Partition", "PARTITION", (*nodeGroup).name},
		{'R', "PartitionName", "PARTITION", func(g *nodeGroup) string { return g.partition }},
		{'a', "Available", "AVAIL", say("up")},
		{'l', "Time", "TIMELIMIT", say("infinite")},
		{'L', "DefaultTime", "DEFAULTTIME", func(g *nodeGroup) string { return span(g.about.Walltime) }},
		{'D', "Nodes", "NODES", func(g *nodeGroup) string { return number(len(g.nodes)) }},
		{'t', "StateCompact", "STATE", func(g *nodeGroup) string { return g.state(nodeState) }},
		{'T', "StateLong", "STATE", func(g *nodeGroup) string { return g.state(longNodeState) }},
		{'N', "NodeList", "NODELIST", (*nodeGroup).list},
		{'n', "NodeHost", "HOSTNAMES", (*nodeGroup).list},
		{'o', "NodeAddr", "NODE_ADDR", (*nodeGroup).list},
		{'C', "CPUsState", "CPUS(A/I/O/T)", (*nodeGroup).cpus},
		{'c', "CPUs", "CPUS", nodeText1(func(n *fronts.Node) string { return number(n.CPUs) })},
		{'m', "Memory", "MEMORY", nodeText1(func(n *fronts.Node) string { return number(int(n.Mem / 1024)) })},
		{'G', "Gres", "GRES", nodeText1(gres)},
		{0, "GresUsed", "GRES_USED", nodeText1(gresUsed)},
		{'f', "Features", "AVAIL_FEATURES", nodeText1(func(n *fronts.Node) string { return orNull(strings.Join(n.Features, ",")) })},
		{'b', "features_act", "ACTIVE_FEATURES", nodeText1(func(n *fronts.Node) string { return orNull(strings.Join(n.Features, ",")) })},
		{'E', "Reason", "REASON", nodeText1(func(n *fronts.Node) string { return cmp.Or(n.Reason, "none") })},
		{'F', "NodeAIOT", "NODES(A/I/O/T)", func(g *nodeGroup) string {
			a, i, o, t := g.counts()
			return fmt.Sprintf("%d/%d/%d/%d", a, i, o, t)
		}},
		{'A', "NodeAI", "NODES(A/I)", func(g *nodeGroup) string { a, i, _, _ := g.counts(); return fmt.Sprintf("%d/%d", a, i) }},
		{'O', "CPUsLoad", "CPU_LOAD", nodeText1(func(n *fronts.Node) string { return fmt.Sprintf("%.2f", n.Load) })},
		{'e', "FreeMem", "FREE_MEM", say("N/A")},
		{0, "AllocMem", "ALLOCMEM", nodeText1(func(n *fronts.Node) string { return number(int(n.MemUsed / 1024)) })},
		{'X', "Sockets", "SOCKETS", nodeText1(func(n *fronts.Node) string { return number(n.CPUs) })},
		{'Y', "Cores", "CORES", say("1")},
		{'Z', "Threads", "THREADS", say("1")},
		{'z', "SocketCoreThread", "S:C:T", nodeText1(func(n *fronts.Node) string { return fmt.Sprintf("%d:1:1", n.CPUs) })},
		{'d', "Disk", "TMP_DISK", nodeText1(func(n *fronts.Node) string { return number(int(n.Disk / 1024)) })},
		{'w', "Weight", "WEIGHT", nodeText1(func(n *fronts.Node) string { return number(weight(n)) })},
		{'s', "Size", "JOB_SIZE", say("1-infinite")},
		{'r', "Root", "ROOT", say("no")},
		{'h', "OverSubscribe", "OVERSUBS", say("NO")},
		{'g', "Groups", "GROUPS", say("all")},
		{'S', "AllocNodes", "ALLOCNODES", say("all")},
		{'M', "PreemptMode", "PREEMPT_MODE", say("OFF")},
		{'p', "PriorityTier", "PRIO_TIER", say("1")},
		{'I', "PriorityJobFactor", "PRIO_JOB_FACTOR", say("1")},
		{'B', "MaxCPUsPerNode", "MAX_CPUS_PER_NODE", say("UNLIMITED")},
		{'u', "User", "USER", say("root")},
		{'U', "UserLong", "USER", say("root(0)")},
		{'H', "Timestamp", "TIMESTAMP", func(g *nodeGroup) string {
			if g.first().Since.IsZero() {
				return "Unknown"
			}
			return g.first().Since.Format("2006-01-02T15:04:05")
		}},
		{'v', "Version", "VERSION", say(strings.TrimPrefix(version, "slurm "))},
	}
})

// sinfoJSON writes the nodes of some lines in the form of --json, each once.
func sinfoJSON(c *fronts.Call, groups []*nodeGroup) error {
	nodes := []map[string]any{}
	seen := make(map[string]bool)
	for _, g := range groups {
		for _, n := range g.nodes {
			if !seen[n.Name] {
				seen[n.Name] = true
				nodes = append(nodes, nodeJSON(n, g.partition))
			}
		}
	}
	return nodesJSON(c, nodes)
}

func nodesJSON(c *fronts.Call, nodes []map[string]any) error {
	return writeJSON(c, map[string]any{"meta": newHead(), "errors": []string{}, "nodes": nodes})
}

func nodeJSON(n *fronts.Node, partition string) map[string]any {
	state := strings.Split(nodeStateLong(n), "+")
	return map[string]any{"name": n.Name, "hostname": n.Name, "address": n.Name, "state": strings.ToLower(state[0]), "state_flags": state[1:], "cpus": n.CPUs, "temporary_disk": n.Disk / 1024,
		"alloc_cpus": n.CPUsUsed, "idle_cpus": n.CPUs - n.CPUsUsed, "real_memory": n.Mem / 1024, "alloc_memory": n.MemUsed / 1024, "features": strings.Join(n.Features, ","), "weight": weight(n),
		"gres": emptyIfNull(gres(n)), "gres_used": emptyIfNull(gresUsed(n)), "reason": n.Reason, "partitions": []string{partition}}
}

// sacctmgr answers queries about accounts: there are only those of jobs.
func sacctmgr(c *fronts.Call) error {
	if !slices.Contains(c.Args, "list") && !slices.Contains(c.Args, "show") {
		return fronts.Failf(1, "sacctmgr: error: not supported: see placectl account, placectl class and placectl query")
	}
	return accounts(c)
}

// sshare answers queries about accounts.
func sshare(c *fronts.Call) error { return accounts(c) }

func accounts(c *fronts.Call) error {
	return c.View(func(v fronts.View) error {
		about, err := v.About()
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(c.Args, func(w string) bool {
			return w == "--noheader" || strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, "n")
		}) {
			fmt.Fprintf(c.Stdout, "%20s\n%s\n", "Account", strings.Repeat("-", 20))
		}
		for _, a := range about.Accounts {
			fmt.Fprintf(c.Stdout, "%20s\n", fronts.Word(a))
		}
		return nil
	})
}
