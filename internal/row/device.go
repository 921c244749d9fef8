package row

import (
	"encoding/binary"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
)

// A node's devices are stored by resource: their number, their groups as runs, their identities as
// FormatIDs writes them, and further details of those that have any. The distances of the groups
// follow. A node without devices stores none of this.

// The properties of a device besides its identity and group, as bits. On disk; must not
// change.
const (
	deviceDrained = 1 << iota
	deviceUUID
	deviceModel
	deviceVRAM
	deviceReason
	deviceSlices
	deviceThreads
)

func nodeDeviceFields(f *Fields, n *index.Node) {
	if !f.More(len(n.Devices) > 0 || len(n.Distances) > 0) {
		return
	}
	for i := range Items(f, "devices", &n.Devices) {
		Uint(f, "res", &n.Devices[i].Res)
		setFields(f, &n.Devices[i].Set)
		f.Next()
	}
	size := Items(f, "distances", (*[][]int)(&n.Distances))
	f.Must(size*size <= len(f.b))
	for i := range n.Distances {
		if f.bad {
			return
		}
		lineFields(f, &n.Distances[i], size)
		f.Next()
	}
}

// lineFields lists the distances of a group to all groups.
func lineFields(f *Fields, line *[]int, size int) {
	if !f.bytes() {
		Uints(f, "", line)
		return
	}
	if f.dir == reading {
		*line = make([]int, size)
	}
	for i := range *line {
		Byte(f, "", &(*line)[i])
	}
}

func setFields(f *Fields, s *devices.Set) {
	switch f.dir {
	case writing:
		encodeSet(f, *s)
	case reading:
		*s = decodeSet(f)
	default:
		for i := range Items(f, "set", (*[]devices.Device)(s)) {
			d := &(*s)[i]
			f.Text("id", &d.ID)
			numberAside(f, "group", &d.Group)
			deviceFields(f, d)
			f.Next()
		}
	}
}

func encodeSet(f *Fields, s devices.Set) {
	f.uvar(uint64(len(s)))
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
		f.uvar(uint64(run - i))
		f.uvar(uint64(s[i].Group))
		i = run
	}
	text := devices.FormatIDs(ids)
	f.Text("", &text)
	f.uvar(uint64(known))
	for i := range s {
		if deviceFacts(&s[i]) != 0 {
			f.uvar(uint64(i))
			deviceFields(f, &s[i])
		}
	}
}

func decodeSet(f *Fields) devices.Set {
	size := f.uvar(0)
	if f.Must(size <= devices.MaxDevices); f.bad {
		return nil
	}
	set := make(devices.Set, size)
	for i := 0; i < len(set) && !f.bad; {
		run, group := int(f.uvar(0)), int(f.uvar(0))
		if f.Must(run >= 1 && run <= len(set)-i); f.bad {
			return nil
		}
		for ; run > 0; run-- {
			set[i].Group = group
			i++
		}
	}
	var ids string
	f.Text("", &ids)
	f.Must(set.Name(ids) == nil)
	for range f.count(0) {
		i := f.uvar(0)
		if f.Must(i < size); f.bad {
			return nil
		}
		deviceFields(f, &set[i])
	}
	return set
}

// deviceFields lists what is known of a device besides its identity and its group.
func deviceFields(f *Fields, d *devices.Device) {
	facts := deviceFacts(d)
	if f.raw(&facts); f.dir == reading {
		d.Drained = facts&deviceDrained != 0
	} else if !f.bytes() {
		facts = 0xff
		f.fact("drained", &d.Drained)
	}
	if facts&deviceUUID != 0 {
		f.Text("uuid", &d.UUID)
	}
	if facts&deviceModel != 0 {
		f.Text("model", &d.Model)
	}
	if facts&deviceReason != 0 {
		f.Text("reason", &d.Reason)
	}
	if facts&deviceSlices != 0 {
		f.Text("into", &d.Into)
	}
	if facts&deviceVRAM != 0 {
		Int(f, "vram", &d.VRAM)
	}
	if facts&deviceSlices != 0 {
		Uint(f, "slices", &d.Slices)
	}
	if facts&deviceThreads != 0 {
		Uints(f, "threads", &d.Threads)
	}
}

// deviceFacts returns what is known of a device, as bits.
func deviceFacts(d *devices.Device) (facts byte) {
	for i, known := range [...]bool{d.Drained, d.UUID != "", d.Model != "", d.VRAM != 0, d.Reason != "", d.Slices != 0,
		len(d.Threads) > 0} {
		if known {
			facts |= 1 << i
		}
	}
	return facts
}

// A job's devices are stored as the policy by which they are chosen and, for each resource of
// a node, a set of bits, in whole bytes without zeros at the end. A job without devices and
// policy stores none of this.

// JobDevices lists a job's devices of one resource of a node, by position in the node's list.
type JobDevices struct {
	Node  uint32
	Res   index.ResID
	Which devices.Bits
}

func jobDeviceFields(f *Fields, j *Job) {
	Byte(f, "bind", &j.Bind)
	for i := range Items(f, "devices", &j.Devices) {
		d := &j.Devices[i]
		Uint(f, "node", &d.Node)
		Uint(f, "res", &d.Res)
		bitsField(f, "which", &d.Which)
		f.Next()
	}
	f.Bound(j.Bind.Valid())
}

func bitsField(f *Fields, name string, bits *devices.Bits) {
	switch f.dir {
	case writing:
		n := 8 * len(*bits)
		for n > 0 && (*bits)[(n-1)/8]>>(8*((n-1)%8))&0xff == 0 {
			n--
		}
		f.uvar(uint64(n))
		for i := range n {
			f.b = append(f.b, byte((*bits)[i/8]>>(8*(i%8))))
		}
	case reading:
		b := f.take(f.count(0))
		f.Must(len(b) <= devices.MaxDevices/8)
		if *bits = nil; f.bad {
			return
		}
		for ; len(b) > 0; b = b[min(8, len(b)):] {
			var w [8]byte
			copy(w[:], b)
			*bits = append(*bits, binary.LittleEndian.Uint64(w[:]))
		}
	default:
		Uints(f, name, (*[]uint64)(bits))
	}
}
