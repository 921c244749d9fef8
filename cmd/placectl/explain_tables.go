package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// reasons is the main table of a request: a row for each reason of each chunk.
func (p *explainPage) reasons() error {
	t := p.printer(output.Result{ID: 1, Columns: []output.Column{{Name: "chunk", Kind: output.Integer}, {Name: "reason"}, {Name: "detail"},
		{Name: "nodes", Kind: output.Integer}, {Name: "names"}, {Name: "until", Kind: output.Time}}})
	for i := range p.ex.Chunks {
		for k := range p.ex.Chunks[i].Reasons {
			v := &p.ex.Chunks[i].Reasons[k]
			detail, err := p.w.reason(v)
			if err != nil {
				return err
			}
			names, err := p.w.tx.NodeNames(v.Nodes)
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

// nodes is the main table of the nodes asked about.
func (p *explainPage) nodes() error {
	columns := []output.Column{{Name: "node"}, {Name: "chunk", Kind: output.Integer}, {Name: "fits", Kind: output.Integer}, {Name: "reason"}, {Name: "until", Kind: output.Time}}
	people := p.Output == output.Table
	if !people {
		columns = append(columns[:4:4], output.Column{Name: "detail"}, columns[4])
	}
	t := p.printer(output.Result{Columns: columns})
	for i := range p.ex.Nodes {
		v := &p.ex.Nodes[i]
		names, err := p.w.tx.NodeNames([]uint32{v.Node})
		if err != nil {
			return err
		}
		detail, err := p.w.reason(&v.Reason)
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

// withReason is a word and, where it is known, why.
func withReason(word, why string) string {
	if word == "" || why == "" {
		return word
	}
	return word + ": " + why
}

// ahead is who has a planned job's nodes before it.
func (p *explainPage) ahead() error {
	if len(p.ex.Ahead) == 0 {
		return nil
	}
	p.heading("Before it", ": who has its nodes until then")
	var rows [][]any
	for _, a := range p.ex.Ahead {
		names, err := p.names(a.Nodes)
		if err != nil {
			return err
		}
		var late any
		if a.Overdue {
			late = "overdue"
		}
		rows = append(rows, []any{a.Owner.String(), a.Until, late, names})
	}
	return p.table([]output.Column{{Name: "who"}, {Name: "until", Kind: output.Time}, {Name: "note"}, {Name: "nodes"}}, rows)
}

// forever is nil for the time of what never happens.
func forever(t int64) any {
	if t == timeline.Forever {
		return nil
	}
	return string(spell.AppendRFC3339(nil, t))
}
