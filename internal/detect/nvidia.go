package detect

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/placectl/placectl/index/devices"
)

// The queries of nvidia-smi.
var (
	NVIDIAQuery = []string{"nvidia-smi", "--query-gpu=index,uuid,pci.bus_id,name,memory.total",
		"--format=csv,noheader,nounits"}
	NVIDIAList = []string{"nvidia-smi", "-L"}
)

// gpus reads GPUs and their slices from NVIDIA's driver.
func (l *looking) gpus() {
	out, err := l.src.Run(NVIDIAQuery...)
	if errors.Is(err, fs.ErrNotExist) {
		return // no NVIDIA GPUs
	}
	if err != nil {
		l.note("GPUs: nvidia-smi: %v", err)
		return
	}
	r := csv.NewReader(strings.NewReader(out))
	r.TrimLeadingSpace = true
	records, err := r.ReadAll()
	if err != nil {
		l.note("GPUs: nvidia-smi printed what cannot be read: %v", err)
		return
	}
	for _, f := range records {
		if len(f) != 5 {
			l.note("GPUs: nvidia-smi printed %q", strings.Join(f, ", "))
			continue
		}
		d := devices.Device{ID: strings.TrimSpace(f[0]), UUID: strings.TrimSpace(f[1]), Model: strings.TrimSpace(f[3]),
			Group: l.groupOf(f[2])}
		if mib, err := strconv.ParseInt(strings.TrimSpace(f[4]), 10, 64); err == nil {
			d.VRAM = mib * 1024
		}
		l.GPUs = append(l.GPUs, d)
	}
	slices.SortFunc(l.GPUs, func(a, b devices.Device) int { return devices.CompareIDs(a.ID, b.ID) })
	if err := l.GPUs.Check(); err != nil {
		l.note("GPUs: %v", err)
		l.GPUs = nil
		return
	}
	l.asked = true
	if len(l.GPUs) > 0 {
		l.slices()
	}
}

// groupOf returns the group of the device at a PCI address such as 00000000:3B:00.0. It returns 0 if the
// device is in none.
func (l *looking) groupOf(address string) int {
	address = strings.ToLower(strings.TrimSpace(address))
	if domain, rest, ok := strings.Cut(address, ":"); ok && len(domain) > 4 {
		address = domain[len(domain)-4:] + ":" + rest
	}
	if n, ok := l.number("sys/bus/pci/devices/" + address + "/numa_node"); ok && n > 0 && n <= devices.MaxGroup {
		return int(n)
	}
	return 0
}

// Lines of a GPU and of one of its slices.
var (
	aGPU = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^GPU (\d+): `) })
	aMIG = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s+MIG (\S+)\s+Device\s+\d+: \(UUID: ([^)]+)\)`)
	})
)

// slices reads the slices of GPUs. MIG devices of a single size are gslices. With several sizes, each
// size has its own resource, such as gslices20gb.
func (l *looking) slices() {
	out, err := l.src.Run(NVIDIAList...)
	if err != nil {
		l.note("slices: nvidia-smi -L: %v", err)
		return
	}
	type slice struct{ profile, uuid string }
	cut := make(map[string][]slice)
	var profiles []string
	gpu := ""
	for line := range strings.Lines(out) {
		if m := aGPU().FindStringSubmatch(line); m != nil {
			gpu = m[1]
		} else if m := aMIG().FindStringSubmatch(line); m != nil {
			cut[gpu] = append(cut[gpu], slice{m[1], m[2]})
			if !slices.Contains(profiles, m[1]) {
				profiles = append(profiles, m[1])
			}
		}
	}
	for i := range l.GPUs {
		d := &l.GPUs[i]
		for k, s := range cut[d.ID] {
			resource := "gslices"
			if _, size, ok := strings.Cut(s.profile, "."); ok && len(profiles) > 1 {
				resource += size
			}
			if k == 0 {
				d.Slices, d.Into = len(cut[d.ID]), resource
			}
			if l.Slices == nil {
				l.Slices = make(map[string]devices.Set)
			}
			l.Slices[resource] = append(l.Slices[resource], devices.Device{ID: fmt.Sprintf("%s/%d", d.ID, k),
				Group: d.Group, UUID: s.uuid, Model: s.profile})
		}
	}
}
