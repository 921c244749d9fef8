package nodefile

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/text"
)

// Patch is what a row of a node file, or key=value words, say about a node. All else about an existing
// node stays. A new one gets defaults.
type Patch struct {
	index.Node               // the given values; Number and Bucket mean nothing
	mentioned  uint32        // the given fields, by position in fields
	unset      []index.ResID // resources to remove
	named      []given       // devices of resources
	devices    bool          // devices is given
	forget     bool          // as empty: the node will name none
	At         int           // its offset in the file
}

// ParseWords reads key=value words.
func ParseWords(words []string, defs *index.Defs, units *Units) (*Patch, error) {
	p := &Patch{}
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("%s is not key=value, such as ncpus=8", text.Quoted(w))
		}
		k, err := findKey(defs, key, value)
		switch {
		case err != nil:
			return nil, err
		case k.isName:
			return nil, errors.New("a node's name is given as NAMES and cannot be changed")
		case k.computed:
			return nil, fmt.Errorf("%s is computed and cannot be set", k.name)
		case p.has(k):
			return nil, fmt.Errorf("%s is given twice", k.name)
		}
		if value, err = units.complete(k, value); err == nil {
			err = p.set(defs, k, value)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.name, err)
		}
	}
	return p, nil
}

// set reads a value into the patch. An empty text removes the value.
func (p *Patch) set(defs *index.Defs, k key, text string) error {
	if k.devices {
		return p.readDevices(defs, text)
	}
	if k.field >= 0 {
		p.mentioned |= 1 << k.field
		return fields[k.field].read(&p.Node, text)
	}
	if k.def.ID == index.NGPUs && !devices.Named(text) && strings.ContainsAny(text, "-,") {
		text += "@0" // ids need no group here: a number alone counts
	}
	if count, isOne := loneID(text); isOne && k.def.ID == index.NCPUs {
		return fmt.Errorf("%s names one core, number %[2]s: write %[2]s for as many, or %[2]s-%[1]s for that one", text,
			count)
	}
	if devices.Named(text) && k.def.Type.Numeric() {
		return p.nameDevices(k.def, text, true)
	}
	v, err := readResource(k.def, text)
	switch {
	case err != nil:
		if _, none := devices.Parse(text + "@0"); none == nil && k.def.Type == index.Long {
			err = fmt.Errorf("%w; give the devices with their group: %s=%s@0", err, k.name, text)
		}
		return err
	case v == nil:
		p.unset = append(p.unset, k.def.ID)
	default:
		p.Set(k.def.ID, *v)
	}
	return nil
}

// loneID returns the number in N@GROUP, which looks like a count. Core 0 is clear enough.
func loneID(text string) (number string, is bool) {
	number, _, is = strings.Cut(text, "@")
	n, err := strconv.Atoi(number)
	return number, is && err == nil && n > 0 && !strings.Contains(text, "+")
}

// has reports whether the patch has the key already.
func (p *Patch) has(k key) bool {
	if k.devices {
		return p.devices
	}
	if k.field >= 0 {
		return p.mentioned&(1<<k.field) != 0
	}
	_, set := p.Get(k.def.ID)
	return set || slices.Contains(p.unset, k.def.ID) || slices.ContainsFunc(p.named, func(g given) bool {
		return g.word && g.res == k.def.ID
	})
}

// mentions reports whether the patch has the field.
func (p *Patch) mentions(field int) bool { return p.mentioned&(1<<field) != 0 }

// apply sets the values of the patch. The node must own its resources.
func (p *Patch) apply(n *index.Node) error {
	for i, f := range fields {
		if p.mentions(i) {
			f.copy(n, &p.Node)
		}
	}
	for _, a := range p.Res {
		n.Count(a.Res, a.Value)
	}
	for _, id := range p.unset {
		n.Unset(id)
	}
	if err := p.applyDevices(n); err != nil {
		return err
	}
	if n.State == index.Up {
		if p.mentions(fieldReason) && p.Reason != "" {
			return errReasonUp
		}
		n.Reason = ""
	}
	return nil
}

// Create makes a new node from the patch.
func (p *Patch) Create(name string) (*index.Node, error) {
	n := &index.Node{Name: name}
	return n, p.apply(n)
}

// Change returns a copy of a node with the patch applied, and whether it differs.
func (p *Patch) Change(old *index.Node) (n *index.Node, changed bool, err error) {
	n = new(index.Node)
	*n = *old
	n.Res = slices.Clone(old.Res)
	err = p.apply(n)
	return n, !sameNode(old, n), err
}

// sameNode compares everything that can be set.
func sameNode(a, b *index.Node) bool {
	return a.Queue == b.Queue && a.Priority == b.Priority && a.State == b.State && a.Reason == b.Reason &&
		a.Speed == b.Speed && a.ProcSpeed == b.ProcSpeed && a.Load == b.Load && a.Usage == b.Usage &&
		a.Access == b.Access && a.Sharing == b.Sharing && a.PriorityF == b.PriorityF &&
		slices.Equal(a.Features, b.Features) && slices.Equal(a.Res, b.Res) && index.SameDevices(a, b)
}
