package slurm

import (
	"cmp"
	"fmt"
	"strings"
	"sync"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// summed are headings of columns that count or name nodes.
var summed = []string{"NODES", "NODELIST", "CPUS(A/I/O/T)", "NODES(A/I)", "NODES(A/I/O/T)", "CPU_LOAD", "FREE_MEM",
	"ALLOCMEM"}

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

// cpus returns the numbers of allocated, idle, other and all cpus.
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

// counts returns the numbers of allocated, idle, other and all nodes.
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
var longStates = map[string]string{"alloc": "allocated", "mix": "mixed", "drain": "drained", "drng": "draining",
	"resv": "reserved"}

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
		{'f', "Features", "AVAIL_FEATURES", nodeText1(func(n *fronts.Node) string {
			return orNull(strings.Join(n.Features, ","))
		})},
		{'b', "features_act", "ACTIVE_FEATURES", nodeText1(func(n *fronts.Node) string {
			return orNull(strings.Join(n.Features, ","))
		})},
		{'E', "Reason", "REASON", nodeText1(func(n *fronts.Node) string { return cmp.Or(n.Reason, "none") })},
		{'F', "NodeAIOT", "NODES(A/I/O/T)", func(g *nodeGroup) string {
			a, i, o, t := g.counts()
			return fmt.Sprintf("%d/%d/%d/%d", a, i, o, t)
		}},
		{'A', "NodeAI", "NODES(A/I)", func(g *nodeGroup) string {
			a, i, _, _ := g.counts()
			return fmt.Sprintf("%d/%d", a, i)
		}},
		{'O', "CPUsLoad", "CPU_LOAD", nodeText1(func(n *fronts.Node) string { return fmt.Sprintf("%.2f", n.Load) })},
		{'e', "FreeMem", "FREE_MEM", say("N/A")},
		{0, "AllocMem", "ALLOCMEM", nodeText1(func(n *fronts.Node) string { return number(int(n.MemUsed / 1024)) })},
		{'X', "Sockets", "SOCKETS", nodeText1(func(n *fronts.Node) string { return number(n.CPUs) })},
		{'Y', "Cores", "CORES", say("1")},
		{'Z', "Threads", "THREADS", say("1")},
		{'z', "SocketCoreThread", "S:C:T", nodeText1(func(n *fronts.Node) string {
			return fmt.Sprintf("%d:1:1", n.CPUs)
		})},
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
			return g.cal.stamp(g.first().Since, "Unknown")
		}},
		{'v', "Version", "VERSION", say(strings.TrimPrefix(version, "slurm "))},
	}
})
