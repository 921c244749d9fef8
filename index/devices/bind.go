package devices

import (
	"fmt"
	"strings"
)

// Policy says how devices are chosen among groups. The numbers are on disk and must not
// change.
type Policy uint8

// The policies. NoPolicy leaves it to a setting.
const (
	NoPolicy Policy = 0
	Compact  Policy = 1 // evenly from as few groups as possible
	Tight    Policy = 2 // from as few groups as possible, the first one filled before the next
	Scatter  Policy = 3 // evenly from all groups
)

var policyNames = []string{"", "compact", "tight", "scatter"}

// String returns the name of the policy.
func (p Policy) String() string {
	if p.Valid() {
		return policyNames[p]
	}
	return fmt.Sprintf("bind(%d)", uint8(p))
}

// Valid reports whether the policy exists.
func (p Policy) Valid() bool { return int(p) < len(policyNames) }

// ParsePolicy reads a policy in any case; an empty word is NoPolicy.
func ParsePolicy(s string) (Policy, error) {
	for i, name := range policyNames {
		if strings.EqualFold(s, name) {
			return Policy(i), nil
		}
	}
	return 0, fmt.Errorf("no bind %q: use compact, tight or scatter", s)
}

// Want is the wanted amount of one resource.
type Want struct {
	Layout *Layout
	Free   Bits // the devices that may be taken
	Count  int
}

// Bind chooses devices for everything that one chunk wants of a node, together: cores in the groups
// of its GPUs. It first chooses a set of groups with enough free devices of each resource: the
// fewest groups; of those the least sum of distances; then the fewest free devices left over; then
// the lowest groups. Inside the set the policy decides how many come from each group, and the
// lowest identities of a group are taken. It returns nil if too few devices of a resource are free.
func Bind(policy Policy, far Distances, wants []Want) []Bits {
	b := binding{far: far, wants: wants}
	if !b.count() {
		return nil
	}
	all := policy == Scatter || len(b.numbers) <= 1
	if !all {
		b.choose()
	}
	out := make([]Bits, len(wants))
	for w := range wants {
		b.share(w, policy == Tight, all, &out[w])
	}
	return out
}

// few is the largest number of groups that needs no allocation.
const few = 8

// binding holds the state of one call of Bind.
type binding struct {
	far     Distances
	wants   []Want
	numbers []int   // of the groups in which something is wanted, in order
	counts  [][]int // by want and then by group: how many are free
	in      []bool  // the chosen groups

	memNumbers [few]int // so that small bindings need no other memory
	memCounts  [2 * few]int
	memRows    [4][]int
	memIn      [few]bool
}

// count finds the groups and their free devices. It returns false if there are too few.
func (b *binding) count() bool {
	b.numbers = b.memNumbers[:0]
	for w := range b.wants {
		for i := range b.wants[w].Layout.groups {
			b.number(b.wants[w].Layout.groups[i].number)
		}
	}
	g := len(b.numbers)
	cells := b.memCounts[:]
	if len(b.wants)*g > len(cells) {
		cells = make([]int, len(b.wants)*g)
	}
	b.counts = b.memRows[:0]
	for w := range b.wants {
		want := &b.wants[w]
		row := cells[w*g : (w+1)*g : (w+1)*g]
		sum := 0
		for i, k := 0, 0; i < len(want.Layout.groups); i++ {
			gr := &want.Layout.groups[i]
			for b.numbers[k] != gr.number {
				k++
			}
			row[k] = gr.members.countIn(want.Free)
			sum += row[k]
		}
		if sum < want.Count {
			return false
		}
		b.counts = append(b.counts, row)
	}
	return true
}

// number adds a group, if it is new.
func (b *binding) number(n int) {
	i := len(b.numbers)
	for i > 0 && b.numbers[i-1] >= n {
		i--
	}
	if i < len(b.numbers) && b.numbers[i] == n {
		return
	}
	b.numbers = append(b.numbers, 0)
	copy(b.numbers[i+1:], b.numbers[i:])
	b.numbers[i] = n
}

// share chooses devices of one resource in the chosen groups, or in all.
func (b *binding) share(w int, tight, all bool, out *Bits) {
	want := &b.wants[w]
	left := want.Count
	var mem [few]int
	parts := mem[:0]
	if len(b.numbers) > few {
		parts = make([]int, 0, len(b.numbers))
	}
	parts = parts[:len(b.numbers)]
	for left > 0 {
		open := 0
		for k, free := range b.counts[w] {
			if (all || b.in[k]) && parts[k] < free {
				open++
			}
		}
		if open == 0 {
			break // count has made sure that there are enough
		}
		each := max(1, left/open) // as many rounds at once as possible, each taking one from each group
		if tight {
			each = left
		}
		for k, free := range b.counts[w] {
			if all || b.in[k] {
				n := min(each, left, free-parts[k])
				parts[k] += n
				left -= n
			}
		}
	}
	k := 0
	for i := range want.Layout.groups {
		g := &want.Layout.groups[i]
		for b.numbers[k] != g.number {
			k++
		}
		if parts[k] > 0 {
			want.Layout.take(g, want.Free, parts[k], out)
		}
	}
}
