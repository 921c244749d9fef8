package placer

import (
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
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
}

// Allotment is the nodes of one chunk, in node order.
type Allotment struct {
	Picks []Pick
}

// Pick is a node and how many of the chunk it takes.
type Pick struct {
	Node   uint32
	Chunks int32
	Class  index.Class // the class that the node was found in; Free or Later for a start now
	Bucket *index.Bucket
}

// NodeNumbers lists the nodes of a plan in chunk order.
func (p *Plan) NodeNumbers() []uint32 {
	var out []uint32
	for _, c := range p.Chunks {
		for _, pick := range c.Picks {
			out = append(out, pick.Node)
		}
	}
	return out
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
