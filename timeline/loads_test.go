package timeline

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func drawAmounts(t *rapid.T, most int64) []int64 {
	v := make([]int64, rapid.SampledFrom([]int{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1}).Draw(t, "quantities"))
	for i := range v {
		v[i] = rapid.Int64Range(0, most).Draw(t, "amount")
		if rapid.IntRange(0, 40).Draw(t, "negative") == 0 {
			v[i] = -1
		}
	}
	return v
}

func drawTakes(t *rapid.T) []Take {
	takes := make([]Take, rapid.IntRange(0, 3).Draw(t, "takes"))
	for i := range takes {
		takes[i] = Take{rapid.SampledFrom(loadsNodes).Draw(t, "node"), drawAmounts(t, 3)}
	}
	return takes
}

// TestLoads lets random changes and questions follow each other.
func TestLoads(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newLoadsPair(t)
		p.t = rt
		for _, node := range loadsNodes[:4] {
			p.setNode(node, []int64{rapid.Int64Range(0, 5).Draw(rt, "ncpus"), 4})
		}
		rt.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				b := Busy{Start: rapid.Int64Range(0, 39).Draw(t, "start"), Owner: rapid.Uint64Range(0, 5).Draw(t, "owner"), Held: rapid.Bool().Draw(t, "held")}
				b.End = b.Start + rapid.Int64Range(0, 11).Draw(t, "length")
				p.add(b, drawTakes(t), rapid.IntRange(0, 4).Draw(t, "put") > 0)
			},
			"remove": func(t *rapid.T) {
				p.remove(rapid.Uint64Range(0, 5).Draw(t, "owner"), rapid.SliceOfN(rapid.SampledFrom(loadsNodes), 0, 3).Draw(t, "nodes"))
			},
			"resize": func(t *rapid.T) {
				if rapid.IntRange(0, 3).Draw(t, "really") == 0 {
					p.setNode(rapid.SampledFrom(loadsNodes).Draw(t, "node"), drawAmounts(t, 5))
				}
			},
			"now": func(t *rapid.T) { p.setNow(rapid.Int64Range(0, 45).Draw(t, "now")) },
			"ask": func(t *rapid.T) {
				candidates := rapid.SliceOfDistinct(rapid.SampledFrom(append([]uint32{65, 9999}, loadsNodes...)), rapid.ID).Draw(t, "candidates")
				p.ask(candidates, rapid.IntRange(0, 5).Draw(t, "n"), drawAmounts(t, 4),
					rapid.Int64Range(0, 14).Draw(t, "duration"), rapid.Int64Range(-2, 50).Draw(t, "after"))
			},
			"": func(t *rapid.T) { p.valid() },
		})
	})
}

// TestLoadsLikeCalendar: of nodes with one of one quantity, Loads and Calendar say
// the same.
func TestLoadsLikeCalendar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCalendar(t)
		l, _ := NewLoads([]string{"node"}, searchNow, searchGrace)
		one := []int64{1}
		for _, node := range searchNodes {
			if err := l.SetNode(node, one); err != nil {
				t.Fatal(err)
			}
			for _, b := range c.At(node) {
				if err := l.Put(b, []Take{{node, one}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if rapid.Bool().Draw(t, "later") {
			c.SetNow(searchNow + 9)
			l.SetNow(searchNow + 9)
		}
		candidates := drawNodes(t)
		n := rapid.IntRange(1, len(searchNodes)).Draw(t, "n")
		d := rapid.Int64Range(1, 15).Draw(t, "duration")
		after := rapid.Int64Range(-3, searchEnd).Draw(t, "after")
		at, nodes, err := c.Earliest(candidates, n, d, after)
		loadsAt, loadsNodes, loadsErr := l.Earliest(candidates, n, one, d, after)
		if at != loadsAt || errors.Is(err, ErrNoFit) != errors.Is(loadsErr, ErrNoFit) || err == nil && !nodes.Equals(loadsNodes) {
			t.Fatalf("%d for %d from %d on: %v at %d (%v), with amounts %v at %d (%v)", n, d, after, nodes, at, err, loadsNodes, loadsAt, loadsErr)
		}
		free, err := l.FreeThroughout(candidates, after, after+d, one)
		if want := c.FreeThroughout(candidates, after, after+d); err != nil || !free.Equals(want) {
			t.Fatalf("free in [%d, %d): %v, with amounts %v (%v)", after, after+d, want, free, err)
		}
	})
}

// benchLoads is so many nodes of 16 ncpus and 64 mem, each filled with so many
// random jobs as far as they fit.
func benchLoads(t testing.TB, nodes, jobs int) (*Loads, *roaring.Bitmap) {
	t.Helper()
	l, err := NewLoads([]string{"ncpus", "mem"}, 0, 300)
	if err != nil {
		t.Fatal(err)
	}
	const seed = 5
	rng := rand.New(rand.NewPCG(seed, seed))
	for node := range uint32(nodes) {
		if err := l.SetNode(node, []int64{16, 64}); err != nil {
			t.Fatal(err)
		}
		for i := range jobs {
			b := Busy{Start: rng.Int64N(int64(jobs) * 1000), Owner: uint64(i)}
			b.End = b.Start + 1 + rng.Int64N(7200)
			// refusals are welcome: nodes shall be full in places
			_ = l.Add(b, []Take{{node, []int64{1 + rng.Int64N(8), rng.Int64N(32)}}})
		}
	}
	all := roaring.New()
	all.AddRange(0, uint64(nodes))
	return l, all
}

// TestLoadsReaders is for the race detector.
func TestLoadsReaders(t *testing.T) {
	l, all := benchLoads(t, 300, 20)
	type answer struct {
		At          int64
		Nodes, Free []uint32
		Least       []int64
		Fits        bool
	}
	ask := func(i int64) (a answer) {
		demand := []int64{i % 17, 60}
		at, nodes, _ := l.Earliest(all, 250, demand, 1000, i*400)
		free, _ := l.FreeThroughout(all, i*400, i*400+1000, demand)
		a.At, a.Free = at, free.ToArray()
		if nodes != nil {
			a.Nodes = nodes.ToArray()
		}
		a.Least, _ = l.FreeDuring(nil, uint32(i), i*400, i*400+1000)
		a.Fits, _ = l.Fits(uint32(i), i*400, i*400+1000, demand)
		return a
	}
	var want [30]answer
	for i := range want {
		want[i] = ask(int64(i))
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i, w := range want {
				if diff := cmp.Diff(w, ask(int64(i))); diff != "" {
					t.Errorf("asked again at the same time as others:\n%s", diff)
				}
			}
		})
	}
	wg.Wait()
}

func TestLoadsPointQueriesAllocateNothing(t *testing.T) {
	l, _ := benchLoads(t, 10, 50)
	free, demand := make([]int64, 0, 2), []int64{9, 40}
	for name, ask := range map[string]func(t int64) error{
		"FreeAt":     func(t int64) error { _, err := l.FreeAt(free, 3, t); return err },
		"FreeDuring": func(t int64) error { _, err := l.FreeDuring(free, 3, t, t+500); return err },
		"Fits":       func(t int64) error { _, err := l.Fits(3, t, t+500, demand); return err },
	} {
		at := int64(0)
		if n := testing.AllocsPerRun(100, func() {
			if at += 97; ask(at) != nil {
				t.Error(name)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestLoadsRefuses(t *testing.T) {
	for _, names := range [][]string{nil, {"a", "a"}} {
		if _, err := NewLoads(names, 0, 0); !errors.Is(err, ErrRange) {
			t.Errorf("quantities %q: %v", names, err)
		}
	}
	l, err := NewLoads([]string{"a", "b"}, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := l.Vector(map[string]int64{"b": 3}); err != nil || !slices.Equal(v, []int64{0, 3}) || !slices.Equal(l.Names(), []string{"a", "b"}) {
		t.Errorf("%v, %v of %q", v, err, l.Names())
	}
	if _, err := l.Vector(map[string]int64{"c": 3}); !errors.Is(err, ErrRange) {
		t.Errorf("an unknown quantity: %v", err)
	}
	if err := l.SetNode(1, []int64{0, MaxTotal + 1}); !errors.Is(err, ErrRange) || l.At(1) != nil {
		t.Errorf("a node of more than MaxTotal: %v", err)
	}
	if err := l.SetNode(1, []int64{2, MaxTotal}); err != nil {
		t.Fatal(err)
	}
	whole := []int64{2, MaxTotal}
	if err := l.Add(Busy{Start: math.MinInt64, End: Forever}, []Take{{1, whole}, {1, []int64{0, 1}}}); !errors.Is(err, ErrBusy) || len(l.At(1)) != 0 {
		t.Errorf("more than a node has, in two takes: %v, %v", err, l.At(1))
	}
	if err := l.Add(Busy{Start: math.MinInt64, End: Forever, Held: true}, []Take{{1, whole}}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Earliest(roaring.BitmapOf(1), 1, whole, 1, math.MinInt64); !errors.Is(err, ErrNoFit) {
		t.Errorf("a node taken for ever: %v", err)
	}
	if at, _, err := l.Earliest(roaring.BitmapOf(1), 1, []int64{0, 0}, 1, math.MinInt64); err != nil || at != math.MinInt64 {
		t.Errorf("nothing of it: %d, %v", at, err)
	}
}
