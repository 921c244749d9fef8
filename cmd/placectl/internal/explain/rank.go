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
func (p *page) ranking() {
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
			p.rankTable(same)
		}
	}
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

func (p *page) rankTable(list []placer.Ranked) {
	columns := []output.Column{{Name: "node"}, {Name: "rank", Kind: output.Integer},
		{Name: "value", Kind: output.Number}}
	for _, t := range list[0].Terms {
		columns = append(columns, output.Column{Name: t.Text, Kind: output.Number})
	}
	var rows [][]any
	for _, v := range list {
		row := []any{p.name(v.Node), v.Rank, shortNumber(v.Value)}
		for _, t := range v.Terms {
			row = append(row, shortNumber(t.Value))
		}
		rows = append(rows, row)
	}
	p.failed(p.Table(columns, rows))
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

func (p *page) rankFields() output.Fields[int] {
	return output.Fields[int]{
		{Name: "chunk", Kind: output.Integer, Required: true, Value: func(i int) any { return p.ex.Ranking[i].Chunk }},
		{Name: "node", Required: true, Value: func(i int) any { return p.name(p.ex.Ranking[i].Node) }},
		{Name: "rank", Kind: output.Integer, Required: true, Value: func(i int) any { return p.ex.Ranking[i].Rank }},
		{Name: "value", Kind: output.Number, Value: func(i int) any { return p.ex.Ranking[i].Value }}, // null: endless
		{Name: "terms", Kind: output.Object, Value: func(i int) any {
			return output.ObjectsOf(termFields(p.ex.Ranking[i].Terms), len(p.ex.Ranking[i].Terms))
		}},
	}
}

func termFields(list []priorityf.Term) output.Fields[int] {
	return output.Fields[int]{
		{Name: "term", Required: true, Value: func(i int) any { return list[i].Text }},
		{Name: "value", Kind: output.Number, Required: true, Value: func(i int) any { return list[i].Value }},
	}
}
