package row

import "slices"

// JobChunk lists the nodes of one chunk of a job, in node order.
type JobChunk struct {
	Count int
	Nodes []JobNode
}

// JobNode is a node and the number of chunks on it.
type JobNode struct {
	Node   uint32
	Chunks int
	Shared bool   // it does not have the whole node
	Alone  bool   // it shares it with jobs of its own user only
	Within uint64 // the number of the reservation that the part is taken out of, or 0
}

// NodeNumbers lists the nodes of a job in chunk order. A node comes once for each chunk of the
// select on it.
func (j *JobFacts) NodeNumbers() []uint32 {
	n := 0
	for i := range j.Chunks {
		n += len(j.Chunks[i].Nodes)
	}
	out := make([]uint32, 0, n)
	for i := range j.Chunks {
		for _, on := range j.Chunks[i].Nodes {
			out = append(out, on.Node)
		}
	}
	return out
}

// AllNodes lists the nodes that a job has, each once: those of its chunks in their
// order, then those taken along.
func (j *JobFacts) AllNodes() []uint32 {
	return AllNodes(j.NodeNumbers(), len(j.Chunks), j.Along)
}

// AllNodes lists each node of some chunks, and of those taken along, once.
func AllNodes(ofChunks []uint32, chunks int, along []uint32) []uint32 {
	if chunks == 1 && len(along) == 0 {
		return ofChunks // a chunk has each of its nodes once
	}
	return each(append(ofChunks, along...))
}

// each removes repeated nodes.
func each(nodes []uint32) []uint32 {
	seen := make(map[uint32]bool, len(nodes))
	return slices.DeleteFunc(nodes, func(n uint32) bool {
		twice := seen[n]
		seen[n] = true
		return twice
	})
}

// chunkFields lists the nodes of chunks. How the nodes are shared follows all of them: see
// shareFields.
func chunkFields(f *Fields, list *[]JobChunk) {
	if f.borrow {
		passChunks(f, list)
		return
	}
	for i := range Again(f, "chunks", list) {
		c := &(*list)[i]
		Uint(f, "count", &c.Count)
		last := int64(0)
		for k := range Again(f, "nodes", &c.Nodes) {
			x := &c.Nodes[k]
			if !f.bytes() {
				wholeNodeFields(f, x)
				f.Next()
				continue
			}
			last += f.ivar(int64(x.Node) - last)
			if f.dir == reading {
				*x = JobNode{Node: uint32(last)}
			}
			Uint(f, "chunks", &x.Chunks)
		}
		f.Next()
	}
}

// passChunks skips the nodes of chunks, because no index uses them.
func passChunks(f *Fields, list *[]JobChunk) {
	for i := range Again(f, "chunks", list) {
		(*list)[i] = JobChunk{Count: int(f.uvar(0))}
		for range 2 * f.count(0) {
			if f.uvar(0); f.bad {
				return
			}
		}
	}
}

func wholeNodeFields(f *Fields, x *JobNode) {
	numberAside(f, "node", &x.Node)
	numberAside(f, "chunks", &x.Chunks)
	f.fact("shared", &x.Shared)
	f.fact("alone", &x.Alone)
	numberAside(f, "within", &x.Within)
}

// shareFields tells how a chunk's nodes are shared, once if all are alike. Version 1 had only
// whole nodes.
func shareFields(f *Fields, nodes []JobNode) {
	switch f.dir {
	case writing:
		n := len(nodes)
		if n > 0 && !slices.ContainsFunc(nodes, func(x JobNode) bool { return x.share() != nodes[0].share() }) {
			n = 1
		}
		f.uvar(uint64(n))
		for _, x := range nodes[:n] {
			f.uvar(x.share())
		}
	case reading:
		n, head := f.count(0), uint64(0)
		for i := range max(n, len(nodes)) {
			if i < n {
				head = f.uvar(0)
			}
			if n > 0 && i < len(nodes) {
				nodes[i].Shared, nodes[i].Alone, nodes[i].Within = head&1 != 0, head&2 != 0, head>>2
			}
		}
	}
}

// share returns how a node is shared, as one number.
func (n JobNode) share() uint64 {
	head := n.Within << 2
	if n.Shared {
		head |= 1
	}
	if n.Alone {
		head |= 2
	}
	return head
}
