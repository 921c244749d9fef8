package timeline

import (
	"cmp"
	"math/bits"
	"slices"
)

// event is an instant at which a number of chunks could begin, or could for the last
// time.
type event struct{ at, chunks int64 }

// Instants after the first one of a search are sorted into bins: a number of them for each
// doubling of the distance, and one for each instant while the distance is short.
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

// behind returns the distance of the first instant after a bin.
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

// opensAt counts chunks that could begin from an instant on.
func (s *roomSearch) opensAt(at, chunks int64) {
	if at <= s.after {
		s.ready += chunks
		return
	}
	k := bin(at - s.after)
	s.last = max(s.last, k)
	s.opens[k] += chunks
}

// shutsAt counts chunks that could begin at an instant for the last time.
func (s *roomSearch) shutsAt(at, chunks int64) {
	k := bin(at - s.after)
	s.last = max(s.last, k)
	s.shuts[k] += chunks
}

// rescans is the number of bins examined one by one before the rest is sorted.
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
				to = s.until + 1
			}
			if at, ok := s.between(from, to, could); ok || looked > rescans {
				return at, ok
			}
		}
		could += s.opens[k] - s.shuts[k]
	}
	return 0, false
}

// between finds it in [from, to), given how many chunks could begin just before.
func (s *roomSearch) between(from, to, could int64) (int64, bool) {
	s.bin = s.bin[:0]
	within := func(list []event) []event {
		begin := len(s.bin)
		for _, e := range list {
			if e.at >= from && e.at < to {
				s.bin = append(s.bin, e)
			}
		}
		out := s.bin[begin:]
		slices.SortFunc(out, func(a, b event) int { return cmp.Compare(a.at, b.at) })
		return out
	}
	opens, shuts := within(s.opening), within(s.shutting)
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
