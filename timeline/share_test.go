package timeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What is taken of a shared node, compared with a sum at each instant.

const (
	shareNow   = 20
	shareGrace = 4
	shareEnd   = 80 // by then nothing is on the node any more
	shareNode  = 70
)

// shareQuantities are the quantities that spans take some of. No request names the last.
var shareQuantities = []uint16{1, 4, 300, 301}

// someGuest ignores the claims that admit it, for a given time, and what it owns itself.
type someGuest struct {
	in    []uint64
	limit int64 // of the time in a claim, 0 for none
	own   uint64
}

func (g *someGuest) Ignores(b *Busy, from, to int64) bool {
	if !b.Claim {
		return b.Owner == g.own
	}
	return slices.Contains(g.in, b.Owner) && (g.limit == 0 || min(to, b.End)-max(from, b.Start) <= g.limit)
}

// takenAt sums up what the owners present at an instant take; a claim counts what its guests
// have left of it.
func takenAt(live []Busy, quantity uint16) (sum int64) {
	for _, b := range live {
		n := amountOf(b, quantity)
		for _, guest := range live {
			if b.Claim && !guest.Claim && guest.Use.Within == b.Owner {
				n -= amountOf(guest, quantity)
			}
		}
		sum += max(n, 0)
	}
	return sum
}

func amountOf(b Busy, quantity uint16) int64 {
	for _, a := range b.Use.Amounts {
		if a.Quantity == quantity {
			return a.N
		}
	}
	return 0
}

// takenOneByOne does what Taken does, by examining every instant.
func takenOneByOne(c *Calendar, from, to int64, g Guest, quantities []uint16) (Standing, []int64) {
	standing, peak := Idle, make([]int64, len(quantities))
	for t := from; t < min(to, shareEnd); t++ {
		var live []Busy
		for _, b := range c.At(shareNode) {
			if b.Start <= t && c.End(b) > t && (g == nil || !g.Ignores(&b, from, to)) {
				live = append(live, b)
			}
		}
		if slices.ContainsFunc(live, func(b Busy) bool { return b.Use == nil }) {
			return Whole, nil
		}
		if len(live) > 0 {
			standing = Open
		}
		for i, q := range quantities {
			peak[i] = max(peak[i], takenAt(live, q))
		}
	}
	return standing, peak
}

// withinOneByOne does what TakenWithin does, by examining every instant.
func withinOneByOne(c *Calendar, claim uint64, from, to int64, quantities []uint16) []int64 {
	peak := make([]int64, len(quantities))
	for t := from; t < min(to, shareEnd); t++ {
		for i, q := range quantities {
			sum := int64(0)
			for _, b := range c.At(shareNode) {
				if b.Use != nil && !b.Claim && b.Use.Within == claim && b.Start <= t && c.End(b) > t {
					sum += amountOf(b, q)
				}
			}
			peak[i] = max(peak[i], sum)
		}
	}
	return peak
}

// checkShare compares both ways. The peaks begin with what another query left.
func checkShare(t interface{ Fatalf(string, ...any) }, c *Calendar, from, to int64, g Guest, quantities []uint16) {
	peak := slices.Repeat([]int64{77}, len(quantities))
	got := c.Taken(shareNode, from, to, g, quantities, peak)
	want, wantPeak := takenOneByOne(c, from, to, g, quantities)
	if got != want || got == Open && !slices.Equal(peak, wantPeak) {
		t.Fatalf("[%d, %d) of%s: standing %d, peaks %v; instant by instant %d, %v", from, to, describe(c), got, peak,
			want, wantPeak)
	}
	for claim := range uint64(4) {
		c.TakenWithin(shareNode, claim+1, from, to, quantities, peak)
		if want := withinOneByOne(c, claim+1, from, to, quantities); !slices.Equal(peak, want) {
			t.Fatalf("[%d, %d) of%s: guests of %d take %v; instant by instant %v", from, to, describe(c), claim+1, peak,
				want)
		}
	}
}

func describe(c *Calendar) string {
	var b strings.Builder
	for _, s := range c.At(shareNode) {
		fmt.Fprintf(&b, " [%d, %d) owner %d held %v claim %v use %+v;", s.Start, s.End, s.Owner, s.Held, s.Claim, s.Use)
	}
	return b.String()
}

// putShare puts a span on the node: a claim's for owners up to 4. A claim is on a node once.
func putShare(t interface{ Fatal(...any) }, c *Calendar, owner uint64, start, length int64, whole, held, alone bool,
	within uint64, amounts []int64) {
	if owner <= 4 && slices.ContainsFunc(c.At(shareNode), func(b Busy) bool { return b.Owner == owner }) {
		owner += 4
	}
	b := Busy{Start: start, End: start + length, Owner: owner, Claim: owner <= 4}
	b.Held = held && !b.Claim
	if !whole {
		b.Use = &Use{Alone: alone && !b.Claim}
		if !b.Claim {
			b.Use.Within = within
		}
		for i, n := range amounts {
			if n > 0 {
				b.Use.Amounts = append(b.Use.Amounts, Amount{shareQuantities[i], n})
			}
		}
	}
	if err := c.Put(shareNode, b); err != nil {
		t.Fatal(err)
	}
}

func TestTakenProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := NewCalendar(nil, shareNow, shareGrace)
		for range rapid.IntRange(0, 8).Draw(t, "stretches") {
			owner := rapid.SampledFrom([]uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}).Draw(t, "owner")
			putShare(t, c, owner, rapid.Int64Range(0, 50).Draw(t, "start"), rapid.Int64Range(1, 25).Draw(t, "length"),
				rapid.IntRange(0, 12).Draw(t, "whole") == 0, rapid.Bool().Draw(t, "held"),
				rapid.Bool().Draw(t, "alone"),
				rapid.Uint64Range(0, 4).Draw(t, "within"), rapid.SliceOfN(rapid.Int64Range(0, 5), 4, 4).Draw(t,
					"amounts"))
		}
		for range 5 {
			from := rapid.Int64Range(0, 60).Draw(t, "from")
			to := from + rapid.SampledFrom([]int64{1, 2, 3, 7, 20, Forever - 60}).Draw(t, "for")
			var g Guest
			if rapid.Bool().Draw(t, "a guest") {
				g = &someGuest{in: rapid.SliceOfDistinct(rapid.Uint64Range(1, 4), rapid.ID).Draw(t, "let in"),
					limit: rapid.Int64Range(0, 9).Draw(t, "limit"), own: rapid.Uint64Range(4, 8).Draw(t, "own")}
			}
			quantities := shareQuantities[:rapid.IntRange(0, 3).Draw(t, "quantities")]
			checkShare(t, c, from, to, g, quantities)
		}
	})
}

// FuzzTaken reads the window and the guest from three bytes, then stretches from
// five each.
func FuzzTaken(f *testing.F) {
	f.Add([]byte{15, 9, 0, 5, 10, 4, 2, 0x21})
	f.Add([]byte{20, 12, 0x12, 1, 18, 20, 0, 0x34, 9, 20, 5, 1, 0x12, 9, 22, 9, 1, 0x23})
	f.Add([]byte{16, 30, 0x33, 6, 2, 3, 0x10, 0x11, 7, 21, 9, 2, 0x44, 3, 30, 4, 0, 0x55, 8, 20, 2, 0xb, 0x40})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 3 {
			return
		}
		from, to, who := int64(data[0]%60), int64(data[0]%60)+int64(data[1]%40)+1, data[2]
		c := NewCalendar(nil, shareNow, shareGrace)
		for data = data[3:]; len(data) >= 5 && len(c.At(shareNode)) < 40; data = data[5:] {
			kind := data[3]
			putShare(t, c, uint64(data[0]%12)+1, int64(data[1]%50), int64(data[2]%25)+1, kind&0xf0 == 0xf0, kind&8 != 0,
				kind&16 != 0,
				uint64(kind%5), []int64{int64(data[4] & 7), int64(data[4] >> 4), int64(data[4] & 1), 1})
		}
		var g Guest
		if who != 0 {
			g = &someGuest{in: []uint64{uint64(who&3) + 1, uint64(who>>2&3) + 1}, limit: int64(who >> 6),
				own: uint64(who>>4&3) + 5}
		}
		checkShare(t, c, from, to, g, shareQuantities[:3])
	})
}
