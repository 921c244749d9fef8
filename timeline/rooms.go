package timeline

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// When is there room for n chunks on some nodes for d, all at the same time? Many nodes have
// room for several, and more at one time than at another. The idea is that of
// calendar_search.go, but with steps, and gaps have a height: the number of chunks that fit
// into them. A gap that opens for w more chunks at from, and shuts for them after last, adds w
// to what could start in between. A node's gaps are found in one walk over its steps, with a
// stack of those still open, each higher than the one below.
//
// For each node, the search keeps a lower bound before which no chunk fits. So nodes with
// later bounds need not be examined to know what could start before an instant. A search first
// examines only as many nodes as could have room for n chunks by their bounds, then twice as
// many, and so on until it has examined all nodes that matter for the instant found. It counts
// the instants in bins, and sorts only the bin that decides.

// Room describes nodes that are alike for a search.
type Room struct {
	Nodes *roaring.Bitmap         // the nodes; sets of one search are disjoint
	Idle  bool                    // only nodes with nothing on them have room
	Units func(taken Taken) int64 // how many chunks a node with this much taken has room for
	Key   string                  // equal if a chunk has room beside the same amounts
}

// Found is the result of a search for room.
type Found struct {
	At   int64
	Fit  *roaring.Bitmap // the nodes with room for a chunk then
	Free *roaring.Bitmap // the nodes that are idle for good by then
}

// roomSearch is a search under way. Its memory is reused by the next search.
type roomSearch struct {
	*Calendar
	n, d, after int64
	before      int64 // starts from here on are not wanted
	until       int64 // later starts are not wanted yet
	lower       map[lowerKey]*lower
	lowers      []*lower // all of them
	lowerBlocks int      // approximate number of blocks they are for

	*roomBins // nil before the first search for more than one chunk
	lastMay   int
	ready     int64 // chunks that could begin at after
	last      int   // the highest bin in use
	opening   []event
	shutting  []event
	parts     []roomPart
	some      bool     // a search of some nodes only
	among     []uint64 // those nodes, as words
	own       ownSteps
	swept     bool // some search was for all nodes of a request
	stack     []event
	bin       []event
}

// roomBins counts chunks by bin.
type roomBins struct {
	may          [bins]int64 // chunks that may begin, by the bounds
	opens, shuts [bins]int64 // chunks that could begin
}

// roomPart is a Room in a search.
type roomPart struct {
	*Room
	*lower
	words  []uint64
	search uint64      // numbers the searches that this memory was used for
	n      int64       // the chunks that are wanted: more are not counted
	units  []roomUnits // by Taken
	full   int64       // of a node with nothing on it
}

// roomUnits is how many chunks have room beside a Taken, as a search has found.
type roomUnits struct {
	search uint64
	chunks int64
}

func (p *roomPart) room(taken Taken) int64 {
	if more := int(taken) + 1 - len(p.units); more > 0 {
		p.units = append(p.units, make([]roomUnits, more)...)
	}
	u := &p.units[taken]
	if u.search != p.search {
		*u = roomUnits{p.search, min(max(p.Units(taken), 0), p.n)}
	}
	return u.chunks
}

// Stepped reports whether there was a search for room on all nodes of a request since the
// clock was set. That makes the next one fast.
func (c *Calendar) Stepped() bool { return c.rooms != nil && c.rooms.swept }

// Own is what an owner has of some nodes, and would give back for the room it needs.
type Own struct {
	Owner uint64
	Nodes []uint32
}

// FindRoom finds the first instant from after on at which nodes have room for n chunks, at least one,
// throughout d. known is false if jobs want to share nodes only with jobs of their own user.
// Fit is nil if there is no such instant.
func (c *Calendar) FindRoom(rooms []Room, n, d, after int64) (found Found, known bool) {
	s := c.roomSearch(n, d, after, Forever)
	s.swept = true
	at, ok, known := s.search(rooms)
	if !ok {
		return Found{}, known
	}
	return s.at(at), true
}

// RoomBefore returns the first instant in [from, to) at which nodes, or some nodes among them,
// have room for n chunks throughout d, or to if there is none. The asking owner's part counts
// as given back. A nil among means all. known is false if jobs want to share nodes only with
// jobs of their own user, or if the owner has something within a claim.
func (c *Calendar) RoomBefore(rooms []Room, among *roaring.Bitmap, own Own, n, d, from, to int64) (at int64,
	known bool) {
	s := c.roomSearch(n, d, from, to)
	if s.some = among != nil; s.some {
		s.among = denseOf(s.among, among)
	}
	s.own.Own = own
	at, ok, known := s.search(rooms)
	if !ok {
		at = to
	}
	s.some, s.own.Own = false, Own{}
	return at, known
}

// roomSearch begins a search with the memory of earlier ones.
func (c *Calendar) roomSearch(n, d, after, before int64) *roomSearch {
	if c.rooms == nil {
		c.rooms = &roomSearch{Calendar: c, lower: make(map[lowerKey]*lower)}
	}
	c.rooms.n, c.rooms.d, c.rooms.after, c.rooms.before = n, d, max(after, c.now), before
	return c.rooms
}

// forget drops the findings of earlier searches, and keeps their memory.
func (s *roomSearch) forget() {
	clear(s.lower)
	s.lowers, s.lowerBlocks, s.swept = nil, 0, false
}

// search finds the first instant at which there is room; ok is false if there is none.
func (s *roomSearch) search(rooms []Room) (at int64, ok, known bool) {
	if s.n < 1 || s.d < 1 || s.after > Forever-s.d || s.after >= s.before {
		return 0, false, true
	}
	if !s.begin(rooms) {
		return 0, false, false
	}
	if s.n == 1 {
		at = s.one()
		return at, at < min(s.before, Forever-s.d) && s.err == nil, true
	}
	s.count()
	last := min(s.lastMay, bin(s.before-1-s.after))
	for want := s.n; ; {
		k, may := s.enough(want, last)
		if may < s.n {
			return 0, false, true
		}
		s.walk(k)
		at, ok = s.earliest()
		if ok || k == last || s.err != nil {
			return at, ok && at < s.before && s.err == nil, true
		}
		want = 2 * may
	}
}

// begin gets the parts ready. It reports whether steps can tell.
func (s *roomSearch) begin(rooms []Room) bool {
	if more := len(rooms) - cap(s.parts); more > 0 {
		s.parts = append(s.parts[:cap(s.parts)], make([]roomPart, more)...)
	}
	s.parts = s.parts[:len(rooms)] // with the memory of parts that searches of fewer rooms did not need
	for i := range rooms {
		p := &s.parts[i]
		p.Room, p.search, p.n = &rooms[i], p.search+1, s.n
		p.words = denseOf(p.words, p.Nodes)
		if s.some {
			p.words = p.words[:min(len(p.words), len(s.among))]
			for i := range p.words {
				p.words[i] &= s.among[i]
			}
		}
		if s.takens == nil {
			s.takens = newTakenTable()
		}
		if p.full = p.room(NothingTaken); p.full > 0 {
			p.lower = s.lowerOf(p)
		}
	}
	if !s.ownAside() {
		return false
	}
	for i := range s.parts {
		if p := &s.parts[i]; p.full > 0 && !s.steps(p) {
			return false
		}
	}
	return true
}

// steps brings the steps of a part's nodes up to date, and reports whether they can tell.
func (s *roomSearch) steps(p *roomPart) bool {
	for number, word := range p.words {
		if word != 0 && s.stepsOf(uint32(number), word).peculiar&word != 0 {
			return false
		}
	}
	return true
}

// denseOf returns a bitmap as words, in reused memory.
func denseOf(words []uint64, of *roaring.Bitmap) []uint64 {
	size := int(of.DenseSize())
	words = slices.Grow(words[:0], size)[:size]
	clear(words)
	of.WriteDenseTo(words)
	return words
}

// count counts the chunks that may begin, by the bounds.
func (s *roomSearch) count() {
	if s.roomBins == nil {
		s.roomBins = new(roomBins)
	}
	clear(s.may[:s.lastMay+1])
	s.lastMay = 0
	for _, i := range s.own.parts {
		s.may[0] += s.parts[i].full
	}
	for i := range s.parts {
		p := &s.parts[i]
		if p.full == 0 {
			continue
		}
		for number, word := range p.words {
			if word == 0 {
				continue
			}
			block := p.block(number)
			for rest := word; rest != 0; rest &= rest - 1 {
				k := bin(block[lowest(rest)].after(s.after) - s.after)
				s.lastMay = max(s.lastMay, k)
				s.may[k] += p.full
			}
		}
	}
}

// enough returns the first bin up to which that many chunks may begin, or the last bin, and
// how many may.
func (s *roomSearch) enough(want int64, last int) (k int, may int64) {
	for k = range last + 1 {
		if may += s.may[k]; may >= want {
			break
		}
	}
	return k, may
}

// walk counts the chunks that could begin up to a bin. For the last bin it examines all nodes,
// because their bounds may have risen since they were counted.
func (s *roomSearch) walk(upTo int) {
	clear(s.opens[:s.last+1])
	clear(s.shuts[:s.last+1])
	s.ready, s.last, s.opening, s.shutting = 0, 0, s.opening[:0], s.shutting[:0]
	s.until = min(Forever-1-s.d, s.before-1)
	if ahead := behind(upTo); upTo < s.lastMay && ahead <= s.until-s.after {
		s.until = s.after + ahead - 1
	}
	for i := range s.parts {
		p := &s.parts[i]
		if p.full == 0 {
			continue
		}
		for number, word := range p.words {
			if word == 0 {
				continue
			}
			steps, block := s.stepsOf(uint32(number), word), p.block(number)
			for rest := word; rest != 0; rest &= rest - 1 {
				i := lowest(rest)
				from := block[i].after(s.after)
				if from > s.until {
					continue
				}
				if first := s.gaps(p, steps, i, from); p.d == s.d {
					block[i].found(s.after, first)
				}
			}
		}
	}
	for i, own := range s.own.parts {
		s.gaps(&s.parts[own], s.own.steps[i/BlockNodes], uint32(i%BlockNodes), s.after)
	}
}

// gapped reports whether a node has a gap of length d before it is idle for good.
func (s *stepBlock) gapped(i uint32, idle bool, d int64) bool {
	if idle {
		return s.idleGap[i] >= d
	}
	return s.openGap[i] >= d || s.open[i] != s.idle[i]
}

// at returns the nodes with room at an instant.
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
			steps, block := s.stepsOf(uint32(number), word), p.block(number)
			for rest := word; rest != 0; rest &= rest - 1 {
				i := lowest(rest)
				switch {
				case block[i].after(t) > t:
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
	for i := stepAt(list, from); i < len(list) && list[i].At < to; i++ {
		if p.room(list[i].Taken) == 0 {
			return false
		}
	}
	return true
}
