package explain

import (
	"fmt"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
)

// chunks shows for each chunk which nodes can serve it, and why others cannot.
func (p *page) chunks() {
	for _, c := range numbered(p.ex.Chunks) {
		if p.ex.Packed {
			p.Heading("All chunks on one node", ": %s wanted, %s with room now", c.Text(p.defs),
				text.Plural(int(c.Fits), "node"))
		} else {
			p.Heading(fmt.Sprintf("Chunk %d", c.number+1), ": %d of %s wanted, room for %d now", c.Chunk.Count,
				c.Text(p.defs), c.Fits)
		}
		reasons := c.reasons()
		p.table(0, p.reasonFields(reasons).Pick("nodes reason until names"), len(reasons))
		p.buckets(c)
	}
}

func (p *page) buckets(c chunk) {
	if len(c.Buckets) == 0 {
		p.Printf("\nno bucket has nodes for it\n")
		return
	}
	shown := c.Buckets[:min(shownBuckets, len(c.Buckets))]
	var rows [][]any
	for _, b := range shown {
		rows = append(rows, []any{b.Signature, b.Free, b.Later, b.Busy, b.Fits})
	}
	p.Printf("\n")
	p.failed(p.Table([]output.Column{{Name: "bucket"}, {Name: "free", Kind: output.Integer},
		{Name: "later", Kind: output.Integer}, {Name: "busy", Kind: output.Integer},
		{Name: "with room", Kind: output.Integer}}, rows))
	p.more(len(c.Buckets)-len(shown), "bucket")
}

// chunk is a chunk of the request, with its index.
type chunk struct {
	*placer.ChunkView
	number int
}

func numbered(views []placer.ChunkView) (list []chunk) {
	for i := range views {
		list = append(list, chunk{&views[i], i})
	}
	return list
}

func (p *page) chunkFields() output.Fields[int] {
	list := numbered(p.ex.Chunks)
	return output.Fields[int]{
		{Name: "chunk", Kind: output.Integer, Required: true, Value: func(i int) any { return i }},
		{Name: "select", Required: true, Value: func(i int) any { return list[i].Chunk.Text(p.defs) }},
		{Name: "want", Kind: output.Integer, Required: true, Value: func(i int) any { return list[i].Chunk.Count }},
		{Name: "fits_now", Kind: output.Integer, Required: true, Value: func(i int) any { return list[i].Fits }},
		{Name: "reasons", Kind: output.Object, Value: func(i int) any {
			reasons := list[i].reasons()
			return output.ObjectsOf(p.reasonFields(reasons).Pick(
				"reason detail nodes names until reservation from resource asked best"), len(reasons))
		}},
		{Name: "buckets", Kind: output.Object, Value: func(i int) any {
			return output.ObjectsOf(bucketFields(list[i].Buckets), len(list[i].Buckets))
		}},
	}
}

func bucketFields(list []placer.BucketView) output.Fields[int] {
	return output.Fields[int]{
		{Name: "bucket", Kind: output.Integer, Required: true, Value: func(i int) any { return list[i].ID }},
		{Name: "signature", Required: true, Value: func(i int) any { return list[i].Signature }},
		{Name: "queue", Value: func(i int) any { return output.OrNil(list[i].Queue) }},
		{Name: "priority", Kind: output.Integer, Required: true, Value: func(i int) any {
			return list[i].Priority
		}},
		{Name: "free", Kind: output.Integer, Required: true, Value: func(i int) any { return list[i].Free }},
		{Name: "later", Kind: output.Integer, Required: true, Value: func(i int) any { return list[i].Later }},
		{Name: "busy", Kind: output.Integer, Required: true, Value: func(i int) any { return list[i].Busy }},
		{Name: "fits", Kind: output.Integer, Required: true, Value: func(i int) any { return list[i].Fits }},
	}
}
