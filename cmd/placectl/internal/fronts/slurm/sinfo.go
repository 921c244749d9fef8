package slurm

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

const sinfoOptions = "a,all b,bg cluster= d,dead e,exact federation F,future h,noheader help hide i,iterate= json " +
	"l,long local M,clusters= n,nodes= noconvert N,Node o,format= O,Format= " +
	"p,partition= r,responding R,list-reasons s,summarize S,sort= t,states= T,reservation usage v,verbose " +
	"V,version yaml"

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
		p := add(about.QueueOf(n.Queue))
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
	cal       *calendar
}

// statesOfNodes are the states that sinfo takes. Beginnings of them are enough.
var statesOfNodes = strings.Fields("all unknown down idle allocated mixed future drained draining drng no_respond " +
	"reserved resv perfctrs cloud completing planned " +
	"powering_down powered_down power_down powering_up power_up failing maint reboot^ reboot_requested blocked error " +
	"inval resume")

// sinfo lists nodes by partition and state.
func sinfo(c *fronts.Call) error {
	set, rest, err := options(c, sinfoOptions, fronts.Anywhere)
	if err != nil {
		return err
	}
	for _, no := range []string{"sort", "reservation", "iterate", "clusters", "yaml"} {
		if set.Has(no) {
			return fronts.Failf(1, "sinfo: error: --%s is not available here; use placectl node list", no)
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
	for want := range strings.SplitSeq(set["states"], ",") {
		if !slices.ContainsFunc(statesOfNodes, func(state string) bool {
			return strings.HasPrefix(state, strings.ToLower(strings.TrimSpace(want)))
		}) {
			return fronts.Failf(1, "sinfo: error: Bad state string: %q", want)
		}
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
		groups = grouped(nodes, about, calendarOf(c, now), set, l.cols)
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
	return strings.NewReplacer("%#N", fmt.Sprintf("%%%dN", node), "%#P", fmt.Sprintf("%%%dP", partition)).Replace(
		format)
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
	if set.Has("list-reasons") && (n.Reason == "" || n.State < fronts.Down) ||
		set.Has("dead") && n.State != fronts.Down || set.Has("responding") && n.State == fronts.Down {
		return false
	}
	if !set.Has("states") || strings.EqualFold(set["states"], "all") {
		return true
	}
	state := nodeState(n)
	return slices.ContainsFunc(strings.Split(strings.ToLower(set["states"]), ","), func(want string) bool {
		want = strings.TrimSpace(want)
		aliases := map[string]string{"allocated": "alloc", "mixed": "mix", "drained": "drain", "draining": "drng",
			"reserved": "resv"}
		return cmp.Or(aliases[want], want) == state || (want == "drain" || want == "drained") && state == "drng" &&
			want == "drain"
	})
}

// grouped makes the lines: nodes of a partition with equal columns, except those that count or name
// nodes. With -N each node has its own line.
func grouped(nodes []*fronts.Node, about *fronts.About, cal *calendar, set fronts.Set, cols []column[*nodeGroup]) (
	out []*nodeGroup) {
	wantedParts := map[string]bool{}
	for name := range strings.SplitSeq(set["partition"], ",") {
		wantedParts[name] = true
	}
	byState := set.Has("long") || slices.ContainsFunc(cols, func(c column[*nodeGroup]) bool {
		return c.head == "STATE"
	})
	for _, p := range partitionsOf(nodes, about) {
		if set.Has("partition") && !wantedParts[p.name] {
			continue
		}
		var order []string
		by := make(map[string]*nodeGroup)
		for _, n := range p.nodes {
			one := &nodeGroup{partition: p.name, star: p.name == about.Partition, nodes: []*fronts.Node{n},
				about: about, cal: cal}
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
			out = append(out, &nodeGroup{partition: p.name, star: p.name == about.Partition, about: about, cal: cal})
		}
		for _, key := range order {
			out = append(out, by[key])
		}
	}
	return out
}

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
	return map[string]any{"name": n.Name, "hostname": n.Name, "address": n.Name, "state": strings.ToLower(state[0]),
		"state_flags": state[1:], "cpus": n.CPUs, "temporary_disk": n.Disk / 1024,
		"alloc_cpus": n.CPUsUsed, "idle_cpus": n.CPUs - n.CPUsUsed, "real_memory": n.Mem / 1024,
		"alloc_memory": n.MemUsed / 1024, "features": strings.Join(n.Features, ","), "weight": weight(n),
		"gres": emptyIfNull(gres(n)), "gres_used": emptyIfNull(gresUsed(n)), "reason": n.Reason,
		"partitions": []string{partition}}
}
