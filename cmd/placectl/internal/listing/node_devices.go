package listing

import (
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/engine"
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
	by := make(map[string][]engine.DeviceInfo)
	for _, d := range n.Devices {
		by[d.Resource] = append(by[d.Resource], d)
	}
	objects := make(map[string]output.Objects)
	for resource, list := range by {
		objects[resource] = output.ObjectsOf(deviceFields(list), len(list))
	}
	return objects
}

// deviceFields are the fields of devices, by the names of nodefile.Device.
func deviceFields(list []engine.DeviceInfo) output.Fields[int] {
	return output.Fields[int]{
		{Name: "id", Kind: output.Object, Value: func(i int) any { return list[i].ID }},
		{Name: "group", Kind: output.Integer, Required: true, Value: func(i int) any { return list[i].Group }},
		{Name: "uuid", Value: func(i int) any { return output.OrNil(list[i].UUID) }},
		{Name: "model", Value: func(i int) any { return output.OrNil(list[i].Model) }},
		{Name: "vram", Kind: output.Object, Value: func(i int) any {
			return output.OrNil(max(list[i].VRAM, 0) * 1024)
		}},
		{Name: "state", Value: func(i int) any { return output.OrNil(list[i].State) }},
		{Name: "reason", Value: func(i int) any { return output.OrNil(list[i].Reason) }},
		{Name: "slices", Kind: output.Integer, Value: func(i int) any { return output.OrNil(max(list[i].Slices, 0)) }},
		{Name: "into", Value: func(i int) any { return output.OrNil(list[i].Into) }},
		{Name: "threads", Kind: output.Object, Value: func(i int) any { return list[i].Threads }},
		{Name: "job", Kind: output.Object, Value: func(i int) any { return output.OrNil(list[i].Job) }},
	}
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
