package nodefile

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
)

// Fluxion writes a machine as a graph of JSON (JGF). What is below a node, and above it, is
// found by the paths in it, whatever the order of nodes and edges.

// vertex is a node of the graph.
type vertex struct {
	d          *document // its metadata
	kind, name string
	path       string // /tiny0/rack0/node0/socket1/core17
}

func (s *foreign) graph(d *document) error {
	byPath := make(map[string]*vertex)
	var nodes, rest []*vertex
	for _, v := range d.get("nodes").list() {
		m := v.get("metadata")
		x := &vertex{d: m, kind: m.get("type").word(), name: m.get("name").word(), path: m.get("paths", "containment").word()}
		if x.kind == "" {
			return s.Errorf(v.at, "a node of the graph has no type")
		}
		if x.name == "" { // newer versions leave out what follows
			x.name = cmp.Or(m.get("basename").word(), x.kind) + m.get("id").word()
		}
		if x.path == "" {
			s.leave("outside containment", x.kind)
			continue
		}
		byPath[x.path] = x
		if x.kind == "node" {
			nodes = append(nodes, x)
		} else {
			rest = append(rest, x)
		}
	}
	below := s.below(byPath, rest)
	for _, x := range nodes {
		n, err := s.node(x.name, x.d.at)
		if err != nil {
			return err
		}
		s.above(n, x, byPath)
		if err := s.hardware(n, x, below[x.path]); err != nil {
			return err
		}
	}
	if edges := d.get("edges").list(); len(edges) > 0 {
		others := 0
		for _, e := range edges {
			if sub := e.get("metadata", "subsystem").word(); sub != "" && sub != "containment" {
				others++
			}
		}
		if others > 0 {
			s.leave("edges of other subsystems", "")
			s.left["edges of other subsystems"].Nodes = len(s.nodes)
		}
	}
	return nil
}

// below are the vertices below each node, by the node's path.
func (s *foreign) below(byPath map[string]*vertex, rest []*vertex) map[string][]*vertex {
	out := make(map[string][]*vertex)
	for _, x := range rest {
		for path := x.path; path != ""; {
			path = path[:max(0, strings.LastIndexByte(path, '/'))]
			if up := byPath[path]; up != nil && up.kind == "node" {
				out[path] = append(out[path], x)
				break
			}
		}
	}
	return out
}

// above gives a node what it lies in, such as rack=rack0, and its own properties.
func (s *foreign) above(n *found, x *vertex, byPath map[string]*vertex) {
	for i, c := range x.path {
		if c != '/' || i == 0 {
			continue
		}
		up := byPath[x.path[:i]]
		if up == nil {
			continue
		}
		name := x.path[strings.LastIndexByte(x.path[:i], '/')+1 : i]
		s.seen[up.kind] = true
		if !n.wanted(up.kind, name, up.d.at) {
			n.declare(up.kind, name, up.d.at, index.Def{Name: up.kind, Type: index.String})
		}
	}
	n.give("properties", "features", strings.Join(x.d.get("properties").memberNames(), ","), x.d.at)
	state := index.Up
	if status := x.d.get("status"); status != nil && status.word() != "0" && !strings.EqualFold(status.word(), "up") {
		state = index.Down
	}
	n.state("status", state, x.d.at, "", "", 0)
	_ = x.d.each(func(name string, m *document) error {
		switch name {
		case "rank", "uniq_id", "exclusive", "unit", "size":
			n.unmapped(name, "")
		}
		return nil
	})
}

// hardware gives a node its cores, GPUs and memory.
func (s *foreign) hardware(n *found, x *vertex, below []*vertex) error {
	var memory int64
	memoryAt := 0
	sets := make(map[string]devices.Set)
	for _, v := range below {
		resource, counted := fluxResources[v.kind]
		switch {
		case n.wanted(v.kind, v.name, v.d.at):
		case counted:
			sets[resource] = append(sets[resource], devices.Device{ID: v.d.get("id").word(), Group: socketOf(v.path, x.path)})
		case v.kind == "memory":
			size := cmp.Or(v.d.get("size").word(), "1") + cmp.Or(v.d.get("unit").word(), "mb")
			kb, err := index.ParseSizeLoose(size)
			if err != nil || memory+kb > index.MaxAmount {
				return s.Errorf(v.d.at, "node %s: memory: %s is no size", n.name, size)
			}
			memory, memoryAt = memory+kb, v.d.at
		default:
			n.unmapped(v.kind, "")
		}
	}
	if memory > 0 {
		n.give("memory", "mem", strconv.FormatInt(memory, 10)+"kb", memoryAt)
	}
	for _, resource := range sortedKeys(sets) {
		set := sortedDevices(sets[resource])
		if set.Check() == nil {
			n.nameDevices(resource, set)
		} else { // called by numbers of their own in each socket: they are counted
			n.give(resource, resource, strconv.Itoa(len(set)), x.d.at)
		}
	}
	return nil
}

// socketOf is the number of the socket that something lies in, 0 where it lies in none.
func socketOf(path, node string) int {
	for part := range strings.SplitSeq(strings.TrimPrefix(path, node+"/"), "/") {
		if number, ok := strings.CutPrefix(part, "socket"); ok {
			if n, err := strconv.Atoi(number); err == nil && n >= 0 && n <= devices.MaxGroup {
				return n
			}
		}
	}
	return 0
}
