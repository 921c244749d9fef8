package explain

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/placer"
)

// sets lists the placement sets that could hold a request.
func (p *page) sets() {
	wants := make([]int, len(p.ex.Chunks))
	for i := range wants {
		wants[i] = p.ex.Chunks[i].Chunk.Count
	}
	var rows [][]any
	for _, s := range p.ex.Sets {
		rows = append(rows, []any{s.Name, s.Nodes, roomFor(s.Fits, wants)})
	}
	p.rooms("Placement sets", "it keeps to one of these, which could hold it, in this order", "set", rows)
}

// hosts lists the hosts of several nodes that could hold a request.
func (p *page) hosts() {
	var rows [][]any
	for _, h := range p.ex.Hosts {
		rows = append(rows, []any{h.Name, h.Nodes, roomFor(h.Fits, h.Wants)})
	}
	p.rooms("Hosts of several nodes", "it may lie on those of one host, too", "host", rows)
}

// rooms prints a table of sets of nodes, with the room in each.
func (p *page) rooms(title, note, noun string, rows [][]any) {
	if len(rows) == 0 {
		return
	}
	p.Heading(title, ": %s", note)
	shown := rows[:min(shownSets, len(rows))]
	p.failed(p.Table([]output.Column{{Name: noun}, {Name: "nodes", Kind: output.Integer}, {Name: "room now for"}},
		shown))
	p.more(len(rows)-len(shown), noun)
}

// roomFor says how many of each chunk fit.
func roomFor(fits []int64, wants []int) string {
	room := make([]string, len(fits))
	for i, n := range fits {
		room[i] = fmt.Sprintf("%d of %d", min(n, int64(wants[i])), wants[i])
	}
	return strings.Join(room, ", ")
}

func setFields(list []placer.SetView) output.Fields[int] {
	return output.Fields[int]{
		{Name: "set", Required: true, Value: func(i int) any { return list[i].Name }},
		{Name: "nodes", Kind: output.Integer, Required: true, Value: func(i int) any { return list[i].Nodes }},
		{Name: "fits_now", Kind: output.Object, Value: func(i int) any { return list[i].Fits }},
	}
}

func hostFields(list []placer.HostView) output.Fields[int] {
	return output.Fields[int]{
		{Name: "host", Required: true, Value: func(i int) any { return list[i].Name }},
		{Name: "nodes", Kind: output.Integer, Required: true, Value: func(i int) any { return list[i].Nodes }},
		{Name: "fits_now", Kind: output.Object, Value: func(i int) any { return list[i].Fits }},
	}
}
