package placer

import (
	"fmt"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// A host is a node of its own, unless nodes name it in their resource host. Then the host is all of
// those nodes, and the node with its name.

// mates returns the nodes of a host.
func (m *mapping) mates(host string) *roaring.Bitmap {
	nodes := m.Index.With(index.Host, host).Clone()
	if number, ok, err := m.Rows.NodeNumber(host); err != nil {
		m.Index.Fail(err)
	} else if ok {
		if row := m.row(number); row != nil {
			if own, other := row.Get(index.Host); !other || own.Str == host {
				nodes.Add(number)
			}
		}
	}
	return nodes
}

// takeHost reports whether a spot's node may be taken. It may not if the request needs the whole
// host and something is on another of its nodes.
func (s *seeker) takeHost(sp *spot) bool {
	if !sp.all || s.empty {
		return true
	}
	for it := s.mates(sp.host).Iterator(); it.HasNext(); {
		node := it.Next()
		if node != sp.node && s.Calendar.Taken(node, s.at, s.end, &s.guest, nil, nil) != timeline.Idle {
			return false
		}
	}
	return true
}

// along adds to a plan the other nodes of hosts that the request takes whole. If the plan would
// share such a node, it now takes it whole.
func (s *seeker) along(p *Plan) {
	var hosts []string
	for _, node := range p.NodeNumbers() {
		if sp := s.spots[node]; sp != nil && sp.all && !slices.Contains(hosts, sp.host) {
			hosts = append(hosts, sp.host)
		}
	}
	for _, host := range hosts {
		for it := s.mates(host).Iterator(); it.HasNext(); {
			mate := it.Next()
			if p.makeWhole(mate) {
				continue
			}
			row := s.row(mate)
			if row == nil {
				return
			}
			b := s.Index.Bucket(row.Bucket)
			p.Along = append(p.Along, Pick{Node: mate, Class: s.Index.ClassOf(b, mate), Bucket: b})
		}
	}
}

// makeWhole makes a plan take a node whole, and reports whether the plan uses the node.
func (p *Plan) makeWhole(node uint32) bool {
	found := false
	for _, c := range p.Chunks {
		for i := range c.Picks {
			if pick := &c.Picks[i]; pick.Node == node {
				pick.Shared, pick.Alone, found = false, false, true
				delete(p.Claims, node)
			}
		}
	}
	return found
}

// ruleHeads adds the nodes named like a host of other nodes to the nodes with rules of their own,
// if the request depends on hosts. Their own rows do not say that they share a host.
func (m *mapping) ruleHeads() {
	if len(m.hosts) == 0 || m.Spec.Place.Arrange != Scatter && m.Spec.Place.Share != ExclHost {
		return
	}
	m.ruled = m.ruled.Clone()
	for host := range m.hosts {
		number, ok, err := m.Rows.NodeNumber(host)
		if err != nil {
			m.Index.Fail(err)
		} else if ok {
			m.ruled.Add(number)
		}
	}
}

// named splits a chunk's wants into those that name nodes and the rest. It returns the rest and the
// nodes named, or nil if there are none.
func (m *mapping) named(wants []Want) ([]Want, *roaring.Bitmap) {
	if !slices.ContainsFunc(wants, func(w Want) bool { return w.Res == index.Host || w.Res == index.VNode }) {
		return wants, nil
	}
	var rest []Want
	var nodes *roaring.Bitmap
	for _, w := range wants {
		var these *roaring.Bitmap
		switch w.Res {
		case index.Host:
			these = m.mates(w.Value.Str)
		case index.VNode:
			these = roaring.New()
			number, ok, err := m.Rows.NodeNumber(w.Value.Str)
			if err != nil {
				m.Index.Fail(err)
			}
			if ok {
				these.Add(number)
			}
		default:
			rest = append(rest, w)
			continue
		}
		if nodes != nil {
			these.And(nodes)
		}
		nodes = these
	}
	return rest, nodes
}

// onOneHost combines all chunks into the one chunk that place=pack asks of a host.
func onOneHost(defs *index.Defs, chunks []Chunk) Chunk {
	whole := Chunk{Count: 1}
	sums, _, _ := sumChunks(nil, defs, chunks)
	for _, w := range sums {
		if def, _ := defs.Get(w.Res); def.Consumable {
			whole.Wants = append(whole.Wants, w)
		}
	}
	for _, c := range chunks {
		for _, w := range c.Wants {
			def, _ := defs.Get(w.Res)
			if !def.Consumable && !def.Directive && !slices.Contains(whole.Wants, w) {
				whole.Wants = append(whole.Wants, w)
			}
		}
	}
	return whole
}

// packable refuses a packed request of several chunks if no node takes more than one and all hosts
// are single nodes.
func (m *mapping) packable() error {
	if m.Access != index.AccessSingleTask || !m.severalPacked() || len(m.hosts) > 0 {
		return nil
	}
	return &Refusal{Kind: ErrNever, Chunk: -1,
		Why: fmt.Sprintf("place=pack puts all chunks on one host, and with access %s no node takes more than one",
			m.Access)}
}

// severalPacked reports whether the request was several chunks before they were packed into one.
func (m *mapping) severalPacked() bool { return Spec{Chunks: m.packed}.NumChunks() > 1 }

// unpack splits a packed request's chunk into the original ones again, and adds the nodes taken
// along.
func (s *seeker) unpack(p *Plan) {
	if s.packed != nil {
		pick := p.Chunks[0].Picks[0]
		p.Chunks = make([]Allotment, len(s.packed))
		for i, c := range s.packed {
			pick.Chunks = int32(c.Count)
			p.Chunks[i].Picks = []Pick{pick}
		}
	}
	s.along(p)
}

// packOnHosts finds the hosts of several nodes that could hold all chunks of a packed request when
// empty. A request packed on such a host needs free nodes. The hosts come by name; placement sets
// are ignored, because they concern the nodes of one host.
func (m *mapping) packOnHosts() {
	for _, host := range slices.Sorted(maps.Keys(m.hosts)) {
		on, byNode := *m, *m.byNode
		on.byNode = &byNode
		on.outer = m
		on.Chunks, on.packed, on.together = m.packed, nil, true
		on.Spec.Place.Arrange = Free
		on.whole = make([][]index.Candidate, len(on.Chunks))
		mates := m.mates(host)
		for i := range on.Chunks {
			on.whole[i] = m.Index.Only(m.candidates(&on.Chunks[i]), mates)
		}
		if on.fitsEmpty(on.whole) == yes {
			m.onHosts = append(m.onHosts, &on)
		}
	}
}

// orOnHosts returns never, the error of a packed request that no single node can hold, or nil if a
// host of several nodes could hold it.
func (m *mapping) orOnHosts(never error) error {
	if m.path != NodePath || len(m.onHosts) == 0 {
		return never
	}
	for i := range m.whole {
		m.whole[i] = nil
	}
	return nil
}
