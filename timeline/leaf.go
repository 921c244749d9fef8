package timeline

import (
	"math"
	"slices"
)

// leafCap is the most points in a leaf. Smaller leaves make for shorter sweeps. Larger ones
// make for fewer leaves whose free runs must be measured again after scattered changes. Of 64,
// 128 and 256 this is the best compromise; bench/timeline has the figures.
const leafCap = 128

// A leaf holds neighbouring points of a profile: from time[i] up to the next point, used[i] is
// taken, relative to the amounts pending in the nodes above.
//
// A leaf covers [time[0], end) for as long as it exists. So its first point stays, with a
// count of zero, when the last span that begins or ends there is removed. Every other point
// has a count above zero.
type leaf struct {
	n    int
	end  int64
	time [leafCap]int64
	used [leafCap]int64
	refs [leafCap]uint32 // number of live spans that begin or end here
	runs runs
}

// stride is the distance between the elements that find compares first.
const stride = 16

// find returns the index of the last element not above t. The first element must not be above
// t, and differences must fit an int64, as those between moments of a plan do.
//
// It counts the elements not above t, first every 16th and then one by one. That takes more
// comparisons than binary search, but none waits for the one before it, and no branch depends
// on the data. At the sizes of a node it is at least a third faster.
func find(a []int64, t int64) int {
	if a[len(a)-1] <= t {
		return len(a) - 1 // plans grow at their end
	}
	n := int64(0)
	for k := stride; k < len(a); k += stride {
		n -= (a[k] - t - 1) >> 63 // the sign bit says a[k] <= t
	}
	i := int(n) * stride
	n = 0
	for _, v := range a[i+1 : min(i+stride, len(a))] {
		n -= (v - t - 1) >> 63
	}
	return i + int(n)
}

// findAgain is find by binary search. Its branches depend on the data. But a scheduler
// searches from the same moment for one job after the other, and a processor predicts branches
// that are the same each time.
func findAgain(a []int64, t int64) int {
	i := 0
	for n := len(a); n > 1; {
		half := n >> 1
		if a[i+half] <= t {
			i += half
		}
		n -= half
	}
	return i
}

func (l *leaf) find(t int64) int { return find(l.time[:l.n], t) }

// insert puts a point at position i > 0, a continuation of the one before it.
func (l *leaf) insert(i int, t int64) {
	if i < l.n {
		copy(l.time[i+1:l.n+1], l.time[i:l.n])
		copy(l.used[i+1:l.n+1], l.used[i:l.n])
		copy(l.refs[i+1:l.n+1], l.refs[i:l.n])
	}
	l.time[i], l.used[i], l.refs[i] = t, l.used[i-1], 1
	l.n++
}

// release gives back a reference to point i. With the last one it removes the point, unless
// the leaf begins there. By then the point has the same amount as the one before.
func (l *leaf) release(i int) {
	l.refs[i]--
	if l.refs[i] > 0 || i == 0 {
		return
	}
	copy(l.time[i:l.n-1], l.time[i+1:l.n])
	copy(l.used[i:l.n-1], l.used[i+1:l.n])
	copy(l.refs[i:l.n-1], l.refs[i+1:l.n])
	l.n--
}

// split moves the points from i on into a new leaf.
func (l *leaf) split(i int) *leaf {
	r := &leaf{n: l.n - i, end: l.end}
	copy(r.time[:], l.time[i:l.n])
	copy(r.used[:], l.used[i:l.n])
	copy(r.refs[:], l.refs[i:l.n])
	l.n, l.end = i, r.time[0]
	return r
}

// absorb appends the points of the leaf that follows.
func (l *leaf) absorb(r *leaf) {
	from := 0
	if r.refs[0] == 0 {
		from = 1 // it was kept only as the start of r
	}
	copy(l.time[l.n:], r.time[from:r.n])
	copy(l.used[l.n:], r.used[from:r.n])
	copy(l.refs[l.n:], r.refs[from:r.n])
	l.n, l.end = l.n+r.n-from, r.end
}

// bounds returns the least and the greatest amount in the leaf.
func (l *leaf) bounds() (lo, hi int64) {
	return bounds(l.used[:l.n])
}

func bounds(a []int64) (lo, hi int64) {
	lo, hi = math.MaxInt64, math.MinInt64
	for _, v := range a {
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi
}

// shift adds delta to the points [i, j). Given the leaf's old bounds, it returns the new ones.
// An addition can only raise the upper bound, and the lower one only if no point is left on
// it. A subtraction works the other way round.
func (l *leaf) shift(i, j int, delta, lo, hi int64) (int64, int64) {
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	touched := l.used[i:j]
	for k, v := range touched {
		v += delta
		touched[k] = v
		least, most = min(least, v), max(most, v)
	}
	if delta > 0 && least-delta == lo && !l.has(lo, i, j) || delta < 0 && most-delta == hi && !l.has(hi, i, j) {
		return l.bounds()
	}
	return min(lo, least), max(hi, most)
}

// has reports whether a point outside [i, j) has the amount.
func (l *leaf) has(amount int64, i, j int) bool {
	return slices.Contains(l.used[j:l.n], amount) || slices.Contains(l.used[:i], amount)
}

// peak returns the greatest amount used in [from, to).
func (l *leaf) peak(from, to int64) int64 {
	i := 0
	if from > l.time[0] {
		i = l.find(from)
	}
	most := l.used[i]
	for i++; i < l.n && l.time[i] < to; i++ {
		most = max(most, l.used[i])
	}
	return most
}
