package devices

import (
	"slices"
	"strconv"
	"strings"
)

// Held holds devices of a resource.
type Held struct {
	Resource string
	Devices  Set
}

// Cores is the resource whose devices are cores, not accelerators.
const Cores = "ncpus"

// Environ returns the variables, as NAME=VALUE, that tell a job its devices on a node that
// names some. They are PLACECTL_DEVICES (ngpus=0,3;ncpus=0-7), PLACECTL_CPUS, and those that
// the libraries of NVIDIA or AMD read. Empty values tell a job that it has no accelerator on a
// node that names some. There are no variables on a node that names none.
//
// Accelerators are the devices of ngpus, of resources named after slices (gslices), and those
// with a UUID like a GPU's.
func Environ(held, named []Held) []string {
	if len(named) == 0 {
		return nil
	}
	var words []string
	var cores Set
	for _, h := range held {
		if len(h.Devices) > 0 {
			words = append(words, h.Resource+"="+FormatIDs(h.Devices.ids()))
		}
		if h.Resource == Cores {
			cores = h.Devices
		}
	}
	out := []string{"PLACECTL_DEVICES=" + strings.Join(words, ";")}
	if slices.ContainsFunc(named, func(h Held) bool { return h.Resource == Cores }) {
		out = append(out, "PLACECTL_CPUS="+FormatIDs(threads(cores)))
	}
	mine := Set{}
	for _, h := range held {
		mine = append(mine, h.accelerators()...)
	}
	var all Set
	for _, h := range named {
		all = append(all, h.accelerators()...)
	}
	switch {
	case len(all) == 0:
		return out
	case all.amd():
		return append(out, "ROCR_VISIBLE_DEVICES="+strings.Join(mine.visible(), ","))
	}
	visible := strings.Join(mine.visible(), ",")
	out = append(out, "CUDA_VISIBLE_DEVICES="+visible)
	if !strings.Contains(visible, "-") { // numbers count in the order in which nvidia-smi lists them
		out = append(out, "CUDA_DEVICE_ORDER=PCI_BUS_ID")
	}
	return append(out, "NVIDIA_VISIBLE_DEVICES="+visible)
}

// CPUs returns the numbers of the hardware threads of cores, in order: the known ones of each,
// or else its own number.
func CPUs(cores Set) []int {
	var out []int
	for i := range cores {
		if len(cores[i].Threads) > 0 {
			out = append(out, cores[i].Threads...)
		} else if n, err := strconv.Atoi(cores[i].ID); err == nil {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Groups returns the groups of the devices, in order.
func Groups(s Set) []int {
	out := make([]int, len(s))
	for i := range s {
		out[i] = s[i].Group
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// threads returns the numbers that CPUs returns, as text.
func threads(cores Set) []string {
	var out []string
	for _, n := range CPUs(cores) {
		out = append(out, strconv.Itoa(n))
	}
	return out
}

// Lacks lists the ids of the devices of a set that are not in h. Two devices are the same if
// their UUIDs are equal or, if one has none, their ids. Drained devices may be missing.
func (h Held) Lacks(set Set) (ids []string) {
	for i := range set {
		d := &set[i]
		if !d.Drained && !slices.ContainsFunc(h.Devices, func(f Device) bool {
			if d.UUID != "" && f.UUID != "" {
				return d.UUID == f.UUID
			}
			return d.ID == f.ID
		}) {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

func (s Set) ids() []string {
	out := make([]string, len(s))
	for i := range s {
		out[i] = s[i].ID
	}
	return out
}

// accelerators returns the devices that CUDA or ROCm would see.
func (h Held) accelerators() Set {
	if h.Resource == "ngpus" || strings.HasPrefix(h.Resource, "gslices") {
		return h.Devices
	}
	if h.Resource == Cores {
		return nil
	}
	return slices.DeleteFunc(h.Devices.Clone(), func(d Device) bool {
		return !strings.HasPrefix(d.UUID, "GPU-") && !strings.HasPrefix(d.UUID, "MIG-")
	})
}

// amd reports whether the devices are AMD's, judging by their models.
func (s Set) amd() bool {
	return slices.ContainsFunc(s, func(d Device) bool {
		model := strings.ToLower(d.Model)
		return strings.Contains(model, "amd") || strings.Contains(model, "instinct") ||
			strings.Contains(model, "radeon")
	})
}

// visible returns the UUIDs of the devices, or their identities if not all UUIDs are known,
// each once. Slices without UUIDs of their own are seen as the device that they belong to.
func (s Set) visible() []string {
	byUUID := !slices.ContainsFunc(s, func(d Device) bool { return d.UUID == "" })
	var out []string
	for i := range s {
		id := s[i].UUID
		if !byUUID {
			id, _, _ = strings.Cut(s[i].ID, "/")
		}
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}
