package placer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
)

// A request that the nodes in service could never hold may still fit the cluster as it was declared:
// an operator can put nodes and devices back. Such a request is refused for now, not for ever, and
// the refusal names what has to come back. It is decided on a copy of the index in which some absent
// nodes are up, with all their devices.

// Absent is a node that is not up, or that has devices out of service.
type Absent struct {
	*index.Node
	Back *index.Node // as it would be in service
}

// devices lists the devices that would be back in service, as verbs of nodes name them, ngpus=3, and
// why the first of them is not.
func (n *Absent) devices(defs *index.Defs) (list []string, reason string) {
	for _, d := range n.Devices {
		back := n.Back.DevicesOf(d.Res)
		def, _ := defs.Get(d.Res)
		var ids []string
		for i, one := range d.Set {
			if one.Drained && !back[i].Drained {
				ids, reason = append(ids, one.ID), cmp.Or(reason, one.Reason)
			}
		}
		if ids != nil {
			list = append(list, def.Name+"="+devices.FormatIDs(ids))
		}
	}
	return list, reason
}

// text says what is out of service, and why: n1 is drained: fan.
func (n *Absent) text(defs *index.Defs) string {
	var texts []string
	say := func(what, state, reason string) {
		if what += " is " + state; reason != "" {
			what += ": " + reason
		}
		texts = append(texts, what)
	}
	if n.State != index.Up {
		say(n.Name, n.State.String(), n.Reason)
	}
	if list, reason := n.devices(defs); list != nil {
		say(strings.Join(list, ", ")+" of "+n.Name, index.Drained.String(), reason)
	}
	return strings.Join(texts, ", ")
}

// unlessAbsent turns the refusal of a request that can never run on the nodes in service into one
// for now, if it could run with nodes or devices that are out of service.
func (s *Snapshot) unlessAbsent(a Ask, err error) error {
	var r *Refusal
	if s.Absent == nil || !errors.As(err, &r) || r.Kind != ErrNever {
		return err
	}
	for _, withDevices := range []bool{false, true} {
		list, err := s.Absent(withDevices)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			continue
		}
		serves, err := s.servesWith(a, list)
		if err != nil {
			return err
		}
		if serves {
			return s.forNow(a, list, r)
		}
	}
	return err
}

// forNow returns a refusal as one for now, because a request could run with some nodes back in service.
func (s *Snapshot) forNow(a Ask, list []Absent, r *Refusal) error {
	needed, err := s.needed(a, list)
	if err != nil {
		return err
	}
	slices.SortFunc(needed, func(a, b Absent) int { return cmp.Compare(a.Number, b.Number) })
	out := *r
	out.Kind, out.Absent, out.Until = ErrNotNow, needed, never
	out.Why = s.textOf(needed) + "; " + r.Why
	return &out
}

// servesWith reports whether a request could run if some nodes were back in service.
func (s *Snapshot) servesWith(a Ask, list []Absent) (bool, error) {
	with := s.with(list)
	err := with.Possible(a)
	if err == nil && slices.ContainsFunc(a.Grants, func(g Grant) bool { return g.Affinity == Required }) {
		_, err = with.Earliest(a, s.Now)
	}
	var r *Refusal
	if err == nil || errors.As(err, &r) && r.Kind != ErrNever {
		return true, nil
	}
	if r == nil {
		return false, err
	}
	return false, nil
}

// with returns the snapshot in which some nodes are back in service.
func (s *Snapshot) with(list []Absent) *Snapshot {
	with, rows := *s, backRows{s.Rows, make(map[uint32]*index.Node, len(list))}
	with.Index, with.Absent = s.Index.Copy(), nil
	for _, n := range list {
		back, class := *n.Back, ClassNow(s.Calendar, n.Number)
		if n.State == index.Up {
			class = s.Index.ClassOf(s.Index.Bucket(n.Bucket), n.Number)
		}
		with.Index.Remove(n.Node, class)
		with.Index.Insert(&back, class)
		with.Index.SetRoom(n.Number, nil, RoomNow(s.Calendar, s.Index.Defs(), &back))
		rows.back[n.Number] = &back
	}
	with.Rows = rows
	return &with
}

// backRows are the rows of nodes, some of them back in service.
type backRows struct {
	Rows
	back map[uint32]*index.Node
}

func (r backRows) Node(number uint32) (*index.Node, error) {
	if n := r.back[number]; n != nil {
		return n, nil
	}
	return r.Rows.Node(number)
}

func (r backRows) Traits(number uint32, n *index.Node) error {
	back := r.back[number]
	if back == nil {
		return r.Rows.Traits(number, n)
	}
	res, features := append(n.Res[:0], back.Res...), append(n.Features[:0], back.Features...)
	*n = *back
	n.Name, n.Res, n.Features = "", res, features
	return nil
}

// namedAbsent is how many nodes out of service a refusal names one by one.
const namedAbsent = 3

// needed returns nodes that have to come back, of those with which a request could run. The first
// few are necessary, given the others; the rest is enough. Each step finds the shortest beginning
// of the list that is enough, beside those known to be necessary. Its last node is one of them.
func (s *Snapshot) needed(a Ask, list []Absent) (needed []Absent, err error) {
	serves := func(n int) bool {
		ok, failed := s.servesWith(a, slices.Concat(needed, list[:n]))
		err = cmp.Or(err, failed)
		return ok
	}
	for len(needed) == 0 || !serves(0) && err == nil {
		k := sort.Search(len(list)-1, func(i int) bool { return serves(i + 1) })
		if len(needed) == namedAbsent {
			return slices.Concat(needed, list[:k+1]), err
		}
		needed, list = append(needed, list[k]), list[:k]
	}
	return needed, err
}

// textOf says which nodes are out of service, and why.
func (s *Snapshot) textOf(list []Absent) string {
	var texts []string
	for i := range list[:min(namedAbsent, len(list))] {
		texts = append(texts, list[i].text(s.Index.Defs()))
	}
	if more := len(list) - namedAbsent; more > 0 {
		texts = append(texts, fmt.Sprintf("%d more are out of service", more))
	}
	return strings.Join(texts, ", ")
}

// Resume returns what node resume has to name to put nodes back into service: n1,n2, or g1 --device
// ngpus=3. Several commands are joined by a shell's &&.
func Resume(defs *index.Defs, list []Absent) string {
	var names, commands []string
	for i := range list {
		n := &list[i]
		if n.State != index.Up {
			names = append(names, n.Name)
		}
		of, _ := n.devices(defs)
		for _, d := range of {
			commands = append(commands, n.Name+" --device "+d)
		}
	}
	if names != nil {
		commands = append([]string{index.FoldNodeList(names)}, commands...)
	}
	return strings.Join(commands, " && placectl node resume ")
}
