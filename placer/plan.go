package placer

import (
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/timeline"
)

// Path is one of the placer's two ways to serve a request.
type Path string

// BucketPath places whole nodes by bucket.
const BucketPath Path = "bucket"

// Plan says where and when a request would run.
type Plan struct {
	Path       Path
	Policy     string
	Set        string // the placement set, as key=value; "" if it keeps to none
	Start, End int64
	Chunks     []Allotment // in select order
	// Along are the other nodes of a taken node's host, taken whole for place=exclhost.
	Along []Pick
	// Claims maps nodes to the reservations that they are taken out of, as in the calendar.
	// Nodes outside reservations have no entry.
	Claims map[uint32]uint64
	// Demands are the amounts that it takes of counters.
	Demands limits.Demands
}

// Allotment is the nodes of one chunk: in node order on the bucket path, in the order of taking on
// the node path.
type Allotment struct {
	Picks []Pick
}

// Pick is a node and how many of the chunk it serves.
type Pick struct {
	Node   uint32
	Chunks int32
	Class  index.Class // the class that the node was found in
	Shared bool        // takes only what the chunks ask for, not the whole node
	Alone  bool        // shared with the same user only
	Bucket *index.Bucket
}

// NodeNumbers lists the nodes of a plan, each once: in chunk order, then those taken along.
func (p *Plan) NodeNumbers() []uint32 {
	var out []uint32
	for _, c := range p.Chunks {
		for _, pick := range c.Picks {
			out = append(out, pick.Node)
		}
	}
	for _, pick := range p.Along {
		out = append(out, pick.Node)
	}
	if p.Path == BucketPath {
		return out // the bucket path serves no two chunks from one node
	}
	seen := make(map[uint32]bool, len(out))
	return slices.DeleteFunc(out, func(n uint32) bool {
		twice := seen[n]
		seen[n] = true
		return twice
	})
}

// Taking is the part of one node that a plan takes.
type Taking struct {
	Pick               // how the node was found; Chunks counts those of all kinds
	Use  *timeline.Use // nil: the whole node
}

// Takings returns what a plan for chunks takes, each node once: the nodes of the chunks in order,
// then those taken along.
func (p *Plan) Takings(defs *index.Defs, chunks []Chunk) []Taking {
	at := make(map[uint32]int)
	var out []Taking
	for i, c := range p.Chunks {
		for _, pick := range c.Picks {
			k, known := at[pick.Node]
			if !known {
				k = len(out)
				at[pick.Node] = k
				out = append(out, Taking{Pick: pick})
				if pick.Shared {
					out[k].Use = &timeline.Use{Within: p.Claims[pick.Node], Alone: pick.Alone}
				}
			} else {
				out[k].Chunks += pick.Chunks
			}
			if use := out[k].Use; use != nil {
				use.Amounts = chunks[i].addTo(use.Amounts, defs, int64(pick.Chunks))
			}
		}
	}
	for _, pick := range p.Along {
		out = append(out, Taking{Pick: pick})
	}
	return out
}

// addTo adds to amounts what the given number of this chunk takes.
func (c Chunk) addTo(amounts []timeline.Amount, defs *index.Defs, chunks int64) []timeline.Amount {
	for _, w := range c.Wants {
		def, ok := defs.Get(w.Res)
		if !ok || !def.Consumable || w.Value.Num == 0 {
			continue
		}
		i := slices.IndexFunc(amounts, func(a timeline.Amount) bool { return a.Quantity == uint16(w.Res) })
		if i < 0 {
			i = len(amounts)
			amounts = append(amounts, timeline.Amount{Quantity: uint16(w.Res)})
		}
		amounts[i].N += w.Value.Num * chunks
	}
	return amounts
}

// ExecVNode writes a chunk on a node as PBS does: (name:ncpus=2:mem=1048576kb). It names the
// consumables that the select names, with sizes in kb. An added ncpus=1 appears only if the select
// names no resource.
func (c Chunk) ExecVNode(defs *index.Defs, name string) string {
	var b strings.Builder
	b.WriteString("(" + name)
	wants := c.Asked()
	if len(wants) == 0 {
		wants = c.Wants
	}
	for _, w := range wants {
		def, ok := defs.Get(w.Res)
		if !ok || !def.Consumable {
			continue
		}
		b.WriteString(":" + def.Name + "=")
		if def.Type == index.Size {
			b.WriteString(strconv.FormatInt(w.Value.Num, 10) + "kb")
		} else {
			b.WriteString(def.Format(w.Value))
		}
	}
	b.WriteByte(')')
	return b.String()
}

// inNodeOrder sorts picks by priority, the highest first, then as the nodes were declared. Picks
// come in a few long runs, one per bucket and class, so runs are merged two by two (natural merge
// sort). The result may share memory with picks.
func inNodeOrder(picks []Pick) []Pick {
	if run(picks) == len(picks) {
		return picks
	}
	spare := make([]Pick, 0, len(picks))
	for runs := 2; runs > 1; {
		runs = 0
		for rest := picks; len(rest) > 0; runs++ {
			a := run(rest)
			b := a + run(rest[a:])
			spare, rest = merge(spare, rest[:a], rest[a:b]), rest[b:]
		}
		picks, spare = spare, picks[:0]
	}
	return picks
}

// run returns how many picks at the front are in order.
func run(picks []Pick) int {
	for i := 1; i < len(picks); i++ {
		if picks[i].before(&picks[i-1]) {
			return i
		}
	}
	return len(picks)
}

// merge appends the merged runs a and b.
func merge(to, a, b []Pick) []Pick {
	for len(a) > 0 && len(b) > 0 {
		if b[0].before(&a[0]) {
			to, b = append(to, b[0]), b[1:]
		} else {
			to, a = append(to, a[0]), a[1:]
		}
	}
	return append(append(to, a...), b...)
}

func (p *Pick) before(q *Pick) bool {
	if p.Bucket != q.Bucket && p.Bucket.Priority != q.Bucket.Priority {
		return p.Bucket.Priority > q.Bucket.Priority
	}
	return p.Node < q.Node
}

// RestsOn returns the owner of an overdue stretch after whose expected end a plan begins, or 0. How long
// what is overdue goes on is a guess, and so is such a plan's start.
func RestsOn(c *timeline.Calendar, p *Plan) (owner uint64) {
	for _, node := range p.NodeNumbers() {
		for _, b := range c.At(node) {
			if b.Held && b.End <= c.Now() && c.End(b) <= p.Start {
				return b.Owner
			}
		}
	}
	for _, d := range p.Demands {
		for h := range d.Holders {
			if h.End <= c.Now() && d.End(h) == p.Start {
				owner = max(owner, h.Owner)
			}
		}
	}
	return owner
}
