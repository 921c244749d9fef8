package explain

import (
	"github.com/placectl/placectl/cmd/placectl/internal/output"
)

func (p *page) askedNodes() {
	if len(p.ex.Nodes) == 0 {
		return
	}
	p.Heading("Nodes asked about", "")
	p.table(0, p.askedFields().Pick("node chunk fits reason until"), len(p.ex.Nodes))
}

// askedFields are the fields of a node that the request asks about. People count chunks from 1.
func (p *page) askedFields() output.Fields[int] {
	return output.Fields[int]{
		{Name: "node", Required: true, Value: func(i int) any { return p.name(p.ex.Nodes[i].Node) }},
		{Name: "chunk", Kind: output.Integer, Required: true, Value: func(i int) any {
			if p.Format == output.Table {
				return p.ex.Nodes[i].Chunk + 1
			}
			return p.ex.Nodes[i].Chunk
		}},
		{Name: "fits", Kind: output.Integer, Value: func(i int) any { return p.ex.Nodes[i].Reason.Chunks }},
		{Name: "fits_now", Kind: output.Integer, Required: true, Value: func(i int) any {
			return p.ex.Nodes[i].Reason.Chunks
		}},
		{Name: "reason", Required: true, Value: func(i int) any { return p.cause(&p.ex.Nodes[i].Reason) }},
		{Name: "detail", Required: true, Value: func(i int) any { return p.why(&p.ex.Nodes[i].Reason) }},
		{Name: "until", Kind: output.Time, Value: func(i int) any { return until(&p.ex.Nodes[i].Reason) }},
	}
}
