package explain

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
)

// sets lists the placement sets that could hold a request.
func (p *page) sets() error {
	wants := make([]int, len(p.ex.Chunks))
	for i := range wants {
		wants[i] = p.ex.Chunks[i].Chunk.Count
	}
	var rows [][]any
	for _, s := range p.ex.Sets {
		rows = append(rows, []any{s.Name, s.Nodes, roomFor(s.Fits, wants)})
	}
	return p.rooms("Placement sets", "it keeps to one of these, which could hold it, in this order", "set", rows)
}

// hosts lists the hosts of several nodes that could hold a request.
func (p *page) hosts() error {
	var rows [][]any
	for _, h := range p.ex.Hosts {
		rows = append(rows, []any{h.Name, h.Nodes, roomFor(h.Fits, h.Wants)})
	}
	return p.rooms("Hosts of several nodes", "it may lie on those of one host, too", "host", rows)
}

// rooms prints a table of sets of nodes, with the room in each.
func (p *page) rooms(title, note, noun string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	p.Heading(title, ": %s", note)
	shown := rows[:min(shownSets, len(rows))]
	err := p.Table([]output.Column{{Name: noun}, {Name: "nodes", Kind: output.Integer}, {Name: "room now for"}}, shown)
	p.more(len(rows)-len(shown), noun)
	return err
}

// roomFor says how many of each chunk fit.
func roomFor(fits []int64, wants []int) string {
	room := make([]string, len(fits))
	for i, n := range fits {
		room[i] = fmt.Sprintf("%d of %d", min(n, int64(wants[i])), wants[i])
	}
	return strings.Join(room, ", ")
}

type setObject struct {
	Set   string  `json:"set"`
	Nodes int     `json:"nodes"`
	Fits  []int64 `json:"fits_now"`
}

type hostObject struct {
	Host  string  `json:"host"`
	Nodes int     `json:"nodes"`
	Fits  []int64 `json:"fits_now"`
}

func (p *page) setObjects() (any, error) {
	out := []setObject{}
	for _, s := range p.ex.Sets {
		out = append(out, setObject{s.Name, s.Nodes, s.Fits})
	}
	return out, nil
}

func (p *page) hostObjects() (any, error) {
	out := []hostObject{}
	for _, h := range p.ex.Hosts {
		out = append(out, hostObject{h.Name, h.Nodes, h.Fits})
	}
	return out, nil
}
