package nodes

import (
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/row"
)

// Named holds the devices of a node, in the form for choosing some.
type Named struct {
	List    []index.NamedDevices
	Layouts []*devices.Layout // one for each of List
	far     devices.Distances
}

// Find returns the position of a resource in the list, or -1 if it has no devices.
func (d *Named) Find(id index.ResID) int {
	return slices.IndexFunc(d.List, func(x index.NamedDevices) bool { return x.Res == id })
}

// Devices returns the devices of a node.
func (r *Rows) Devices(number uint32) (*Named, error) {
	k, err := r.Kept(number)
	if err != nil || k.named != nil {
		return k.named, err
	}
	if k.named = r.alike[k.part]; k.named != nil {
		return k.named, nil
	}
	var n index.Node
	if err := row.DecodeDevices(row.Key32(number), []byte(k.part), &n); err != nil {
		return nil, err
	}
	k.named = &Named{List: n.Devices, far: n.Distances}
	for _, d := range n.Devices {
		k.named.Layouts = append(k.named.Layouts, d.Set.Layout())
	}
	if r.alike == nil {
		r.alike = make(map[string]*Named)
	}
	r.alike[k.part] = k.named
	return k.named, nil
}

// Took records that a running job has got devices of one of its nodes.
func (k *Kept) Took(d row.JobDevices) {
	if i := k.named.Find(d.Res); i >= 0 {
		k.Free[i] = k.Free[i].AndNot(d.Which)
	}
}
