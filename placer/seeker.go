package placer

import (
	"iter"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// A seeker is one search of the node path, at one instant. The node path examines nodes one by one,
// only as far as it must. Bitmaps say which nodes could have the resources asked for; the calendar
// says how much of each is left throughout the request's time. A spot holds what it knows of a
// node.
type seeker struct {
	*mapping
	at, end int64
	ended   *roaring.Bitmap // nil: the instant is now
	empty   bool            // treat all nodes as empty
	exact   bool            // if chunks do not fit a row in order, try any assignment in the row
	peak    []int64
	spots   map[uint32]*spot // the nodes examined; nil for those of no use
	rooms   []*roaring.Bitmap
	hosts   map[string]bool // hosts that a scattered request already has a chunk on
	journal []taking
	guest   Guest
	net     *network
	pers    []int      // the memory for the per of members
	gaveUp  bool       // a search took too many steps
	traits  index.Node // of the node examined last
	blank   index.Node // the row of a node that has nothing of its own
	taken   []index.Amount
}

// spot is a node that could serve some of the request.
type spot struct {
	node   uint32
	bucket *index.Bucket
	class  index.Class
	level  level
	sharing
	left   []int64     // of each of the request's quantities
	kind   int         // the chunk of the select that it serves, -1 for none yet
	chunks int         // how many of that chunk it serves
	within uint64      // the reservation to take amounts from
	row    *index.Node // as far as read; valid until another node is examined
}

// sharing says how the request would use a node together with others.
type sharing struct {
	whole bool   // it takes the whole node
	one   bool   // at most one of its chunks
	alone bool   // only beside jobs of its own user
	host  string // the host that the node shares with others, "" if it shares none
	all   bool   // it takes every node of the host
}

// level is a class of nodes. All nodes of a level are tried before those of the next.
type level int8

// The levels, by the affinity of the reservation that the request would use.
const (
	required level = iota
	attracted
	neutral
	unreserved
	repelled
)

// taking is a step that can be undone.
type taking struct {
	*spot
	kind, chunks, was int
	host              string
}

func (m *mapping) seek(at int64, ended *roaring.Bitmap, empty bool) *seeker {
	return &seeker{mapping: m, at: at, end: at + m.Duration, ended: ended, empty: empty,
		peak: make([]int64, len(m.quantities)), spots: make(map[uint32]*spot),
		rooms: make([]*roaring.Bitmap, len(m.Chunks)), guest: Guest{Grants: m.Grants}}
}

// quantitiesOf returns the consumables that chunks ask for, ascending.
func quantitiesOf(defs *index.Defs, chunks []Chunk) []uint16 {
	var out []uint16
	for _, c := range chunks {
		for _, w := range c.Wants {
			if def, ok := defs.Get(w.Res); ok && def.Consumable && w.Value.Num > 0 && !slices.Contains(out,
				uint16(w.Res)) {
				out = append(out, uint16(w.Res))
			}
		}
	}
	slices.Sort(out)
	return out
}

// spotAt returns what a node has left, or nil if it is of no use.
func (s *seeker) spotAt(node uint32, b *index.Bucket, class index.Class) *spot {
	sp, known := s.spots[node]
	if !known {
		sp = new(spot)
		if !s.look(sp, node, b, class) {
			sp = nil
		} else {
			sp.row = nil
		}
		s.spots[node] = sp
	}
	return sp
}

// look fills a spot, and reports whether the node takes the request at all. It reuses the spot's
// slice left.
func (s *seeker) look(sp *spot, node uint32, b *index.Bucket, class index.Class) bool {
	*sp = spot{node: node, bucket: b, class: class, level: unreserved, left: sp.left[:0], kind: -1}
	if s.ruled.Contains(node) {
		if sp.row = s.row(node); sp.row == nil {
			return false
		}
	}
	row := sp.row
	sp.sharing = s.sharingOn(row)
	if sp.one && s.severalPacked() {
		return false
	}
	for _, q := range s.quantities {
		sp.left = append(sp.left, s.of(sp, index.ResID(q)))
	}
	if s.empty {
		return true
	}
	if len(s.Grants) > 0 && !s.admit(sp) {
		return false
	}
	if class == index.Free {
		return true
	}
	switch s.Calendar.Taken(node, s.at, s.end, &s.guest, s.quantities, s.peak) {
	case timeline.Whole:
		return false
	case timeline.Open:
		if sp.whole || !s.company(node, sp.alone || row != nil && row.Access == index.AccessSingleUser) {
			return false
		}
		for q := range sp.left {
			sp.left[q] = max(0, sp.left[q]-s.peak[q])
		}
	}
	return sp.within == 0 || s.inClaim(sp)
}

// row reads a node's row. It returns nil if that fails, and records the failure.
func (m *mapping) row(node uint32) *index.Node {
	n, err := m.Rows.Node(node)
	if err != nil {
		m.Index.Fail(err)
		return nil
	}
	return n
}

// traitsOf returns the traits that distinguish a spot's node from others of its bucket, or nil if
// there are none.
func (s *seeker) traitsOf(sp *spot) *index.Node {
	if sp.row == nil && s.ranked.Contains(sp.node) {
		sp.row = &s.traits
		if err := s.Rows.Traits(sp.node, sp.row); err != nil {
			s.Index.Fail(err)
			sp.row = &s.blank
		}
	}
	return sp.row
}

// of returns how much of a resource a spot's node has. If the signature includes the resource, the
// bucket says; otherwise the row.
func (s *seeker) of(sp *spot, id index.ResID) int64 {
	if !s.Index.Signed(id) {
		if row := s.traitsOf(sp); row != nil {
			v, _ := row.Get(id)
			return v.Num
		}
	}
	v, _ := sp.bucket.Get(id)
	return v.Num
}

// sharingOn returns how the request would use a node. A nil row means a node without rules of its
// own. The rules follow PBS's vnode attribute sharing.
func (m *mapping) sharingOn(row *index.Node) sharing {
	var how sharing
	share, access := m.Spec.Place.Share, m.Access
	if row != nil {
		access = access.Stricter(row.Access)
		if host, ok := row.Get(index.Host); ok && host.Str != row.Name || m.hosts != nil && m.hosts[row.Name] {
			if how.host = row.Name; ok {
				how.host = host.Str
			}
		}
		switch row.Sharing {
		case index.ForceExcl:
			share = max(share, Excl)
		case index.ForceExclHost:
			share = ExclHost
		case index.DefaultExcl:
			if share == Default {
				share = Excl
			}
		case index.DefaultExclHost:
			if share == Default {
				share = ExclHost
			}
		case index.IgnoreExcl:
			share = Shared
		}
	}
	how.whole = share == Excl || share == ExclHost
	how.all = share == ExclHost && how.host != ""
	switch access {
	case index.AccessSingleTask:
		how.whole, how.one = true, true
	case index.AccessSingleJob:
		how.whole = true
	case index.AccessSingleUser:
		how.alone = !how.whole
	}
	how.one = how.one || m.Spec.Place.Arrange == Scatter || m.Spec.Place.Arrange == VScatter
	return how
}

// company reports whether the request's user may share a node with the jobs on it during its time.
// alone says that they must be of the same user.
func (s *seeker) company(node uint32, alone bool) bool {
	for _, b := range s.Calendar.At(node) {
		if b.Start >= s.end || s.Calendar.End(b) <= s.at || b.Claim || b.Use == nil || !alone && !b.Use.Alone {
			continue
		}
		user, err := s.Rows.User(b.Owner)
		if err != nil {
			s.Index.Fail(err)
			return false
		}
		if user != s.User {
			return false
		}
	}
	return true
}

// holds returns how many more chunks of a kind a spot could take, up to need.
func (s *seeker) holds(sp *spot, kind, need int) int {
	if sp.chunks > 0 && (sp.one || sp.whole && sp.kind != kind && !s.together) ||
		sp.host != "" && s.Spec.Place.Arrange == Scatter && s.hosts[sp.host] {
		return 0
	}
	if sp.one {
		need = min(need, 1)
	}
	for _, w := range s.Chunks[kind].Wants {
		if q, ok := slices.BinarySearch(s.quantities, uint16(w.Res)); ok && w.Value.Num > 0 {
			need = min(need, int(min(sp.left[q]/w.Value.Num, index.Unlimited)))
		}
	}
	return need
}

// take assigns chunks of a kind to a spot.
func (s *seeker) take(sp *spot, kind, chunks int) {
	s.journal = append(s.journal, taking{sp, kind, chunks, sp.kind, ""})
	sp.kind = kind
	s.move(sp, kind, chunks)
	if s.Spec.Place.Arrange == Scatter && sp.host != "" {
		if s.hosts == nil {
			s.hosts = make(map[string]bool)
		}
		s.hosts[sp.host] = true
		s.journal[len(s.journal)-1].host = sp.host
	}
}

func (s *seeker) move(sp *spot, kind, chunks int) {
	sp.chunks += chunks
	for _, w := range s.Chunks[kind].Wants {
		if q, ok := slices.BinarySearch(s.quantities, uint16(w.Res)); ok {
			sp.left[q] -= int64(chunks) * w.Value.Num
		}
	}
}

// undo reverts all assignments.
func (s *seeker) undo() { s.undoTo(0) }

// undoTo reverts the assignments made since the journal had length mark.
func (s *seeker) undoTo(mark int) {
	for _, t := range slices.Backward(s.journal[mark:]) {
		s.move(t.spot, t.kind, -t.chunks)
		t.spot.kind = t.was
		delete(s.hosts, t.host)
	}
	s.journal = s.journal[:mark]
}

// Some policies can say which nodes come first without examining all that could serve the request.
// Each has its way: groups of nodes that score the same (rank_groups.go, rank_static.go), bounds of
// scores (rank_bounds.go), plans by time (rank_starts.go), the shortest row (pool_row.go) and nodes
// of one speed (pool_speed.go). One law holds for all: the nodes are those that examining all of
// them would give, in the same order. TestShortcuts compares.

// shortcut returns the order of a policy as far as it is known without examining all nodes. It is
// nil if it is unknown.
func (s *seeker) shortcut(cands [][]index.Candidate) ordered {
	switch {
	case len(s.Grants) > 0: // their levels take precedence over scores
		return nil
	case s.policy == MinResource || s.policy == CPULoad && s.at > s.Now:
		if s.allSigned() {
			return s.byBucket(cands)
		}
	case s.policy == Fastest:
		return s.bySpeed(cands, s.speeds())
	case s.policy == Local: // its program reads all candidates, which takes longer than scoring them
		return nil
	case s.policy == LastAvailable:
		return s.byNextStart(cands)
	case s.policy == Priority:
		return s.byPriority(cands)
	case s.policy == Contiguous && len(s.Chunks) == 1:
		return forOneKind(s.shortestRow(cands[0]))
	case s.policy == MaxBalance && len(s.Chunks) == 1:
		return forOneKind(s.oneSpeed(cands[0]))
	}
	return s.byBounds(cands)
}

// forOneKind returns the order of a request for chunks of one kind; nil for nil.
func forOneKind(nodes iter.Seq[*spot]) ordered {
	if nodes == nil {
		return nil
	}
	return func(int) iter.Seq[*spot] { return nodes }
}
