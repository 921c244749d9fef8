package main

import (
	"slices"

	"github.com/placectl/placectl/index"
)

// nodePatch is what a row of a node file, or a few key=value words, say of one
// node. Of an existing node everything else stays as it is; a new one has
// defaults there.
type nodePatch struct {
	index.Node               // the values that are given; Number and Bucket stand for nothing
	mentioned  uint32        // by position in nodeFields: which fields are given
	unset      []index.ResID // resources to be taken away
	at         int           // where in the file it begins
}

// set reads a value into the patch. An empty text takes the value away.
func (p *nodePatch) set(k nodeKey, text string) error {
	if k.field >= 0 {
		p.mentioned |= 1 << k.field
		return nodeFields[k.field].read(&p.Node, text)
	}
	v, err := readResource(k.def, text)
	switch {
	case err != nil:
		return err
	case v == nil:
		p.unset = append(p.unset, k.def.ID)
	default:
		p.Set(k.def.ID, *v)
	}
	return nil
}

// has reports whether the patch says something of the key already.
func (p *nodePatch) has(k nodeKey) bool {
	if k.field >= 0 {
		return p.mentioned&(1<<k.field) != 0
	}
	_, set := p.Get(k.def.ID)
	return set || slices.Contains(p.unset, k.def.ID)
}

// mentions reports whether the patch gives the field.
func (p *nodePatch) mentions(field int) bool { return p.mentioned&(1<<field) != 0 }

// apply gives a node the values of the patch. It takes for granted that the
// node's resources are its own to change.
func (p *nodePatch) apply(n *index.Node) error {
	for i, f := range nodeFields {
		if p.mentions(i) {
			f.copy(n, &p.Node)
		}
	}
	for _, a := range p.Res {
		n.Set(a.Res, a.Value)
	}
	for _, id := range p.unset {
		n.Unset(id)
	}
	if n.State == index.Up {
		if p.mentions(fieldReason) && p.Reason != "" {
			return errReasonUp
		}
		n.Reason = ""
	}
	return nil
}

// create makes a new node of the patch.
func (p *nodePatch) create(name string) (*index.Node, error) {
	n := &index.Node{Name: name}
	return n, p.apply(n)
}

// change is a copy of a node with the patch applied, and whether that differs.
func (p *nodePatch) change(old *index.Node) (n *index.Node, changed bool, err error) {
	n = new(index.Node)
	*n = *old
	n.Res = slices.Clone(old.Res)
	err = p.apply(n)
	return n, !sameNode(old, n), err
}

// sameNode compares all that people say of nodes.
func sameNode(a, b *index.Node) bool {
	return a.Queue == b.Queue && a.Priority == b.Priority && a.State == b.State && a.Reason == b.Reason &&
		a.Speed == b.Speed && a.ProcSpeed == b.ProcSpeed && a.Load == b.Load && a.Usage == b.Usage &&
		a.Access == b.Access && a.Sharing == b.Sharing && a.PriorityF == b.PriorityF &&
		slices.Equal(a.Features, b.Features) && slices.Equal(a.Res, b.Res)
}
