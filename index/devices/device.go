package devices

import (
	"fmt"
	"slices"
	"strconv"
)

// Limits on the devices of a node.
const (
	MaxDevices = 4096 // of one resource
	MaxGroup   = 1023 // the highest group
	MaxSlices  = 256  // of one device
	maxID      = 64   // bytes
	maxNumber  = 999_999_999
)

// Device is one of the devices of a resource of a node.
type Device struct {
	ID      string // 3, gpu_a, or 3/0, a slice of 3
	Group   int    // its NUMA node, from 0
	UUID    string // "" if it is not known, as for the facts below
	Model   string
	VRAM    int64 // kb
	Drained bool  // out of service
	Reason  string
	Slices  int    // number of slices, which are devices of Into; 0: it is not cut
	Into    string // a resource
	Threads []int  // the hardware threads of a core, as the system numbers them
}

// InService reports whether jobs can get the device: it is neither drained nor cut.
func (d *Device) InService() bool { return !d.Drained && d.Slices == 0 }

// Set holds the devices of a resource of a node, by identity.
type Set []Device

// Numbered returns the devices 0 to n-1 of one group, with nothing else known.
func Numbered(n int) Set {
	out := make(Set, max(n, 0))
	for i := range out {
		out[i].ID = strconv.Itoa(i)
	}
	return out
}

// Count returns how many devices are in service: the node's amount of the resource.
func (s Set) Count() int {
	n := 0
	for i := range s {
		if s[i].InService() {
			n++
		}
	}
	return n
}

// Find returns the position of a device, or -1 if no device has the identity.
func (s Set) Find(id string) int {
	i, ok := slices.BinarySearchFunc(s, id, func(d Device, id string) int { return CompareIDs(d.ID, id) })
	if !ok {
		return -1
	}
	return i
}

// Clone returns a copy that shares no memory that is written to.
func (s Set) Clone() Set { return slices.Clone(s) }

// Equal reports whether two sets are equal.
func (s Set) Equal(o Set) bool {
	return slices.EqualFunc(s, o, func(a, b Device) bool {
		return a.ID == b.ID && a.Group == b.Group && a.UUID == b.UUID && a.Model == b.Model && a.VRAM == b.VRAM &&
			a.Drained == b.Drained &&
			a.Reason == b.Reason && a.Slices == b.Slices && a.Into == b.Into && slices.Equal(a.Threads, b.Threads)
	})
}

// IDs returns the identities of some of the devices, in order.
func (s Set) IDs(which Bits) []string {
	var out []string
	for i := range which.Each {
		if i < len(s) {
			out = append(out, s[i].ID)
		}
	}
	return out
}

// Moved returns the devices of another set that are the same as those of this one, by
// identity. missing is the first that the other set does not have, or "".
func (s Set) Moved(which Bits, to Set) (moved Bits, missing string) {
	for _, id := range s.IDs(which) {
		i := to.Find(id)
		if i < 0 {
			if missing == "" {
				missing = id
			}
			continue
		}
		moved = moved.With(i)
	}
	return moved, missing
}

// Check refuses a set that no reader makes: unsorted, or with invalid values.
func (s Set) Check() error {
	if len(s) > MaxDevices {
		return fmt.Errorf("%d devices; a resource of a node has at most %d", len(s), MaxDevices)
	}
	for i := range s {
		d := &s[i]
		if _, err := parseID(d.ID); err != nil {
			return err
		}
		switch {
		case i > 0 && CompareIDs(s[i-1].ID, d.ID) == 0:
			return fmt.Errorf("the device %s appears twice", d.ID)
		case i > 0 && CompareIDs(s[i-1].ID, d.ID) > 0:
			return fmt.Errorf("the device %s comes after %s", d.ID, s[i-1].ID)
		case d.Group < 0 || d.Group > MaxGroup:
			return fmt.Errorf("the device %s is in group %d; groups are from 0 to %d", d.ID, d.Group, MaxGroup)
		case d.Slices < 0 || d.Slices > MaxSlices:
			return fmt.Errorf("the device %s is cut into %d slices; the maximum is %d", d.ID, d.Slices, MaxSlices)
		case (d.Slices == 0) != (d.Into == ""):
			return fmt.Errorf("the device %s has %d slices of %q", d.ID, d.Slices, d.Into)
		case d.VRAM < 0:
			return fmt.Errorf("the device %s has %d kb of memory", d.ID, d.VRAM)
		case !d.Drained && d.Reason != "":
			return fmt.Errorf("the device %s has a reason and is not drained", d.ID)
		case len(d.Threads) > MaxDevices || slices.ContainsFunc(d.Threads, func(t int) bool {
			return t < 0 || t > maxNumber
		}):
			return fmt.Errorf("the threads of device %s are not numbers of threads", d.ID)
		}
	}
	return nil
}

// Cut returns the slices of a device, as devices of the resource that they belong to.
func (d *Device) Cut(n int) Set {
	out := make(Set, n)
	for i := range out {
		out[i] = Device{ID: d.ID + "/" + strconv.Itoa(i), Group: d.Group, UUID: d.UUID, Model: d.Model,
			VRAM: d.VRAM / int64(n)}
	}
	return out
}
