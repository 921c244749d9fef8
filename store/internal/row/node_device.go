package row

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
)

// A node's devices are, by resource: how many there are, their groups as runs, their
// identities as FormatIDs writes them, and of those of which more is known that. Behind
// them are the distances of the groups. A node without devices has nothing of all this.

// What a device has besides an identity and a group, as bits. On disk; must not change.
const (
	deviceDrained = 1 << iota
	deviceUUID
	deviceModel
	deviceVRAM
	deviceReason
	deviceSlices
	deviceThreads
)

func encodeDevices(e *encoder, n *index.Node) {
	if len(n.Devices) == 0 && len(n.Distances) == 0 {
		return
	}
	e.uint(uint64(len(n.Devices)))
	for _, d := range n.Devices {
		e.uint(uint64(d.Res))
		encodeSet(e, d.Set)
	}
	e.uint(uint64(len(n.Distances)))
	for _, line := range n.Distances {
		for _, far := range line {
			e.byte(byte(far))
		}
	}
}

func encodeSet(e *encoder, s devices.Set) {
	e.uint(uint64(len(s)))
	ids := make([]string, len(s))
	known := 0
	for i := 0; i < len(s); {
		run := i
		for ; run < len(s) && s[run].Group == s[i].Group; run++ {
			ids[run] = s[run].ID
			if deviceFacts(&s[run]) != 0 {
				known++
			}
		}
		e.uint(uint64(run - i))
		e.uint(uint64(s[i].Group))
		i = run
	}
	e.string(devices.FormatIDs(ids))
	e.uint(uint64(known))
	for i := range s {
		if facts := deviceFacts(&s[i]); facts != 0 {
			e.uint(uint64(i))
			encodeDevice(e, &s[i], facts)
		}
	}
}

// deviceFacts tells what is known of a device.
func deviceFacts(d *devices.Device) (facts byte) {
	for i, known := range [...]bool{d.Drained, d.UUID != "", d.Model != "", d.VRAM != 0, d.Reason != "", d.Slices != 0, len(d.Threads) > 0} {
		if known {
			facts |= 1 << i
		}
	}
	return facts
}

// deviceTexts are what a device has of words, beside the bits that say so.
var deviceTexts = [...]struct {
	bit byte
	of  func(*devices.Device) *string
}{
	{deviceUUID, func(d *devices.Device) *string { return &d.UUID }},
	{deviceModel, func(d *devices.Device) *string { return &d.Model }},
	{deviceReason, func(d *devices.Device) *string { return &d.Reason }},
	{deviceSlices, func(d *devices.Device) *string { return &d.Into }},
}

func encodeDevice(e *encoder, d *devices.Device, facts byte) {
	e.byte(facts)
	for _, t := range deviceTexts {
		if facts&t.bit != 0 {
			e.string(*t.of(d))
		}
	}
	if facts&deviceVRAM != 0 {
		e.int(d.VRAM)
	}
	if facts&deviceSlices != 0 {
		e.uint(uint64(d.Slices))
	}
	if facts&deviceThreads != 0 {
		e.uint(uint64(len(d.Threads)))
		for _, t := range d.Threads {
			e.uint(uint64(t))
		}
	}
}

func decodeDevices(d *decoder, n *index.Node) {
	if len(d.b) == 0 {
		return
	}
	for range d.count() {
		res := index.ResID(d.uint())
		n.Devices = append(n.Devices, index.NamedDevices{Res: res, Set: decodeSet(d)})
	}
	size := d.count()
	flat := d.take(size * size)
	for i := range min(size, len(flat)) {
		line := make([]int, size)
		for k := range line {
			line[k] = int(flat[i*size+k])
		}
		n.Distances = append(n.Distances, line)
	}
}

func decodeSet(d *decoder) devices.Set {
	size := d.uint()
	if size > devices.MaxDevices {
		d.bad = true
		return nil
	}
	set := make(devices.Set, size)
	for i := 0; i < len(set) && !d.bad; {
		run, group := int(d.uint()), int(d.uint())
		if run < 1 || run > len(set)-i {
			d.bad = true
			return nil
		}
		for ; run > 0; run-- {
			set[i].Group = group
			i++
		}
	}
	if err := set.Name(d.string()); err != nil {
		d.bad = true
		return nil
	}
	for range d.count() {
		i := d.uint()
		if i >= size {
			d.bad = true
			return nil
		}
		decodeDevice(d, &set[i])
	}
	return set
}

func decodeDevice(d *decoder, dev *devices.Device) {
	facts := d.byte()
	dev.Drained = facts&deviceDrained != 0
	for _, t := range deviceTexts {
		if facts&t.bit != 0 {
			*t.of(dev) = d.string()
		}
	}
	if facts&deviceVRAM != 0 {
		dev.VRAM = d.int()
	}
	if facts&deviceSlices != 0 {
		dev.Slices = int(d.uint())
	}
	if facts&deviceThreads != 0 {
		dev.Threads = make([]int, d.count())
		for i := range dev.Threads {
			dev.Threads[i] = int(d.uint())
		}
	}
}
