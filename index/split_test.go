package index

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/index/devices"
	"pgregory.net/rapid"
)

// Together, the parts have what the node had, each by its cores; joined, they are the node
// again.
func TestSplitAndJoin(t *testing.T) {
	defs := NewDefs()
	if _, err := defs.Add(Def{Name: "gslices", Type: Long, Consumable: true}); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		groups := rapid.SliceOfNDistinct(rapid.IntRange(0, 12), 2, 5, rapid.ID[int]).Draw(t, "groups")
		n := &Node{Name: "g1", Queue: "q", Features: []string{"ib"}, Speed: 2, State: Drained, Reason: "x"}
		n.Set(Mem, Value{Num: rapid.Int64Range(0, MaxAmount).Draw(t, "mem")})
		n.Set(Arch, Value{Str: "arm"})
		if rapid.Bool().Draw(t, "host") {
			n.Set(Host, Value{Str: "elsewhere"})
		}
		for _, res := range []ResID{NCPUs, NGPUs} {
			var set devices.Set
			for i := range rapid.IntRange(len(groups), 20).Draw(t, "devices") {
				d := devices.Device{ID: fmt.Sprint(i), Group: rapid.SampledFrom(groups).Draw(t, "group")}
				if i < len(groups) && res == NCPUs {
					d.Group = groups[i]
				}
				d.Drained = rapid.IntRange(0, 9).Draw(t, "drained") == 0
				set = append(set, d)
			}
			n.SetDevices(res, set)
		}
		parts, err := n.Split(defs)
		if err != nil {
			t.Fatal(err)
		}
		if len(parts) != len(groups) {
			t.Fatalf("%d parts of %d groups", len(parts), len(groups))
		}
		slices.Sort(groups)
		for i, p := range parts {
			if p.Name != fmt.Sprintf("g1.%d", groups[i]) {
				t.Errorf("a part of group %d is called %s", groups[i], p.Name)
			}
			if host, _ := p.Get(Host); host.Str == "g1" != p.IsPart("g1") {
				t.Errorf("%s on host %s: a part: %v", p.Name, host.Str, p.IsPart("g1"))
			}
			share, _ := p.Get(Mem)
			all, _ := n.Get(Mem)
			cores, of := len(p.DevicesOf(NCPUs)), len(n.DevicesOf(NCPUs))
			exact := float64(all.Num) * float64(cores) / float64(of)
			if d := float64(share.Num) - exact; d > float64(len(groups)) || d < -1 {
				t.Errorf("%s has %d of %d cores and %d of %d kb", p.Name, cores, of, share.Num, all.Num)
			}
			for _, d := range p.Devices {
				if err := d.Set.Check(); err != nil || slices.ContainsFunc(d.Set, func(d devices.Device) bool {
					return d.Group != groups[i]
				}) {
					t.Errorf("%s has the devices %v: %v", p.Name, d.Set, err)
				}
			}
		}
		whole, err := Join(defs, "g1", parts)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(n, whole); diff != "" {
			t.Errorf("joined it is another (-was +is):\n%s", diff)
		}
	})
}

func TestJoinRefuses(t *testing.T) {
	defs := NewDefs()
	part := func(name string, fn func(*Node)) *Node {
		n := &Node{Name: name}
		n.Set(Host, Value{Str: "g1"})
		n.SetDevices(NGPUs, devices.Set{{ID: name[3:]}})
		fn(n)
		return n
	}
	for want, fn := range map[string]func(*Node){
		"g1.0 and g1.1 differ in queue":                      func(n *Node) { n.Queue = "q" },
		"g1.0 and g1.1 differ in state":                      func(n *Node) { n.State = Down },
		"g1.0 and g1.1 differ in features":                   func(n *Node) { n.Features = []string{"ib"} },
		"g1.0 and g1.1 differ in arch":                       func(n *Node) { n.Set(Arch, Value{Str: "arm"}) },
		"g1.0 names its devices of ngpus, and g1.1 does not": func(n *Node) { n.SetDevices(NGPUs, nil) },
	} {
		_, err := Join(defs, "g1", []*Node{part("g1.0", func(*Node) {}), part("g1.1", fn)})
		if err == nil || err.Error() != want {
			t.Errorf("%v, not %s", err, want)
		}
	}
	if _, err := Join(defs, "g1", nil); err == nil {
		t.Error("no parts make a node")
	}
	n := &Node{Name: "g1"}
	n.SetDevices(NGPUs, devices.Set{{ID: "0"}, {ID: "1"}})
	if parts, err := n.Split(defs); err == nil {
		t.Errorf("one group makes %d parts", len(parts))
	}
}
