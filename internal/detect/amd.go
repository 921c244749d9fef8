package detect

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index/devices"
)

// kfd is the directory where the kernel's driver of AMD's GPUs lists processors, each in a directory:
// GPUs, and the sockets beside them, in order of their numbers. The libraries and ROCR_VISIBLE_DEVICES
// count GPUs in this order.
const kfd = "sys/class/kfd/kfd/topology/nodes"

// amdGPUs reads AMD's GPUs. To the driver, the parts of a partitioned GPU are GPUs, and so they are
// here.
func (l *looking) amdGPUs() {
	dirs, err := fs.ReadDir(l.src.Root, kfd)
	if err != nil {
		return // no AMD GPUs
	}
	var nodes []int
	for _, d := range dirs {
		if n, err := strconv.Atoi(d.Name()); err == nil {
			nodes = append(nodes, n)
		}
	}
	slices.Sort(nodes)
	var found devices.Set
	for _, n := range nodes {
		dir := fmt.Sprintf("%s/%d", kfd, n)
		if p := l.properties(dir + "/properties"); p["simd_count"] > 0 { // else a socket, or one that is kept from us
			found = append(found, l.amdGPU(dir, p, strconv.Itoa(len(found))))
		}
	}
	if len(found) == 0 {
		return
	}
	if len(l.GPUs) > 0 {
		l.note("GPUs: %d of AMD are left out, beside those of NVIDIA: a resource of their own is for them", len(found))
		return
	}
	seen := make(map[string]int)
	for i := range found {
		seen[found[i].UUID]++
	}
	for i := range found {
		if seen[found[i].UUID] > 1 { // parts of one GPU have its number
			found[i].UUID = ""
		}
	}
	l.GPUs, l.asked = found, true
}

// amdGPU makes a GPU from its directory and its properties.
func (l *looking) amdGPU(dir string, p map[string]uint64, id string) devices.Device {
	at := p["location_id"]
	address := func(function uint64) string {
		return fmt.Sprintf("%04x:%02x:%02x.%x", p["domain"], at>>8&0xff, at>>3&0x1f, function)
	}
	d := devices.Device{ID: id, Group: l.groupOf(address(at & 7))}
	name := l.text("sys/bus/pci/devices/" + address(at&7) + "/product_name")
	if at&7 != 0 && name == "" { // a part of the GPU at function 0
		d.Group, name = l.groupOf(address(0)), l.text("sys/bus/pci/devices/"+address(0)+"/product_name")
	}
	if d.Model = cmp.Or(name, l.amdName(dir, p)); !strings.HasPrefix(d.Model, "AMD") {
		d.Model = "AMD " + d.Model
	}
	if unique := p["unique_id"]; unique != 0 {
		d.UUID = fmt.Sprintf("GPU-%016x", unique)
	}
	for bank := range p["mem_banks_count"] {
		const public, private = 1, 2 // a GPU's own memory
		if m := l.properties(fmt.Sprintf("%s/mem_banks/%d/properties", dir, bank)); m["heap_type"] == public ||
			m["heap_type"] == private {
			d.VRAM += int64(m["size_in_bytes"] / 1024)
		}
	}
	return d
}

// amdName returns a name for a GPU that does not give its product name: its instruction set as in
// compilers, or else its device number.
func (l *looking) amdName(dir string, p map[string]uint64) string {
	if v := p["gfx_target_version"]; v != 0 {
		return fmt.Sprintf("gfx%d%x%x", v/10000, v/100%100, v%100)
	}
	return cmp.Or(l.text(dir+"/name"), fmt.Sprintf("%#04x", p["device_id"]))
}

// properties reads lines with a name and a number.
func (l *looking) properties(path string) map[string]uint64 {
	out := make(map[string]uint64)
	for line := range strings.Lines(l.text(path)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseUint(value, 10, 64); err == nil {
			out[name] = n
		}
	}
	return out
}
