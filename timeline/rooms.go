package timeline

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// When is there room for n chunks on some nodes for d, all at the same time? Many nodes
// have room for several, and more at one time than at another. calendar_search.go has
// the idea; here it goes by steps, and gaps have a height: the chunks that fit into
// them. A gap that opens for w more chunks at from, and shuts for those behind last, adds
// w to what could start in between. A node's gaps are found in one walk over its steps by
// a stack of those still open, each higher than the one below.
//
// Most nodes have no gap of length d before they are idle for good. They are told by
// their longest ones, without a look at their steps, and from the instant on at which
// idle nodes alone suffice no gap matters any more. The instants are counted in bins, and
// only the bin that decides is sorted.

// Room is what a search knows of nodes that are alike to it.
type Room struct {
	Nodes *roaring.Bitmap       // which; the sets of a search are disjoint
	Idle  bool                  // only nodes with nothing on them have room
	Units func(load Load) int64 // for how many chunks a node with a load has room
}

// Found is where a search for room has ended.
type Found struct {
	At   int64
	Fit  *roaring.Bitmap // the nodes with room for a chunk then
	Free *roaring.Bitmap // those of them that are idle for good by then
}

// bins is how the instants behind a search's first are sorted: so many for each
// doubling of the distance, and one for each instant while that is short.
const (
	binBits = 7
	bins    = (64 - binBits) << binBits
)

func bin(distance int64) int {
	if distance < 1<<binBits {
		return int(distance)
	}
	octave := bits.Len64(uint64(distance)) - binBits - 1
	return (octave+1)<<binBits | int(distance>>octave)&(1<<binBits-1)
}

// event is an instant at which a number of chunks could begin, or could for the last
// time.
type event struct{ at, chunks int64 }

// roomSearch is a search under way. Its memory is kept from one search to the next.
type roomSearch struct {
	*Calendar
	n, d, after int64
	enough      int64 // idle nodes alone suffice from then on

	ready        int64       // chunks that could begin at after
	last         int         // the highest bin in use
	opens, shuts [bins]int64 // chunks that could begin by bin
	opening      []event
	shutting     []event
	parts        []roomPart
	gapped       []gapped
	stack        []event
	bin          []event
}

// roomPart is a Room under search.
type roomPart struct {
	*Room
	words []uint64
	units []int64 // by load; -1: not known
	full  int64   // of a node with nothing on it
}

// gapped is a node with gaps that may be long enough.
type gapped struct {
	steps *stepBlock
	part  int32
	node  uint32 // in the block
}

func (p *roomPart) room(load Load) int64 {
	for int(load) >= len(p.units) {
		p.units = append(p.units, -1)
	}
	if p.units[load] < 0 {
		p.units[load] = p.Units(load)
	}
	return p.units[load]
}

// FindRoom finds the first instant from after on at which nodes have room for n
// chunks throughout d. It is not known where jobs want to be alone with those of their
// own user: known is false. Fit is nil where there is no such instant.
func (c *Calendar) FindRoom(rooms []Room, n, d, after int64) (found Found, known bool) {
	if c.rooms == nil {
		c.rooms = &roomSearch{Calendar: c}
	}
	s := c.rooms
	s.n, s.d, s.after = n, d, max(after, c.now)
	if s.after > Forever-d {
		return Found{}, true
	}
	if !s.begin(rooms) {
		return Found{}, false
	}
	if s.ready < n {
		s.bound()
		for _, g := range s.gapped {
			if s.gaps(g); s.ready >= n {
				break
			}
		}
	}
	at, ok := s.earliest()
	if !ok || c.err != nil {
		return Found{}, true
	}
	return s.at(at), true
}

// FirstRoom is the first instant in [from, to) from which on a node has room for a
// chunk throughout d, or to. It is not known for a node that is in none of the rooms, or
// of which the owner has something himself.
func (c *Calendar) FirstRoom(rooms []Room, node uint32, owner uint64, d, from, to int64) (at int64, known bool) {
	i := slices.IndexFunc(rooms, func(r Room) bool { return r.Nodes.Contains(node) })
	if i < 0 || slices.ContainsFunc(c.At(node), func(b Busy) bool { return b.Owner == owner }) {
		return 0, false
	}
	k := node % BlockNodes
	steps := c.stepsOf(node/BlockNodes, 1<<k)
	if steps.peculiar>>k&1 != 0 {
		return 0, false
	}
	switch {
	case rooms[i].Units(Unloaded) == 0:
		return to, true
	case !steps.gapped(k, rooms[i].Idle, d):
		return min(max(steps.idle[k], from), to), true
	}
	open := int64(Forever)
	for _, s := range steps.lists[k] {
		switch has := rooms[i].Units(s.Load) > 0; {
		case !has && open != Forever && s.At-open >= d:
			return open, true
		case !has:
			open = Forever
		case open == Forever:
			open = max(s.At, from)
		}
		if s.At >= to && open >= to {
			break
		}
	}
	return min(open, to), true
}

// begin counts what nodes are idle for good, and notes those that have gaps. It
// reports whether steps can tell.
func (s *roomSearch) begin(rooms []Room) bool {
	clear(s.opens[:s.last+1])
	clear(s.shuts[:s.last+1])
	s.ready, s.last = 0, 0
	s.opening, s.shutting, s.gapped = s.opening[:0], s.shutting[:0], s.gapped[:0]
	for len(s.parts) < len(rooms) {
		s.parts = append(s.parts, roomPart{})
	}
	s.parts = s.parts[:len(rooms)]
	for i := range rooms {
		p := &s.parts[i]
		p.Room, p.units = &rooms[i], p.units[:0]
		size := int(p.Nodes.DenseSize())
		p.words = slices.Grow(p.words[:0], size)[:size]
		clear(p.words)
		p.Nodes.WriteDenseTo(p.words)
		if s.loads == nil {
			s.loads = newLoads()
		}
		if p.full = p.room(Unloaded); p.full > 0 && !s.tails(int32(i)) {
			return false
		}
	}
	return true
}

// tails goes through the nodes of a part.
func (s *roomSearch) tails(part int32) bool {
	p := &s.parts[part]
	for number, word := range p.words {
		if word == 0 {
			continue
		}
		steps := s.stepsOf(uint32(number), word)
		if steps.peculiar&word != 0 {
			return false
		}
		for rest := word; rest != 0; rest &= rest - 1 {
			i := lowest(rest)
			idle := steps.idle[i]
			if steps.gapped(i, p.Idle, s.d) && idle > s.after {
				s.gapped = append(s.gapped, gapped{steps, part, i})
			}
			s.opensAt(idle, p.full)
		}
	}
	return true
}

// gapped reports whether a node has a gap of length d before it is idle for good.
func (s *stepBlock) gapped(i uint32, idle bool, d int64) bool {
	if idle {
		return s.idleGap[i] >= d
	}
	return s.openGap[i] >= d || s.open[i] != s.idle[i]
}

// opensAt counts chunks that could begin from an instant on.
func (s *roomSearch) opensAt(at, chunks int64) {
	switch {
	case at <= s.after:
		s.ready += chunks
	case at < Forever:
		k := bin(at - s.after)
		s.last = max(s.last, k)
		s.opens[k] += chunks
	}
}

// shutsAt counts chunks that could begin at an instant for the last time.
func (s *roomSearch) shutsAt(at, chunks int64) {
	k := bin(at - s.after)
	s.last = max(s.last, k)
	s.shuts[k] += chunks
}

// bound finds from when on idle nodes alone suffice, and leaves those without gaps in
// the bins.
func (s *roomSearch) bound() {
	s.enough = Forever
	sum := s.ready
	for k := range s.last + 1 {
		if sum += s.opens[k]; sum >= s.n {
			s.enough = s.after + behind(k)
			break
		}
	}
	for _, g := range s.gapped {
		s.opensAt(g.steps.idle[g.node], -s.parts[g.part].full)
	}
}

// behind is the distance of the first instant behind a bin.
func behind(k int) int64 {
	k++
	if k < 1<<binBits {
		return int64(k)
	}
	octave := k>>binBits - 1
	if octave+binBits >= 62 {
		return Forever / 2
	}
	return int64(1<<binBits|k&(1<<binBits-1)) << octave
}

// gaps counts the gaps of a node.
func (s *roomSearch) gaps(g gapped) {
	p, list := &s.parts[g.part], g.steps.lists[g.node]
	stop := Forever - 1 - s.d
	if s.enough < stop-s.d {
		stop = s.enough + s.d
	}
	i := len(list) - 1
	for list[i].At > s.after {
		i--
	}
	open, height := s.stack[:0], int64(0)
	for ; i < len(list) && list[i].At <= stop; i++ {
		now := p.room(list[i].Load)
		at := max(list[i].At, s.after)
		switch {
		case now > height:
			open = append(open, event{at, now})
		case now < height:
			since := at
			for len(open) > 0 && open[len(open)-1].chunks > now {
				top := open[len(open)-1]
				open = open[:len(open)-1]
				rest := now
				if len(open) > 0 {
					rest = max(rest, open[len(open)-1].chunks)
				}
				if since = top.at; at-s.d >= since {
					s.gap(since, at-s.d, top.chunks-rest)
				}
			}
			if now > 0 && (len(open) == 0 || open[len(open)-1].chunks < now) {
				open = append(open, event{since, now})
			}
		}
		height = now
	}
	below := int64(0)
	for _, e := range open {
		s.gap(e.at, Forever, e.chunks-below)
		below = e.chunks
	}
	s.stack = open
}

// gap counts chunks that could begin from an instant on until another.
func (s *roomSearch) gap(from, last, chunks int64) {
	if from > s.enough {
		return
	}
	s.opensAt(from, chunks)
	if from > s.after {
		s.opening = append(s.opening, event{from, chunks})
	}
	if last <= s.enough {
		s.shutsAt(last, chunks)
		s.shutting = append(s.shutting, event{last, chunks})
	}
}

// rescans is how many bins are looked into one by one before all that is left is sorted.
const rescans = 4

// earliest finds the first instant at which n chunks could begin.
func (s *roomSearch) earliest() (int64, bool) {
	if s.ready >= s.n {
		return s.after, true
	}
	could, looked := s.ready, 0
	for k := range s.last + 1 {
		if s.opens[k] > 0 && could+s.opens[k] >= s.n {
			from, to := s.after+behind(k-1), s.after+behind(k)
			if looked++; looked > rescans {
				to = Forever
			}
			if at, ok := s.between(from, to, could); ok || to == Forever {
				return at, ok
			}
		}
		could += s.opens[k] - s.shuts[k]
	}
	return 0, false
}

// between finds it in [from, to), given how many chunks could begin just before.
func (s *roomSearch) between(from, to, could int64) (int64, bool) {
	within := func(list []event) []event {
		var out []event
		for _, e := range list {
			if e.at >= from && e.at < to {
				out = append(out, e)
			}
		}
		slices.SortFunc(out, func(a, b event) int { return cmp.Compare(a.at, b.at) })
		return out
	}
	tails := s.bin[:0]
	for part := range s.parts {
		p := &s.parts[part]
		for number, word := range p.words {
			if p.full == 0 || word == 0 {
				continue
			}
			steps := s.stepsOf(uint32(number), word)
			for rest := word; rest != 0; rest &= rest - 1 {
				i := lowest(rest)
				if idle := steps.idle[i]; idle >= from && idle < to && idle > s.after && !steps.gapped(i, p.Idle, s.d) {
					tails = append(tails, event{idle, p.full})
				}
			}
		}
	}
	s.bin = tails
	opens, shuts := within(append(tails, s.opening...)), within(s.shutting)
	i := 0
	for k, e := range opens {
		for ; i < len(shuts) && shuts[i].at < e.at; i++ {
			could -= shuts[i].chunks
		}
		if could += e.chunks; could >= s.n && (k+1 == len(opens) || opens[k+1].at > e.at) {
			return e.at, true
		}
	}
	return 0, false
}

// at is the nodes with room at an instant.
func (s *roomSearch) at(t int64) Found {
	most := 0
	for i := range s.parts {
		most = max(most, len(s.parts[i].words))
	}
	words := make([]uint64, 2*most)
	fit, free := words[:most], words[most:]
	for part := range s.parts {
		p := &s.parts[part]
		for number, word := range p.words {
			if p.full == 0 || word == 0 {
				continue
			}
			steps := s.stepsOf(uint32(number), word)
			for rest := word; rest != 0; rest &= rest - 1 {
				i := lowest(rest)
				switch {
				case steps.idle[i] <= t:
					free[number] |= rest & -rest
				case steps.gapped(i, p.Idle, s.d) && p.throughout(steps.lists[i], t, t+s.d):
					fit[number] |= rest & -rest
				}
			}
		}
	}
	for i := range fit {
		fit[i] |= free[i]
	}
	return Found{At: t, Fit: roaring.FromDense(fit, true), Free: roaring.FromDense(free, true)}
}

// throughout reports whether a node has room for a chunk in [from, to).
func (p *roomPart) throughout(list []Step, from, to int64) bool {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].At < to && p.room(list[i].Load) == 0 {
			return false
		}
		if list[i].At <= from {
			break
		}
	}
	return true
}
