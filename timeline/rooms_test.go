package timeline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"pgregory.net/rapid"
)

// The search for room over steps, compared with examining every node at every instant.

const (
	roomNow = 20
	roomEnd = 75 // nothing finite is planned from here on
)

// roomNodes are in three blocks.
var roomNodes = []uint32{0, 1, 2, 63, 64, 65, 200}

// roomAsk is a request: the amounts of quantities that a chunk takes.
type roomAsk struct {
	whole    bool // nodes with nothing on them only
	one      bool // no more than one chunk a node
	n, d     int64
	after    int64
	wants    map[uint16]int64
	capacity [2]map[uint16]int64 // of even and of odd nodes
}

func drawRoomAsk(t *rapid.T) *roomAsk {
	a := &roomAsk{whole: rapid.IntRange(0, 3).Draw(t, "whole") == 0, one: rapid.IntRange(0, 3).Draw(t, "one") == 0,
		n: rapid.Int64Range(1, 20).Draw(t, "chunks"), d: rapid.Int64Range(1, 15).Draw(t, "duration"),
		after: rapid.Int64Range(roomNow-2, roomEnd).Draw(t, "after"), wants: make(map[uint16]int64)}
	for _, q := range []uint16{1, 300} {
		if rapid.Bool().Draw(t, "wanted") {
			a.wants[q] = rapid.Int64Range(1, 3).Draw(t, "wants")
		}
	}
	for i := range a.capacity {
		a.capacity[i] = map[uint16]int64{1: rapid.Int64Range(0, 6).Draw(t, "capacity"),
			300: rapid.Int64Range(1, 6).Draw(t, "capacity")}
	}
	return a
}

// units returns for how many chunks there is room beside what is taken.
func (a *roomAsk) units(odd int, standing Standing, taken func(q uint16) int64) int64 {
	if standing == Whole || a.whole && standing != Idle {
		return 0
	}
	units := a.n
	if a.one {
		units = 1
	}
	for q, want := range a.wants {
		units = min(units, max(0, a.capacity[odd][q]-taken(q))/want)
	}
	return units
}

// rooms returns the even nodes and the odd nodes.
func (a *roomAsk) rooms(c *Calendar) []Room {
	var out []Room
	for odd := range uint32(2) {
		nodes := roaring.New()
		for _, node := range roomNodes {
			if node%2 == odd {
				nodes.Add(node)
			}
		}
		out = append(out, Room{Nodes: nodes, Idle: a.whole, Key: fmt.Sprint(a.wants, a.capacity[odd]),
			Units: func(taken Taken) int64 {
				amounts, whole := c.AmountsOf(taken)
				standing := Open
				switch {
				case whole:
					standing = Whole
				case taken == NothingTaken:
					standing = Idle
				}
				return a.units(int(odd), standing, func(q uint16) int64 {
					i := slices.IndexFunc(amounts, func(x Amount) bool { return x.Quantity == q })
					if i < 0 {
						return 0
					}
					return amounts[i].N
				})
			}})
	}
	return out
}

// room returns for how many chunks a node has room in [from, from+d).
func (a *roomAsk) room(c *Calendar, node uint32, from int64) int64 {
	quantities, peak := []uint16{1, 300}, make([]int64, 2)
	standing := c.Taken(node, from, from+a.d, nil, quantities, peak)
	return a.units(int(node%2), standing, func(q uint16) int64 { return peak[slices.Index(quantities, q)] })
}

// changeRoom puts a span on a node, or removes what an owner has there.
func changeRoom(t *rapid.T, c *Calendar) {
	node := rapid.SampledFrom(roomNodes).Draw(t, "node")
	owner := rapid.Uint64Range(1, 4).Draw(t, "owner")
	if rapid.IntRange(0, 2).Draw(t, "remove") == 0 {
		_ = c.Remove(node, owner) // perhaps nothing
		return
	}
	b := Busy{Start: rapid.Int64Range(roomNow-15, roomNow+30).Draw(t, "start"), Owner: owner,
		Held: rapid.Bool().Draw(t, "held")}
	if b.End = b.Start + rapid.Int64Range(1, 20).Draw(t, "length"); rapid.IntRange(0, 20).Draw(t, "for ever") == 0 {
		b.End = Forever
	}
	if rapid.IntRange(0, 2).Draw(t, "part") > 0 {
		b.Use = &Use{}
		for _, q := range []uint16{300, 1, 7} {
			if rapid.Bool().Draw(t, "takes") {
				b.Use.Amounts = append(b.Use.Amounts, Amount{q, rapid.Int64Range(1, 3).Draw(t, "amount")})
			}
		}
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			b.Claim = true
		case 1:
			b.Use.Within = rapid.Uint64Range(1, 4).Draw(t, "within")
		}
	}
	if err := c.Put(node, b); err != nil {
		t.Fatal(err)
	}
}

// TestFindRoom changes a calendar again and again, and searches in between.
func TestFindRoom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := NewCalendar(nil, roomNow, rapid.Int64Range(1, 9).Draw(t, "grace"))
		var last *roomAsk
		for range rapid.IntRange(1, 20).Draw(t, "searches") {
			for range rapid.IntRange(0, 12).Draw(t, "changes") {
				changeRoom(t, c)
			}
			if rapid.IntRange(0, 9).Draw(t, "time passes") == 0 {
				c.SetNow(c.Now() + rapid.Int64Range(1, 9).Draw(t, "seconds"))
			}
			a := drawRoomAsk(t)
			if last != nil && rapid.IntRange(0, 9).Draw(t, "another") > 0 { // for what is kept of the last search
				a.whole, a.wants, a.capacity = last.whole, last.wants, last.capacity
				a.d = max(1, last.d+rapid.Int64Range(-1, 1).Draw(t, "longer"))
			}
			last = a
			checkRoom(t, c, a)
		}
	})
}

func checkRoom(t *rapid.T, c *Calendar, a *roomAsk) {
	rooms := a.rooms(c)
	got, known := c.FindRoom(rooms, a.n, a.d, a.after)
	if !known {
		t.Fatal("not known, though no job wants to be alone")
	}
	at, found := max(a.after, c.Now()), false
	for ; at <= roomEnd+20 && !found; at++ {
		sum := int64(0)
		for _, node := range roomNodes {
			sum += a.room(c, node, at)
		}
		found = sum >= a.n
	}
	at--
	if found != (got.Fit != nil) || found && at != got.At {
		t.Fatalf("%+v: found %v at %d, instant by instant %v at %d", a, got.Fit, got.At, found, at)
	}
	if found {
		var fit, free []uint32
		for _, node := range roomNodes {
			if a.room(c, node, at) > 0 {
				fit = append(fit, node)
				if c.FreeThrough(node, at, Forever) {
					free = append(free, node)
				}
			}
		}
		if !slices.Equal(got.Fit.ToArray(), fit) || !slices.Equal(got.Free.ToArray(), free) {
			t.Fatalf("%+v: at %d there is room on %v, and %v are free for good; node by node on %v and %v", a, at,
				got.Fit, got.Free, fit, free)
		}
	}
	checkRoomBefore(t, c, a, rooms)
}

// checkRoomBefore searches for room on some nodes, in part of the time, for an owner that
// itself has something there, as if it had nothing.
func checkRoomBefore(t *rapid.T, c *Calendar, a *roomAsk, rooms []Room) {
	from := max(c.Now(), a.after)
	to := from + rapid.Int64Range(0, 40).Draw(t, "to")
	among := rapid.SliceOfDistinct(rapid.SampledFrom(roomNodes), func(n uint32) uint32 { return n }).Draw(t, "among")
	own := Own{Owner: rapid.Uint64Range(1, 5).Draw(t, "who")}
	without := NewCalendar(nil, c.now, c.grace)
	claimed := false
	for _, node := range roomNodes {
		mine := func(b Busy) bool { return b.Owner == own.Owner }
		if slices.ContainsFunc(c.At(node), mine) {
			own.Nodes = append(own.Nodes, node)
		}
		for _, b := range c.At(node) {
			claimed = claimed || slices.Contains(own.Nodes, node) && (b.Claim || b.Use != nil && b.Use.Within != 0)
			if mine(b) {
				continue
			}
			if err := without.Put(node, b); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, known := c.RoomBefore(rooms, roaring.BitmapOf(among...), own, a.n, a.d, from, to)
	if len(among) == len(roomNodes) {
		all, alike := c.RoomBefore(rooms, nil, own, a.n, a.d, from, to)
		if all != got || alike != known {
			t.Fatalf("among all nodes at %d (%v), without saying so at %d (%v)", got, known, all, alike)
		}
	}
	want := from
	for want < to {
		sum := int64(0)
		for _, node := range among {
			sum += a.room(without, node, want)
		}
		if sum >= a.n {
			break
		}
		want++
	}
	if !known && !claimed || known && got != want {
		t.Fatalf("%+v: for owner %d in [%d, %d) there is room on %v at %d (known %v), instant by instant at %d", a,
			own.Owner, from, to, among, got, known, want)
	}
}

// TestFindRoomAlone: if jobs want to be alone with those of their user, steps do not say who
// may join, and the search does not answer.
func TestFindRoomAlone(t *testing.T) {
	c := NewCalendar(nil, 0, 1)
	if err := c.Put(3, Busy{Start: 0, End: 10, Owner: 1, Use: &Use{Alone: true}}); err != nil {
		t.Fatal(err)
	}
	room := Room{Nodes: roaring.BitmapOf(3), Units: func(Taken) int64 { return 1 }}
	if _, known := c.FindRoom([]Room{room}, 1, 5, 0); known {
		t.Error("it is said when there is room")
	}
	if _, known := c.RoomBefore([]Room{room}, nil, Own{}, 1, 5, 0, 10); known {
		t.Error("it is said when there is room soon")
	}
	if err := c.Remove(3, 1); err != nil {
		t.Fatal(err)
	}
	if found, known := c.FindRoom([]Room{room}, 1, 5, 0); !known || found.At != 0 {
		t.Errorf("%+v, known %v, when the node is empty again", found, known)
	}
}

// BenchmarkFindRoom searches calendars in which each node has ten jobs with pauses between
// them, and half of the nodes are requested. The steps are made again (cold), or exist.
func BenchmarkFindRoom(b *testing.B) {
	const nodes = 10_000
	for _, how := range []string{"cold", "warm"} {
		b.Run(how, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			c, all := benchCalendar(b, nodes, func(int) []Busy { return spread(rng, 10) })
			room := []Room{{Nodes: all, Idle: true, Units: func(l Taken) int64 {
				if l != NothingTaken {
					return 0
				}
				return 1
			}}}
			b.ReportAllocs()
			for b.Loop() {
				if how == "cold" {
					c.SetNow(0)
				}
				if found, known := c.FindRoom(room, nodes/2, 3600, 0); !known || found.Fit == nil {
					b.Fatal("no room")
				}
			}
		})
	}
}
