package explain

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
)

func (p *page) sets() error {
	if len(p.ex.Sets) == 0 {
		return nil
	}
	p.Heading("Placement sets", ": it keeps to one of these, which could hold it, in this order")
	shown := p.ex.Sets[:min(shownSets, len(p.ex.Sets))]
	wants := make([]int, len(p.ex.Chunks))
	for i := range wants {
		wants[i] = p.ex.Chunks[i].Chunk.Count
	}
	var rows [][]any
	for _, s := range shown {
		rows = append(rows, []any{s.Name, s.Nodes, roomFor(s.Fits, wants)})
	}
	err := p.Table([]output.Column{{Name: "set"}, {Name: "nodes", Kind: output.Integer}, {Name: "room now for"}}, rows)
	p.more(len(p.ex.Sets)-len(shown), "set")
	return err
}

func (p *page) hosts() error {
	if len(p.ex.Hosts) == 0 {
		return nil
	}
	p.Heading("Hosts of several nodes", ": it may lie on those of one host, too")
	shown := p.ex.Hosts[:min(shownSets, len(p.ex.Hosts))]
	var rows [][]any
	for _, h := range shown {
		rows = append(rows, []any{h.Name, h.Nodes, roomFor(h.Fits, h.Wants)})
	}
	err := p.Table([]output.Column{{Name: "host"}, {Name: "nodes", Kind: output.Integer}, {Name: "room now for"}}, rows)
	p.more(len(p.ex.Hosts)-len(shown), "host")
	return err
}

// roomFor says for how many of each chunk there is room.
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
	if p.ex.Explanation != nil {
		for _, s := range p.ex.Sets {
			out = append(out, setObject{s.Name, s.Nodes, s.Fits})
		}
	}
	return out, nil
}

func (p *page) hostObjects() (any, error) {
	out := []hostObject{}
	if p.ex.Explanation != nil {
		for _, h := range p.ex.Hosts {
			out = append(out, hostObject{h.Name, h.Nodes, h.Fits})
		}
	}
	return out, nil
}
