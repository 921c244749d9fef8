package placer

import (
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/timeline"
)

// Path is which of the placer's two ways served a request.
type Path string

// BucketPath places whole nodes by bucket.
const BucketPath Path = "bucket"

// Plan is where and when a request runs, had it its way.
type Plan struct {
	Path       Path
	Policy     string
	Set        string // the placement set, as key=value; "" when none was kept to
	Start, End int64
	Chunks     []Allotment // in select order
	// Along are nodes that are taken whole because they are on the host of a node
	// that is, for place=exclhost.
	Along []Pick
	// Claims are the reservations that nodes are taken out of, as in the calendar,
	// for nodes that are in one.
	Claims map[uint32]uint64
	// Demands are what it takes of counters besides.
	Demands limits.Demands
}

// Allotment is the nodes of one chunk: in node order on the bucket path, in the
// order in which they were taken on the node path.
type Allotment struct {
	Picks []Pick
}

// Pick is a node and how many of the chunk it takes.
type Pick struct {
	Node   uint32
	Chunks int32
	Class  index.Class // the class that the node was found in
	Shared bool        // only what the chunks ask for is taken, not the whole node
	Alone  bool        // shared with the same user only
	Bucket *index.Bucket
}

// NodeNumbers lists the nodes of a plan, each once: in chunk order, then those
// taken along.
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
		return out // which serves no two chunks from one node
	}
	seen := make(map[uint32]bool, len(out))
	return slices.DeleteFunc(out, func(n uint32) bool {
		twice := seen[n]
		seen[n] = true
		return twice
	})
}

// Taking is what a plan takes of one node.
type Taking struct {
	Pick               // how the node was found; Chunks counts those of all kinds
	Use  *timeline.Use // nil: the whole node
}

// Takings is what a plan for chunks takes, each node once: those of the chunks in
// their order, then those taken along.
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

// addTo adds what a number of chunks take to amounts.
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

// ExecVNode writes a chunk on a node as PBS does: (name:ncpus=2:mem=1048576kb).
// Consumables are named, those that the select names (the ncpus=1 that was added
// only where it names none), sizes in kb.
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
