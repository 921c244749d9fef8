package limits

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/placectl/placectl/timeline"
)

// naive is a counter that is summed up again for each query.
type naive struct {
	total, outside, until, now int64
	holders                    map[uint64]Holder
}

const grace = 4

func (n *naive) end(h Holder) int64 {
	if !h.Claim && h.End <= n.now {
		return n.now + grace
	}
	return h.End
}

// free returns what is left at an instant for those within a reservation, or for all others if
// within is 0.
func (n *naive) free(at int64, within uint64) int64 {
	left := n.total
	if within != 0 {
		left = n.holders[within].Amount
	} else if at < n.until {
		left -= n.outside
	}
	for _, h := range n.holders {
		claim, kept := n.holders[h.Within]
		inside := h.Within != 0 && kept
		switch {
		case h.Start > at || n.end(h) <= at:
		case within != 0 && h.Within == within:
			left -= h.Amount
		case within == 0 && !(inside && at < claim.End):
			left -= h.Amount
		}
	}
	return left
}

// TestCounter: a counter answers like one that is summed up for each query, whatever was added
// and removed, also for those who take from a reservation.
func TestCounter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := &naive{total: rapid.Int64Range(0, 6).Draw(t, "total"), now: 20, holders: make(map[uint64]Holder)}
		c := New("k", false, n.total, n.now, grace)
		claims := []uint64{0, 0, 1, 3}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			owner := uint64(rapid.IntRange(1, 8).Draw(t, "owner"))
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				delete(n.holders, owner)
				c.Remove(owner)
			case 1:
				n.total = rapid.Int64Range(0, 6).Draw(t, "total")
				c.SetTotal(n.total)
			case 2:
				n.outside, n.until = rapid.Int64Range(0, 4).Draw(t, "outside"),
					n.now+rapid.Int64Range(1, 20).Draw(t, "until")
				c.SetOutside(n.outside, n.until)
			case 3:
				n.now += rapid.Int64Range(0, 5).Draw(t, "passes")
				c.SetNow(n.now)
			default:
				h := Holder{Owner: owner, Start: rapid.Int64Range(10, 50).Draw(t, "start"),
					Amount: rapid.Int64Range(1, 3).Draw(t, "amount")}
				h.End = h.Start + rapid.Int64Range(1, 20).Draw(t, "length")
				if h.Claim = owner == 1 || owner == 3; h.Claim {
					h.End = max(h.End, n.now+1)
				} else if within := rapid.SampledFrom(claims).Draw(t, "within"); within != 0 {
					claim, kept := n.holders[within]
					if h.Within = within; kept {
						h.Start = claim.Start
						h.End = min(h.Start+1, claim.End)
					}
				}
				n.holders[owner] = h
				c.Put(h)
			}
			n.check(t, c)
		}
	})
}

func (n *naive) check(t *rapid.T, c *Counter) {
	for at := n.now; at < n.now+30; at += 3 {
		if got, want := c.Held(at), n.total-n.free(at, 0); got != want {
			t.Fatalf("at %d %d are held, and by adding up %d", at, got, want)
		}
	}
	d := Demand{Counter: c, Amount: rapid.Int64Range(1, 3).Draw(t, "asked")}
	duration := rapid.Int64Range(1, 12).Draw(t, "duration")
	within := rapid.SampledFrom([]uint64{0, 1, 3}).Draw(t, "in")
	if within != 0 {
		d.Within = []uint64{within}
	}
	claim, kept := n.holders[within]
	if !kept {
		within = 0
	}
	fits := func(at int64) bool {
		if within != 0 && (at < claim.Start || at+duration > claim.End) {
			return false
		}
		for s := at; s < at+duration; s++ {
			if n.free(s, within) < d.Amount {
				return false
			}
		}
		return true
	}
	want := int64(-1)
	for at := n.now; at < n.now+120 && want < 0; at++ {
		if fits(at) {
			want = at
		}
	}
	got, ok := d.Next(n.now, duration)
	if ok != (want >= 0) || ok && got != want || d.Fits(n.now, duration) != (want == n.now) {
		t.Fatalf("%d of it for %d within %d: from %d on, %v; by adding up from %d", d.Amount, duration, within, got, ok,
			want)
	}
	for _, h := range n.holders {
		exceeded, inside := false, h.Within
		if claim, kept := n.holders[h.Within]; !kept {
			inside = 0
		} else if n.end(h) > claim.End {
			continue // past its reservation it counts on both sides
		}
		for s := max(h.Start, n.now); s < n.end(h); s++ {
			exceeded = exceeded || n.free(s, inside) < 0
		}
		if got := c.Exceeded(h, false); got != exceeded {
			t.Fatalf("%+v exceeds it: %v, by adding up %v", h, got, exceeded)
		}
	}
}

func TestDemandsAgree(t *testing.T) {
	a, b := New("a", false, 2, 0, grace), New("b running", true, 1, 0, grace)
	a.Put(Holder{Owner: 2, Start: 0, End: 10, Amount: 1})
	a.Put(Holder{Owner: 4, Start: 15, End: 20, Amount: 2})
	b.Put(Holder{Owner: 2, Start: 8, End: 12, Amount: 1})
	ds := Demands{{Counter: a, Amount: 2}, {Counter: b, Amount: 1}}
	for duration, want := range map[int64]int64{1: 12, 3: 12, 4: 20} {
		if got, ok := ds.Next(0, duration); !ok || got != want {
			t.Errorf("for %d: %d %v, want %d", duration, got, ok, want)
		}
	}
	a.SetOutside(1, timeline.Forever)
	if at, ok := ds.Next(0, 1); ok {
		t.Errorf("at %d, and one of two is never free", at)
	}
	if text := ds[1].Text(8, 1); text != "limit: b running 1 of 1" {
		t.Error(text)
	}
	if text := ds[0].Text(16, 1); text != "a: 2 asked, 0 free" {
		t.Error(text)
	}
}
