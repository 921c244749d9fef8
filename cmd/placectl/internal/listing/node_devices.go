package listing

import (
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/index/devices"
)

// DeviceField is the field of a node's devices, in words for people.
func DeviceField(people bool) output.Field[*Node] {
	return output.Field[*Node]{Name: "devices", Kind: output.Object, Value: func(n *Node) any {
		if people {
			return output.OrNil(deviceWords(n))
		}
		return deviceObject(n)
	}}
}

// deviceObject returns a node's devices as `node import` reads them, nil if it names none.
func deviceObject(n *Node) any {
	if len(n.Devices) == 0 {
		return nil
	}
	object := make(map[string][]nodefile.Device)
	for i := range n.Devices {
		d := &n.Devices[i]
		out := nodefile.Device{ID: d.ID, Group: d.Group, UUID: d.UUID, Model: d.Model, State: d.State, Reason: d.Reason,
			Into:    d.Into,
			Threads: d.Threads, Job: output.OrNil(d.Job)}
		if d.VRAM > 0 {
			out.VRAM = d.VRAM * 1024
		}
		if d.Slices > 0 {
			out.Slices = &d.Slices
		}
		object[d.Resource] = append(object[d.Resource], out)
	}
	return object
}

// deviceWords describes a node's devices for people: ngpus=0-1@0+2-3@1, with reasons for those that are
// out of service.
func deviceWords(n *Node) string {
	var words, out []string
	for i := 0; i < len(n.Devices); {
		var set devices.Set
		resource := n.Devices[i].Resource
		for ; i < len(n.Devices) && n.Devices[i].Resource == resource; i++ {
			d := &n.Devices[i]
			set = append(set, d.Device)
			switch {
			case d.Slices > 0:
				out = append(out, d.ID+" is cut into "+d.Into)
			case d.Drained && d.Reason != "":
				out = append(out, d.ID+" is drained: "+d.Reason)
			case d.Drained:
				out = append(out, d.ID+" is drained")
			}
		}
		word := resource + "=" + set.String()
		if len(out) > 0 {
			word += " (" + strings.Join(out, ", ") + ")"
		}
		words, out = append(words, word), nil
	}
	return strings.Join(words, "; ")
}
