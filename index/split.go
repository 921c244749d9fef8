package index

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index/devices"
)

// A node with several groups of devices can be split into a node for each group. Then a job
// that fits on one of them is certain to be inside one group, because the node has its own
// count. Choosing devices among the groups of one node is best effort only.

// Split makes a node for each group of devices, in the order of the groups: g1.0 and g1.1 of
// g1. Each gets the devices of its group, and a share of what is only counted, by its cores,
// or equal shares if the cores are not named. The shares of a resource add up to the node's
// amount. All of them have the node as their host, unless it names another.
func (n *Node) Split(defs *Defs) ([]*Node, error) {
	var groups []int
	for _, d := range n.Devices {
		for i := range d.Set {
			groups = append(groups, d.Set[i].Group)
		}
	}
	slices.Sort(groups)
	groups = slices.Compact(groups)
	if len(groups) < 2 {
		return nil, fmt.Errorf("it names no devices of two groups, such as ncpus=0-15@0+16-31@1")
	}
	cores := n.weights(groups)
	parts := make([]*Node, len(groups))
	for i, g := range groups {
		p := *n
		p.Name, p.Number, p.Bucket, p.Lessened = PartName(n.Name, g), 0, 0, false
		p.Load = n.Load * float64(cores[i]) / float64(sum(cores))
		p.Res, p.Devices = nil, nil
		parts[i] = &p
	}
	for _, a := range n.Res {
		def, _ := defs.Get(a.Res)
		if n.DevicesOf(a.Res) != nil {
			continue
		}
		shares := apportion(a.Value.Num, cores)
		for i, p := range parts {
			if v := a.Value; def.Consumable {
				p.Set(a.Res, Value{Num: shares[i]})
			} else {
				p.Set(a.Res, v)
			}
		}
	}
	for i, p := range parts {
		for _, d := range n.Devices {
			p.SetDevices(d.Res, ofGroup(d.Set, groups[i]))
		}
		if _, has := p.Get(Host); !has {
			p.Set(Host, Value{Str: n.Name})
		}
	}
	return parts, nil
}

// PartName returns the name of the part of a node that has a group's devices.
func PartName(name string, group int) string { return name + "." + strconv.Itoa(group) }

// IsPart reports whether a node has the name and host of a part of another.
func (n *Node) IsPart(of string) bool {
	group, ok := strings.CutPrefix(n.Name, of+".")
	number, err := strconv.Atoi(group)
	host, _ := n.Get(Host)
	return ok && err == nil && PartName(of, number) == n.Name && host.Str == of
}

// weights returns how many cores each group has, or one for each if the cores are not named.
func (n *Node) weights(groups []int) []int64 {
	out := make([]int64, len(groups))
	for i, g := range groups {
		out[i] = int64(len(ofGroup(n.DevicesOf(NCPUs), g)))
	}
	if sum(out) == 0 {
		for i := range out {
			out[i] = 1
		}
	}
	return out
}

func ofGroup(s devices.Set, group int) (out devices.Set) {
	for i := range s {
		if s[i].Group == group {
			out = append(out, s[i])
		}
	}
	return out
}

func sum(list []int64) (n int64) {
	for _, v := range list {
		n += v
	}
	return n
}

// apportion divides an amount by weights. What rounding down leaves over goes one by one to
// the first.
func apportion(amount int64, weights []int64) []int64 {
	out := make([]int64, len(weights))
	all := sum(weights)
	each, rest := amount/all, amount%all
	for i, w := range weights {
		out[i] = each*w + rest*w/all
	}
	for i, left := 0, amount-sum(out); left > 0; i = (i + 1) % len(out) {
		if weights[i] > 0 {
			out[i]++
			left--
		}
	}
	return out
}

// Join returns the node that Split divided into these parts. It fails if the parts differ in
// what must be the same.
func Join(defs *Defs, name string, parts []*Node) (*Node, error) {
	if len(parts) == 0 {
		return nil, fmt.Errorf("there are no parts of %s", name)
	}
	n := *parts[0]
	n.Name, n.Number, n.Bucket, n.Lessened, n.Load = name, 0, 0, false, 0
	n.Res, n.Devices = nil, nil
	for _, p := range parts {
		if what := differs(defs, parts[0], p); what != "" {
			return nil, fmt.Errorf("%s and %s differ in %s", parts[0].Name, p.Name, what)
		}
		n.Load += p.Load
		for _, a := range p.Res {
			if def, _ := defs.Get(a.Res); def.Consumable {
				before, _ := n.Get(a.Res)
				a.Value.Num += before.Num
			}
			n.Set(a.Res, a.Value)
		}
	}
	for _, p := range parts {
		for _, d := range p.Devices {
			for _, q := range parts {
				if v, has := q.Get(d.Res); has && v.Num > 0 && q.DevicesOf(d.Res) == nil {
					def, _ := defs.Get(d.Res)
					return nil, fmt.Errorf("%s names its devices of %s, and %s does not", p.Name, def.Name, q.Name)
				}
			}
			set := append(n.DevicesOf(d.Res).Clone(), d.Set...)
			slices.SortStableFunc(set, func(a, b devices.Device) int { return devices.CompareIDs(a.ID, b.ID) })
			n.SetDevices(d.Res, set)
		}
	}
	if host, _ := n.Get(Host); host.Str == name {
		n.Unset(Host)
	}
	return &n, nil
}

// differs returns the first thing in which two parts of a node differ but must not, or "".
func differs(defs *Defs, a, b *Node) string {
	for _, f := range []struct {
		what string
		same bool
	}{
		{"queue", a.Queue == b.Queue},
		{"priority", a.Priority == b.Priority},
		{"state", a.State == b.State && a.Reason == b.Reason},
		{"speed", a.Speed == b.Speed && a.ProcSpeed == b.ProcSpeed},
		{"usage", a.Usage == b.Usage},
		{"access", a.Access == b.Access},
		{"sharing", a.Sharing == b.Sharing},
		{"priorityf", a.PriorityF == b.PriorityF},
		{"features", slices.Equal(a.Features, b.Features)},
		{"distances", a.Distances.String() == b.Distances.String()},
	} {
		if !f.same {
			return f.what
		}
	}
	for _, def := range defs.All() {
		v, has := a.Get(def.ID)
		w, hasToo := b.Get(def.ID)
		if !def.Consumable && (has != hasToo || cmp.Compare(v.Str, w.Str) != 0 || v.Num != w.Num) {
			return def.Name
		}
	}
	return ""
}
