package nodes

import (
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/row"
)

// parts are the parts of a node that are compared and copied one by one. Resources are handled
// by number.
var parts = []struct {
	part row.NodeParts
	same func(a, b *index.Node) bool
	take func(to, from *index.Node)
}{
	{row.PartState, func(a, b *index.Node) bool { return a.State == b.State && a.Reason == b.Reason },
		func(to, from *index.Node) { to.State, to.Reason = from.State, from.Reason }},
	{row.PartQueue, func(a, b *index.Node) bool { return a.Queue == b.Queue }, func(to, from *index.Node) {
		to.Queue = from.Queue
	}},
	{row.PartPriority, func(a, b *index.Node) bool { return a.Priority == b.Priority }, func(to, from *index.Node) {
		to.Priority = from.Priority
	}},
	{row.PartPriorityF, func(a, b *index.Node) bool { return a.PriorityF == b.PriorityF }, func(to, from *index.Node) {
		to.PriorityF = from.PriorityF
	}},
	{row.PartAccess, func(a, b *index.Node) bool { return a.Access == b.Access }, func(to, from *index.Node) {
		to.Access = from.Access
	}},
	{row.PartSharing, func(a, b *index.Node) bool { return a.Sharing == b.Sharing }, func(to, from *index.Node) {
		to.Sharing = from.Sharing
	}},
	{row.PartSpeed, func(a, b *index.Node) bool { return a.Speed == b.Speed }, func(to, from *index.Node) {
		to.Speed = from.Speed
	}},
	{row.PartProcSpeed, func(a, b *index.Node) bool { return a.ProcSpeed == b.ProcSpeed }, func(to, from *index.Node) {
		to.ProcSpeed = from.ProcSpeed
	}},
	{row.PartUsage, func(a, b *index.Node) bool { return a.Usage == b.Usage }, func(to, from *index.Node) {
		to.Usage = from.Usage
	}},
	{row.PartFeatures, func(a, b *index.Node) bool { return slices.Equal(a.Features, b.Features) },
		func(to, from *index.Node) { to.Features = from.Features }},
	{row.PartDevices, index.SameDevices, func(to, from *index.Node) {
		to.Devices, to.Distances = from.Devices, from.Distances
	}},
}

// Difference returns what has changed of a node that exists before and after. Parts is 0 if
// nothing has.
func Difference(was, is *index.Node) *row.NodePast {
	p := new(row.NodePast)
	for _, x := range parts {
		if !x.same(was, is) {
			p.Parts |= x.part
			x.take(&p.Was, was)
		}
	}
	for _, a := range was.Res {
		if v, ok := is.Get(a.Res); !ok || v != a.Value {
			p.Was.Res = append(p.Was.Res, a)
		}
	}
	for _, a := range is.Res {
		if _, ok := was.Get(a.Res); !ok {
			p.Lacked = append(p.Lacked, a.Res)
		}
	}
	if len(p.Was.Res) > 0 || len(p.Lacked) > 0 {
		p.Parts |= row.PartResources
	}
	return p
}

// PastBefore returns a node as it was before a change; nil means that it does not exist. It does
// not modify the given node.
func PastBefore(p *row.NodePast, is *index.Node, number uint32) *index.Node {
	if p.Parts == row.PartAbsent {
		return nil
	}
	if p.Parts == row.PartWhole || is == nil {
		was := p.Was
		was.Number = number
		return &was
	}
	was := *is
	if p.Parts&row.PartResources != 0 {
		was.Res = slices.Clone(is.Res)
		for _, a := range p.Was.Res {
			was.Set(a.Res, a.Value)
		}
		was.Res = slices.DeleteFunc(was.Res, func(a index.Amount) bool { return slices.Contains(p.Lacked, a.Res) })
	}
	for _, x := range parts {
		if p.Parts&x.part != 0 {
			x.take(&was, &p.Was)
		}
	}
	return &was
}
