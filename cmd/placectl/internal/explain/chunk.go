package explain

import (
	"fmt"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
)

// chunks shows for each chunk which nodes can serve it, and why others cannot.
func (p *page) chunks() error {
	for i := range p.ex.Chunks {
		view := &p.ex.Chunks[i]
		if p.ex.Packed {
			p.Heading("All chunks on one node", ": %s wanted, %s with room now", view.Text(p.defs),
				text.Plural(int(view.Fits), "node"))
		} else {
			p.Heading(fmt.Sprintf("Chunk %d", i+1), ": %d of %s wanted, room for %d now", view.Chunk.Count,
				view.Text(p.defs), view.Fits)
		}
		var rows [][]any
		for k := range view.Reasons {
			v := &view.Reasons[k]
			why, err := p.reason(v)
			if err != nil {
				return err
			}
			names, err := p.nodeList(v.Nodes)
			if err != nil {
				return err
			}
			rows = append(rows, []any{len(v.Nodes), why, until(v), names})
		}
		columns := []output.Column{{Name: "nodes", Kind: output.Integer}, {Name: "reason"},
			{Name: "until", Kind: output.Time}, {Name: "names"}}
		if err := p.Table(columns, rows); err != nil {
			return err
		}
		if err := p.buckets(view); err != nil {
			return err
		}
	}
	return nil
}

func (p *page) buckets(view *placer.ChunkView) error {
	if len(view.Buckets) == 0 {
		p.Printf("\nno bucket has nodes for it\n")
		return nil
	}
	shown := view.Buckets[:min(shownBuckets, len(view.Buckets))]
	var rows [][]any
	for _, b := range shown {
		rows = append(rows, []any{b.Signature, b.Free, b.Later, b.Busy, b.Fits})
	}
	p.Printf("\n")
	err := p.Table([]output.Column{{Name: "bucket"}, {Name: "free", Kind: output.Integer},
		{Name: "later", Kind: output.Integer}, {Name: "busy", Kind: output.Integer},
		{Name: "with room", Kind: output.Integer}}, rows)
	p.more(len(view.Buckets)-len(shown), "bucket")
	return err
}

type chunkExplained struct {
	Chunk   int            `json:"chunk"`
	Select  string         `json:"select"`
	Want    int            `json:"want"`
	FitsNow int64          `json:"fits_now"`
	Reasons []reasonObject `json:"reasons"`
	Buckets []bucketObject `json:"buckets"`
}

type reasonObject struct {
	Reason string  `json:"reason"`
	Detail string  `json:"detail"`
	Nodes  int     `json:"nodes"`
	Names  string  `json:"names"`
	Until  any     `json:"until"`
	Who    string  `json:"reservation,omitempty"`
	From   any     `json:"from,omitempty"`
	Res    string  `json:"resource,omitempty"`
	Asked  *string `json:"asked,omitempty"`
	Best   *string `json:"best,omitempty"`
}

type bucketObject struct {
	Bucket    uint32  `json:"bucket"`
	Signature string  `json:"signature"`
	Queue     *string `json:"queue"`
	Priority  int32   `json:"priority"`
	Free      int     `json:"free"`
	Later     int     `json:"later"`
	Busy      int     `json:"busy"`
	Fits      int     `json:"fits"`
}

func (p *page) chunkObjects() (any, error) {
	out := []chunkExplained{}
	if len(p.ex.Chunks) == 0 {
		return out, nil
	}
	for i := range p.ex.Chunks {
		view := &p.ex.Chunks[i]
		c := chunkExplained{Chunk: i, Select: view.Chunk.Text(p.defs), Want: view.Chunk.Count, FitsNow: view.Fits,
			Reasons: []reasonObject{}, Buckets: []bucketObject{}}
		for k := range view.Reasons {
			o, err := p.reasonObject(&view.Reasons[k])
			if err != nil {
				return nil, err
			}
			c.Reasons = append(c.Reasons, o)
		}
		for _, b := range view.Buckets {
			c.Buckets = append(c.Buckets, bucketObject{b.ID, b.Signature, word(b.Queue), b.Priority, b.Free, b.Later,
				b.Busy, b.Fits})
		}
		out = append(out, c)
	}
	return out, nil
}

func (p *page) reasonObject(v *placer.Reason) (reasonObject, error) {
	o := reasonObject{Reason: string(v.Cause), Nodes: len(v.Nodes), From: forever(v.From)}
	names, err := p.names.Names(v.Nodes)
	if err != nil {
		return o, err
	}
	o.Names = index.FoldNodeList(names)
	if v.Cause != placer.CauseFits {
		o.Until = forever(v.Until)
	}
	if v.Cause == placer.CauseLacks || v.Cause == placer.CauseShort {
		def, _ := p.defs.Get(v.Want.Res)
		asked := def.Format(v.Want.Value)
		if o.Res, o.Asked = def.Name, &asked; !v.None {
			best := def.Format(v.Best)
			o.Best = &best
		}
	}
	if v.Cause == placer.CauseReserved || v.Cause == placer.CauseReservation {
		if o.Who, err = p.who(v.Owner); err != nil {
			return o, err
		}
	}
	o.Detail, err = p.reason(v)
	return o, err
}

// reasons prints the main table of a request: a row for each reason of each chunk.
func (p *page) reasons() error {
	t := p.Begin(output.Result{ID: 1, Columns: []output.Column{{Name: "chunk", Kind: output.Integer}, {Name: "reason"},
		{Name: "detail"},
		{Name: "nodes", Kind: output.Integer}, {Name: "names"}, {Name: "until", Kind: output.Time}}})
	for i := range p.ex.Chunks {
		for k := range p.ex.Chunks[i].Reasons {
			v := &p.ex.Chunks[i].Reasons[k]
			detail, err := p.reason(v)
			if err != nil {
				return err
			}
			names, err := p.names.Names(v.Nodes)
			if err != nil {
				return err
			}
			if err := t.Row(i, string(v.Cause), detail, len(v.Nodes), index.FoldNodeList(names), until(v)); err != nil {
				return err
			}
		}
	}
	return t.Close()
}
