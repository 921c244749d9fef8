package devices

import "math/bits"

// Bits is a subset of a set's devices, by position. It has no zero words at its end, so equal
// subsets are equal word by word. Methods never change their arguments' memory.
type Bits []uint64

// Has reports whether b contains a position.
func (b Bits) Has(i int) bool { return i>>6 < len(b) && b[i>>6]&(1<<(i&63)) != 0 }

// Count returns how many positions b contains.
func (b Bits) Count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// Each yields the positions, in order.
func (b Bits) Each(yield func(int) bool) {
	for i, w := range b {
		for ; w != 0; w &= w - 1 {
			if !yield(i<<6 + bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}

// set adds a position in place, growing b if necessary.
func (b *Bits) set(i int) {
	for len(*b) <= i>>6 {
		*b = append(*b, 0)
	}
	(*b)[i>>6] |= 1 << (i & 63)
}

// With returns b with one more position.
func (b Bits) With(i int) Bits {
	out := append(make(Bits, 0, max(len(b), i>>6+1)), b...)
	out.set(i)
	return out
}

// Or returns the union.
func (b Bits) Or(o Bits) Bits {
	if len(b) < len(o) {
		b, o = o, b
	}
	out := append(Bits(nil), b...)
	for i, w := range o {
		out[i] |= w
	}
	return out
}

// And returns the intersection.
func (b Bits) And(o Bits) Bits {
	out := append(Bits(nil), b[:min(len(b), len(o))]...)
	for i := range out {
		out[i] &= o[i]
	}
	return out.trimmed()
}

// AndNot returns the bits that are not in o.
func (b Bits) AndNot(o Bits) Bits {
	out := append(Bits(nil), b...)
	for i := range min(len(b), len(o)) {
		out[i] &^= o[i]
	}
	return out.trimmed()
}

// trimmed returns b without zero words at its end.
func (b Bits) trimmed() Bits {
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return b
}

// countIn returns how many positions of b are also in o.
func (b Bits) countIn(o Bits) int {
	n := 0
	for i := range min(len(b), len(o)) {
		n += bits.OnesCount64(b[i] & o[i])
	}
	return n
}
