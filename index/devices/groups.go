package devices

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Distances says how far apart groups are, by number, as for NUMA nodes: 10 from a group to
// itself, more to others. Groups without a given distance are 20 apart.
type Distances [][]int

func (d Distances) between(a, b int) int {
	switch {
	case a < len(d) && b < len(d[a]):
		return d[a][b]
	case a == b:
		return 10
	}
	return 20
}

// Valid reports whether the distances are square, and within the limits of groups and
// distances.
func (d Distances) Valid() bool {
	for _, row := range d {
		if len(row) != len(d) || slices.ContainsFunc(row, func(n int) bool { return n < 0 || n > 255 }) {
			return false
		}
	}
	return len(d) <= MaxGroup+1
}

// ParseDistances reads 10,21;21,10: a line for each group.
func ParseDistances(text string) (Distances, error) {
	if text == "" {
		return nil, nil
	}
	var d Distances
	for line := range strings.SplitSeq(text, ";") {
		var row []int
		for word := range strings.SplitSeq(line, ",") {
			n, ok := parseNumber(word)
			if !ok {
				n = -1
			}
			row = append(row, n)
		}
		d = append(d, row)
	}
	if !d.Valid() {
		return nil, fmt.Errorf("%q is not a square of distances from 0 to 255: write 10,21;21,10", text)
	}
	return d, nil
}

// String writes the distances as ParseDistances reads them.
func (d Distances) String() string {
	lines := make([]string, len(d))
	for i, row := range d {
		words := make([]string, len(row))
		for k, n := range row {
			words[k] = strconv.Itoa(n)
		}
		lines[i] = strings.Join(words, ",")
	}
	return strings.Join(lines, ";")
}

// choice is how good a set of groups is. The first value that differs decides, and the smaller
// one is better.
type choice struct {
	distance, devices, left int
}

func (c choice) better(o choice) bool {
	return cmp.Or(cmp.Compare(c.distance, o.distance), cmp.Compare(c.devices, o.devices), cmp.Compare(c.left, o.left)) <
		0
}

// choose chooses the groups. Up to 8 groups, it examines all sets, the smallest first.
func (b *binding) choose() {
	if len(b.numbers) > few {
		b.chooseGreedily()
		return
	}
	b.in = b.memIn[:len(b.numbers)]
	free, packed := b.pack()
	alike := len(b.far) == 0 && !b.sliced() // sets of one size only differ in what is left over
	sets := &setsOfGroups()[len(b.numbers)]
	best := uint8(0)
	var how choice
	for size := b.least(); size <= len(b.numbers) && best == 0; size++ {
		for _, set := range sets[size] {
			left, ok := 0, false
			if packed {
				left, ok = free.left(set)
			} else {
				left, ok = b.left(set)
			}
			if !ok {
				continue
			}
			c := choice{left: left}
			if !alike {
				c.distance, c.devices = b.distance(set), b.cutDevices(set)
			}
			if best == 0 || c.better(how) {
				best, how = set, c
			}
			if alike && left == 0 {
				break
			}
		}
	}
	for k := range b.in {
		b.in[k] = best&(1<<k) != 0
	}
}

// sliced reports whether slices of devices are wanted.
func (b *binding) sliced() bool {
	return slices.ContainsFunc(b.wants, func(w Want) bool { return w.Layout.parents != nil })
}

// lanes holds how many devices are free in each group, 16 bits for each resource, so that one
// sum adds up all resources.
type lanes struct {
	free [few]uint64
	need uint64 // complement of the amount needed: a lane with enough overflows into its highest bit
	top  uint64 // the highest bits
}

// lane is the number of bits for one resource, and laneTop the highest of them.
const (
	lane    = 16
	laneTop = 1 << (lane - 1)
)

// pack returns lanes with the counts; ok is false if they do not fit.
func (b *binding) pack() (l lanes, ok bool) {
	if len(b.counts) > 64/lane {
		return l, false
	}
	for w, row := range b.counts {
		sum := 0
		for k, n := range row {
			sum += n
			l.free[k] |= uint64(n) << (lane * w)
		}
		if sum >= laneTop {
			return l, false
		}
		l.need |= uint64(laneTop-b.wants[w].Count) << (lane * w)
		l.top |= laneTop << (lane * w)
	}
	return l, true
}

// left does what binding.left does.
func (l *lanes) left(set uint8) (left int, ok bool) {
	sum := l.need
	for ; set != 0; set &= set - 1 {
		sum += l.free[bits.TrailingZeros8(set)]
	}
	if sum&l.top != l.top {
		return 0, false
	}
	return int((sum ^ l.top) * 0x0001_0001_0001_0001 >> 48), true // all lanes added up
}

// least returns how many groups are needed at least, if those with the most free devices are
// taken.
func (b *binding) least() int {
	least := 1
	for w, row := range b.counts {
		var most [few]int
		for i, c := range row {
			for ; i > 0 && most[i-1] < c; i-- {
				most[i] = most[i-1]
			}
			most[i] = c
		}
		n, sum := 0, 0
		for ; sum < b.wants[w].Count; n++ {
			sum += most[n]
		}
		least = max(least, n)
	}
	return least
}

// left returns how many more free devices a set has than are wanted, of all resources; ok is
// false if it has too few of one.
func (b *binding) left(set uint8) (left int, ok bool) {
	for w, row := range b.counts {
		sum := -b.wants[w].Count
		for rest := set; rest != 0; rest &= rest - 1 {
			sum += row[bits.TrailingZeros8(rest)]
		}
		if sum < 0 {
			return 0, false
		}
		left += sum
	}
	return left, true
}

// distance returns the sum of the distances between all pairs of a set.
func (b *binding) distance(set uint8) (sum int) {
	if len(b.far) == 0 {
		return 0 // sets of the same size are alike
	}
	for x := set; x != 0; x &= x - 1 {
		for y := set; y != 0; y &= y - 1 {
			sum += b.far.between(b.numbers[bits.TrailingZeros8(x)], b.numbers[bits.TrailingZeros8(y)])
		}
	}
	return sum
}

// cutDevices returns on how many devices the wanted slices would be.
func (b *binding) cutDevices(set uint8) (devices int) {
	for w := range b.wants {
		want := &b.wants[w]
		if want.Layout.parents == nil {
			continue
		}
		var members Bits
		for i := range want.Layout.groups {
			if g := &want.Layout.groups[i]; set&(1<<slices.Index(b.numbers, g.number)) != 0 {
				members = members.Or(g.members)
			}
		}
		devices += len(want.Layout.byNeed(&group{members: members}, want.Free, want.Count))
	}
	return devices
}

// chooseGreedily takes group after group. Of the groups that have everything still needed, it
// takes the one with the fewest free devices. If there is none, it takes the group that has
// most of what is needed. Of equal ones it takes the nearest to those taken, then the lowest.
// If it always began with the fewest free devices, it would take as many groups as possible.
func (b *binding) chooseGreedily() {
	b.in = make([]bool, len(b.numbers))
	need := make([]int, len(b.wants))
	for w := range b.wants {
		need[w] = b.wants[w].Count
	}
	for slices.Max(need) > 0 {
		best, found := 0, false
		var how choice
		for k := range b.numbers {
			if b.in[k] {
				continue
			}
			if c, serves := b.greedy(k, need); serves && (!found || c.better(how)) {
				best, found, how = k, true, c
			}
		}
		if !found {
			return // count has made sure that there are enough
		}
		b.in[best] = true
		for w := range need {
			need[w] = max(0, need[w]-b.counts[w][best])
		}
	}
}

// greedy returns how good it is to take a group next. serves is false if the group has nothing
// that is needed.
func (b *binding) greedy(k int, need []int) (c choice, serves bool) {
	lacks, free, near := 0, 0, 0
	for w, n := range need {
		has := b.counts[w][k]
		serves = serves || n > 0 && has > 0
		lacks += max(0, n-has)
		free += has
	}
	for i := range b.numbers {
		if b.in[i] {
			near += b.far.between(b.numbers[k], b.numbers[i])
		}
	}
	return choice{lacks, near, free}, serves
}

// setsOfGroups holds all sets of n groups by their size, those with the lower groups first.
var setsOfGroups = sync.OnceValue(func() *[few + 1][few + 1][]uint8 {
	out := new([few + 1][few + 1][]uint8)
	for n := 1; n <= few; n++ {
		for set := 1; set < 1<<n; set++ {
			size := bits.OnesCount(uint(set))
			out[n][size] = append(out[n][size], uint8(set))
		}
		for _, sets := range &out[n] {
			slices.SortFunc(sets, func(a, b uint8) int { return cmp.Compare(bits.Reverse8(b), bits.Reverse8(a)) })
		}
	}
	return out
})
