package explain

import (
	"fmt"
	"math"
	"slices"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/priorityf"
)

// ranking lists the nodes in the policy's order, with a column for each term of PRIORITYF. Nodes with
// functions of their own have separate tables.
func (p *page) ranking() error {
	for kind := range p.ex.Chunks {
		of := ""
		if len(p.ex.Chunks) > 1 {
			of = fmt.Sprintf(" for chunk %d", kind+1)
		}
		in := ""
		if p.ex.Verdict == placer.StartsNow && p.ex.Plan.Set != "" {
			in = " in set " + p.ex.Plan.Set
		}
		for i, same := range alikeRanked(p.ex.Ranking, kind) {
			if i == 0 {
				p.Heading("Policy "+p.ex.Policy.String(), ": its order%s of the nodes with room%s, by %s", of, in,
					p.ex.Policy.Score())
			}
			if same[0].Own {
				p.Printf("\nwith a PRIORITYF of their own:\n")
			}
			if err := p.rankTable(same); err != nil {
				return err
			}
		}
	}
	return nil
}

// alikeRanked groups the nodes ranked for a chunk by their terms.
func alikeRanked(all []placer.Ranked, kind int) [][]placer.Ranked {
	var out [][]placer.Ranked
	for _, v := range all {
		if v.Chunk != kind {
			continue
		}
		same := func(list []placer.Ranked) bool {
			return list[0].Own == v.Own && slices.EqualFunc(list[0].Terms, v.Terms, func(a, b priorityf.Term) bool {
				return a.Text == b.Text
			})
		}
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i] = append(out[i], v)
		} else {
			out = append(out, []placer.Ranked{v})
		}
	}
	return out
}

func (p *page) rankTable(list []placer.Ranked) error {
	columns := []output.Column{{Name: "node"}, {Name: "rank", Kind: output.Integer},
		{Name: "value", Kind: output.Number}}
	for _, t := range list[0].Terms {
		columns = append(columns, output.Column{Name: t.Text, Kind: output.Number})
	}
	var rows [][]any
	for _, v := range list {
		names, err := p.names.Names([]uint32{v.Node})
		if err != nil {
			return err
		}
		row := []any{names[0], v.Rank, shortNumber(v.Value)}
		for _, t := range v.Terms {
			row = append(row, shortNumber(t.Value))
		}
		rows = append(rows, row)
	}
	return p.Table(columns, rows)
}

// shortNumber rounds a score for people: to three decimals, or one if it is large.
func shortNumber(v float64) any {
	switch a := math.Abs(v); {
	case math.IsInf(v, 0):
		return "endless"
	case a < 1000:
		return math.Round(v*1000) / 1000
	case a < 1e12:
		return math.Round(v*10) / 10
	}
	return v
}

type rankObject struct {
	Chunk int          `json:"chunk"`
	Node  string       `json:"node"`
	Rank  int          `json:"rank"`
	Value any          `json:"value"`
	Terms []termObject `json:"terms"`
}

type termObject struct {
	Term  string  `json:"term"`
	Value float64 `json:"value"`
}

func (p *page) rankObjects() (any, error) {
	out := []rankObject{}
	for _, v := range p.ex.Ranking {
		names, err := p.names.Names([]uint32{v.Node})
		if err != nil {
			return nil, err
		}
		o := rankObject{v.Chunk, names[0], v.Rank, nil, []termObject{}}
		if !math.IsInf(v.Value, 0) {
			o.Value = v.Value
		}
		for _, t := range v.Terms {
			o.Terms = append(o.Terms, termObject{t.Text, t.Value})
		}
		out = append(out, o)
	}
	return out, nil
}
