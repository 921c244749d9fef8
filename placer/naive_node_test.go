package placer

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// naiveNodes is the oracle for requests that share nodes. It tries every way to put every
// single chunk on every node, and sums up what is taken second by second. It is for small
// clusters and short times only.
type naiveNodes struct {
	*naive
	at    int64
	empty bool
	left  [][]int64 // by node, of each resource; nil for those of no use
	defs  []index.ResID
	used  []int // by node: the kind of chunk on it, plus one
	hosts map[string]int
	dead  map[string]bool // what has been tried without success
}

// nodesFit reports whether the request fits at an instant, or on the empty cluster. It must
// fit in one placement set, if one could hold the request when empty and the request may not
// leave it yet; otherwise on all nodes.
func (n *naive) nodesFit(at int64, empty bool) bool {
	if empty && n.tooLong() {
		return false
	}
	could := false
	for _, set := range n.sets {
		if n.nodesWithin(set, at, true) {
			could = true
			if n.nodesWithin(set, at, empty) {
				return true
			}
		}
	}
	if n.grouped && !n.span || could && !n.patienceOver(at) {
		return false
	}
	return n.nodesWithin(n.all(), at, empty)
}

// patienceOver reports whether a request that could fit a set need not wait for it any more.
func (n *naive) patienceOver(at int64) bool {
	switch delay := n.c.Rules.SetDelay; {
	case n.a.Place.HasGroup, delay == 0:
		return false
	case delay < 0:
		return true
	default:
		return at-n.a.Since >= delay
	}
}

// tooLong reports whether none of the reservations that the request insists on is long enough
// for it.
func (n *naive) tooLong() bool {
	insists := false
	for _, g := range n.a.Grants {
		if g.Affinity != Required {
			continue
		}
		insists = true
		if g.End-g.Start >= n.a.Duration && (g.Limit == 0 || g.Limit >= n.a.Duration) {
			return false
		}
	}
	return insists
}

// startsInTime reports whether a request that insists on reservations fits at some second
// before they end.
func (n *naive) startsInTime(fits func(at int64) bool) bool {
	insists, over := false, n.c.Now
	for _, g := range n.a.Grants {
		if g.Affinity == Required {
			insists, over = true, max(over, g.End)
		}
	}
	at := n.c.Now
	for insists && at < over && !fits(at) {
		at++
	}
	return !insists || at < over
}

// nodesVerdict returns the oracle's verdict for an instant.
func (n *naive) nodesVerdict(at int64) string {
	switch {
	case n.nodesFit(at, false):
		return "RUN"
	case n.nodesFit(at, true) && n.startsInTime(func(at int64) bool { return n.nodesFit(at, false) }):
		return "NOT_RUN"
	}
	return "NEVER"
}

// rowsVerdict does what nodesVerdict does, for a request whose nodes must be in a row.
func (n *naive) rowsVerdict(at int64) string {
	switch {
	case n.rowsFit(at, false):
		return "RUN"
	case !n.tooLong() && n.rowsFit(at, true) && n.startsInTime(func(at int64) bool { return n.rowsFit(at, false) }):
		return "NOT_RUN"
	}
	return "NEVER"
}

// rowsFit reports whether the request fits on neighbours that could all serve a part of it.
func (n *naive) rowsFit(at int64, empty bool) bool {
	look := n.looking(at, empty)
	var row []int
	for k := range len(n.c.nodes) + 1 {
		serves := false
		for kind := 0; k < len(n.c.nodes) && look.left[k] != nil && kind < len(n.a.Chunks); kind++ {
			serves = serves || look.may(k, kind)
		}
		if serves {
			row = append(row, k)
			continue
		}
		if len(row) > 0 && n.nodesWithin(row, at, empty) {
			return true
		}
		row = nil
	}
	return false
}

func (n *naive) nodesWithin(nodes []int, at int64, empty bool) bool {
	s := n.looking(at, empty)
	var usable []int
	for _, k := range nodes {
		if s.left[k] != nil {
			usable = append(usable, k)
		}
	}
	return s.put(usable, 0, n.a.Chunks[0].Count, 0)
}

// looking examines every node for an instant.
func (n *naive) looking(at int64, empty bool) *naiveNodes {
	s := &naiveNodes{naive: n, at: at, empty: empty, used: make([]int, len(n.c.nodes)), hosts: make(map[string]int),
		dead: make(map[string]bool)}
	for _, def := range n.c.defs.All() {
		if def.Consumable {
			s.defs = append(s.defs, def.ID)
		}
	}
	s.left = make([][]int64, len(n.c.nodes))
	for k, node := range n.c.nodes {
		if node.State == index.Up {
			s.left[k] = s.free(k)
		}
	}
	return s
}

// free returns the least of each resource that a node has free at any second of the
// request's time, or nil if the request may not be on it.
func (s *naiveNodes) free(k int) []int64 {
	node := s.c.nodes[k]
	left := make([]int64, len(s.defs))
	for i, id := range s.defs {
		v, _ := node.Get(id)
		left[i] = v.Num
	}
	claim, ok := s.insisted(uint32(k))
	if !ok {
		return nil
	}
	if s.empty {
		return left
	}
	if s.wholeHost(node) && s.hostTaken(k) {
		return nil
	}
	for t := s.at; t < s.at+s.a.Duration; t++ {
		live := s.minded(node.Number, t)
		for _, b := range live {
			if s.whole(node) || b.Use == nil || s.strangers(node, b) {
				return nil
			}
		}
		for i, id := range s.defs {
			have, _ := node.Get(id)
			left[i] = min(left[i], max(0, have.Num-sumOf(live, id)))
		}
		if claim == nil || claim.Use == nil {
			continue
		}
		if s.whole(node) {
			return nil
		}
		for i, id := range s.defs {
			left[i] = min(left[i], max(0, takes(*claim, id)-guestsOf(s.c.Calendar.At(node.Number), *claim, s.c, t, id)))
		}
	}
	return left
}

// insisted returns the claim on a node that the request insists on, if it does; false if it
// does and the node has none. On an empty cluster the request wants the nodes of its
// reservations, whatever they keep there and when.
func (s *naiveNodes) insisted(node uint32) (*timeline.Busy, bool) {
	insists := false
	for _, g := range s.a.Grants {
		if g.Affinity != Required {
			continue
		}
		insists = true
		switch {
		case !g.Nodes.Contains(node):
		case s.empty:
			return nil, true
		case g.Start <= s.at && s.at+s.a.Duration <= g.End && (g.Limit == 0 || s.a.Duration <= g.Limit):
			for _, b := range s.c.Calendar.At(node) {
				if b.Owner == g.Owner {
					return &b, true
				}
			}
		}
	}
	return nil, !insists
}

// minded returns what is on a node at a second, without the claims that admit the request for
// as long as it would be in them.
func (s *naiveNodes) minded(node uint32, t int64) []timeline.Busy {
	var out []timeline.Busy
	for _, b := range s.c.Calendar.At(node) {
		if b.Start <= t && s.c.Calendar.End(b) > t && !s.letIn(b) {
			out = append(out, b)
		}
	}
	return out
}

func (s *naiveNodes) letIn(b timeline.Busy) bool {
	for _, g := range s.a.Grants {
		if b.Claim && g.Owner == b.Owner {
			inside := int64(0)
			for t := s.at; t < s.at+s.a.Duration; t++ {
				if g.Start <= t && t < g.End {
					inside++
				}
			}
			return g.Limit == 0 || inside <= g.Limit
		}
	}
	return false
}

// strangers reports whether the request may not be beside a span, because one of them, or the
// node, is for one user's jobs.
func (s *naiveNodes) strangers(node *index.Node, b timeline.Busy) bool {
	return !b.Claim && (b.Use.Alone || s.access(node) == index.AccessSingleUser) && s.c.users[b.Owner] != s.a.User
}

// sumOf returns how much of a resource is taken by those that are on a node together; of a
// claim it counts what its guests have left.
func sumOf(live []timeline.Busy, id index.ResID) int64 {
	sum := int64(0)
	for _, b := range live {
		n := takes(b, id)
		for _, guest := range live {
			if b.Claim && !guest.Claim && guest.Use != nil && guest.Use.Within == b.Owner {
				n -= takes(guest, id)
			}
		}
		sum += max(0, n)
	}
	return sum
}

func takes(b timeline.Busy, id index.ResID) int64 {
	if b.Use == nil {
		return 0
	}
	for _, a := range b.Use.Amounts {
		if a.Quantity == uint16(id) {
			return a.N
		}
	}
	return 0
}

// guestsOf returns how much of a claim its guests have at a second.
func guestsOf(list []timeline.Busy, claim timeline.Busy, c *cluster, t int64, id index.ResID) int64 {
	sum := int64(0)
	for _, b := range list {
		if !b.Claim && b.Use != nil && b.Use.Within == claim.Owner && b.Start <= t && c.Calendar.End(b) > t {
			sum += takes(b, id)
		}
	}
	return sum
}

// hostName returns the host that a node is on: its own, unless it says otherwise.
func hostName(n *index.Node) string {
	if host, ok := n.Get(index.Host); ok {
		return host.Str
	}
	return n.Name
}

// wholeHost reports whether the request takes a node's whole host with it.
func (s *naiveNodes) wholeHost(node *index.Node) bool {
	switch node.Sharing {
	case index.IgnoreExcl:
		return false
	case index.ForceExclHost:
		return true
	case index.DefaultExclHost:
		return s.a.Spec.Place.Share == Default || s.a.Spec.Place.Share == ExclHost
	}
	return s.a.Spec.Place.Share == ExclHost
}

// hostTaken reports whether something is on another node of a node's host.
func (s *naiveNodes) hostTaken(k int) bool {
	for other, node := range s.c.nodes {
		if other == k || hostName(node) != hostName(s.c.nodes[k]) {
			continue
		}
		for t := s.at; t < s.at+s.a.Duration; t++ {
			if len(s.minded(node.Number, t)) > 0 {
				return true
			}
		}
	}
	return false
}

func (s *naiveNodes) access(node *index.Node) index.Access {
	return max(node.Access, s.a.Access, s.c.Rules.Access)
}

func (s *naiveNodes) whole(node *index.Node) bool {
	if s.access(node) >= index.AccessSingleJob {
		return true
	}
	asked := s.a.Spec.Place.Share
	switch node.Sharing {
	case index.ForceExcl, index.ForceExclHost:
		return true
	case index.IgnoreExcl:
		return false
	case index.DefaultExcl, index.DefaultExclHost:
		return asked != Shared
	}
	return asked == Excl || asked == ExclHost
}

// put tries to place the chunks from one on; count says how many of its kind are left. Nodes
// of one kind are taken in ascending order, because the chunks of a kind are equal.
func (s *naiveNodes) put(nodes []int, kind, count, from int) bool {
	if count == 0 {
		if kind++; kind == len(s.a.Chunks) {
			return true
		}
		return s.put(nodes, kind, s.a.Chunks[kind].Count, 0)
	}
	key := fmt.Sprint(kind, count, from, s.left, s.used)
	if s.dead[key] {
		return false
	}
	for i := from; i < len(nodes); i++ {
		k := nodes[i]
		if !s.may(k, kind) {
			continue
		}
		was := s.used[k]
		s.take(k, kind, 1)
		s.used[k] = kind + 1
		if s.put(nodes, kind, count-1, i) {
			return true
		}
		s.used[k] = was
		s.take(k, kind, -1)
	}
	s.dead[key] = true
	return false
}

func (s *naiveNodes) may(k, kind int) bool {
	node := s.c.nodes[k]
	if s.per[kind][k] == 0 || !s.onHost(node, kind) {
		return false
	}
	arrange := s.a.Spec.Place.Arrange
	if s.used[k] > 0 && (arrange == VScatter || s.access(node) == index.AccessSingleTask ||
		s.whole(node) && arrange != Pack && s.used[k] != kind+1) || arrange == Scatter && s.hosts[hostName(node)] > 0 {
		return false
	}
	if arrange == Pack {
		for other, used := range s.used {
			if used > 0 && hostName(s.c.nodes[other]) != hostName(node) {
				return false
			}
		}
	}
	for _, w := range s.a.Chunks[kind].Wants {
		if i := slices.Index(s.defs, w.Res); i >= 0 && s.left[k][i] < w.Value.Num {
			return false
		}
	}
	return true
}

// onHost reports whether a node is on the hosts that a chunk names.
func (s *naiveNodes) onHost(node *index.Node, kind int) bool {
	for _, w := range s.a.Chunks[kind].Wants {
		if w.Res == index.Host && w.Value.Str != hostName(node) {
			return false
		}
	}
	return true
}

func (s *naiveNodes) take(k, kind int, n int64) {
	s.hosts[hostName(s.c.nodes[k])] += int(n)
	for _, w := range s.a.Chunks[kind].Wants {
		if i := slices.Index(s.defs, w.Res); i >= 0 {
			s.left[k][i] -= n * w.Value.Num
		}
	}
}
