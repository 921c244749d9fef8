package placer

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
)

// speed returns the speed used to balance nodes: that of their processors, else their own.
func (s *seeker) speed(sp *spot) float64 {
	row := s.traitsOf(sp)
	if row == nil {
		return balancedBy(index.Speed{})
	}
	return balancedBy(index.Speed{Node: row.Speed, Processors: row.ProcSpeed})
}

func balancedBy(speed index.Speed) float64 {
	switch {
	case speed.Processors != 0:
		return speed.Processors
	case speed.Node != 0:
		return speed.Node
	}
	return 1
}

// maxSpeeds is the largest number of speeds for which each speed's nodes are tried separately.
const maxSpeeds = 64

// oneSpeed returns the nodes of a speed that alone holds a request of one kind of chunk. If several
// do, it takes the speed with the first node. It is nil if none does, or if bitmaps do not tell
// speeds.
func (s *seeker) oneSpeed(cands []index.Candidate) iter.Seq[*spot] {
	speeds, known := s.evenSpeeds()
	if !known {
		return nil
	}
	rooms, need := s.roomsFor(0), s.Chunks[0].Count
	var first found
	var best *roaring.Bitmap
	for _, nodes := range speeds {
		var front found
		held := 0
		for f := range s.inOrderAmong(0, cands, nodes) {
			n := rooms.on(f)
			if n == 0 {
				continue
			}
			if held == 0 {
				if front = f; best != nil && first.before(f) {
					break
				}
			}
			if held += n; held >= need {
				first, best = front, nodes
				break
			}
		}
	}
	if best == nil {
		return nil
	}
	return func(yield func(*spot) bool) { s.spotsAmong(0, cands, best, yield) }
}

// evenSpeeds returns the nodes of each speed used for balancing. known is false if there are very
// many speeds, or if two differ but count as equal.
func (s *seeker) evenSpeeds() (speeds map[float64]*roaring.Bitmap, known bool) {
	speeds = make(map[float64]*roaring.Bitmap)
	rest := roaring.Flip(roaring.New(), 0, uint64(s.Index.Limits().Nodes))
	add := func(speed float64, nodes *roaring.Bitmap) {
		if speeds[speed] == nil {
			speeds[speed] = roaring.New()
		}
		speeds[speed].Or(nodes)
	}
	for speed, nodes := range s.Index.Speeds() {
		add(balancedBy(speed), nodes)
		if rest.AndNot(nodes); len(speeds) > maxSpeeds {
			return nil, false
		}
	}
	add(balancedBy(index.Speed{}), rest)
	sorted := slices.Sorted(maps.Keys(speeds))
	for i := 1; i < len(sorted); i++ {
		if width(sorted[i-1], sorted[i]) == 0 {
			return nil, false
		}
	}
	return speeds, true
}

// width returns the distance of two speeds. It makes 2.6 to 2.8 no narrower than 2.4 to 2.6, in
// spite of rounding in float64.
func width(lo, hi float64) float64 { return math.Round((hi - lo) * 1e6) }

// balanced yields the spans of speed that hold the request, the smallest first. For each slowest
// speed it tries only the narrowest span.
func (s *seeker) balanced(members []member) iter.Seq[[]member] {
	speeds := make([]float64, len(members))
	for i := range members {
		speeds[i] = members[i].speed
	}
	distinct := slices.Clone(speeds)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	sums := make([][]int, len(distinct))
	first := make([]int, len(distinct))
	for i := range sums {
		sums[i], first[i] = make([]int, len(s.Chunks)), math.MaxInt
	}
	for i := range members {
		d, _ := slices.BinarySearch(distinct, speeds[i])
		first[d] = min(first[d], i)
		for k, n := range members[i].per {
			sums[d][k] += n
		}
	}
	type span struct {
		lo, hi float64
		first  int
	}
	var spans []span
	held, hi := make([]int, len(s.Chunks)), 0
	short := func() bool {
		return slices.ContainsFunc(indices(len(held)), func(k int) bool { return held[k] < s.Chunks[k].Count })
	}
	for lo := range distinct {
		for hi < len(distinct) && short() {
			for k, n := range sums[hi] {
				held[k] += n
			}
			hi++
		}
		if short() {
			break
		}
		spans = append(spans, span{distinct[lo], distinct[hi-1], slices.Min(first[lo:hi])})
		for k, n := range sums[lo] {
			held[k] -= n
		}
	}
	slices.SortStableFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(width(a.lo, a.hi), width(b.lo, b.hi)), cmp.Compare(a.first, b.first))
	})
	return func(yield func([]member) bool) {
		for _, sp := range spans[:min(len(spans), maxParts)] {
			var part []member
			for i := range members {
				if speeds[i] >= sp.lo && speeds[i] <= sp.hi {
					part = append(part, members[i])
				}
			}
			if !yield(part) {
				return
			}
		}
		yield(members)
	}
}
