package explain

import (
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/placer"
)

func (p *page) askedNodes() error {
	if len(p.ex.Nodes) == 0 {
		return nil
	}
	p.Heading("Nodes asked about", "")
	return p.nodes()
}

// nodes prints the main table of requested nodes.
func (p *page) nodes() error {
	columns := []output.Column{{Name: "node"}, {Name: "chunk", Kind: output.Integer},
		{Name: "fits", Kind: output.Integer}, {Name: "reason"}, {Name: "until", Kind: output.Time}}
	people := p.Format == output.Table
	if !people {
		columns = append(columns[:4:4], output.Column{Name: "detail"}, columns[4])
	}
	t := p.Begin(output.Result{Columns: columns})
	for i := range p.ex.Nodes {
		v := &p.ex.Nodes[i]
		names, err := p.names.Names([]uint32{v.Node})
		if err != nil {
			return err
		}
		detail, err := p.reason(&v.Reason)
		if err != nil {
			return err
		}
		row := []any{names[0], v.Chunk, v.Reason.Chunks, string(v.Reason.Cause), detail, until(&v.Reason)}
		if people {
			row = []any{names[0], v.Chunk + 1, v.Reason.Chunks, detail, until(&v.Reason)}
		}
		if err := t.Row(row...); err != nil {
			return err
		}
	}
	return t.Close()
}

type nodeObject struct {
	Node   string `json:"node"`
	Chunk  int    `json:"chunk"`
	Fits   int64  `json:"fits_now"`
	Reason string `json:"reason"`
	Detail string `json:"detail"`
	Until  any    `json:"until"`
}

func (p *page) nodeObjects() (any, error) {
	out := []nodeObject{}
	for i := range p.ex.Nodes {
		v := &p.ex.Nodes[i]
		names, err := p.names.Names([]uint32{v.Node})
		if err != nil {
			return nil, err
		}
		o := nodeObject{Node: names[0], Chunk: v.Chunk, Fits: v.Reason.Chunks, Reason: string(v.Reason.Cause)}
		if v.Reason.Cause != placer.CauseFits {
			o.Until = forever(v.Reason.Until)
		}
		if o.Detail, err = p.reason(&v.Reason); err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}
