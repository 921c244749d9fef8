package devices

import (
	"strings"
	"testing"
)

func TestEnviron(t *testing.T) {
	h := func(resource, text string) Held { return Held{resource, set(t, text)} }
	known := h("ngpus", "0-1@0")
	known.Devices[0].UUID, known.Devices[1].UUID = "GPU-a", "GPU-b"
	half := h("ngpus", "0-1@0")
	half.Devices[0].UUID = "GPU-a"
	amd := h("ngpus", "0-1@0")
	amd.Devices[1].Model = "AMD Instinct MI250X"
	mig := h("gslices", "0/0-1@0")
	mig.Devices[0].UUID, mig.Devices[1].UUID = "MIG-a", "MIG-b"
	a100 := h("a100", "4@0")
	a100.Devices[0].UUID = "GPU-z"
	cores := h("ncpus", "0-3@0")
	cores.Devices[0].Threads, cores.Devices[1].Threads = []int{0, 32}, []int{1, 33}
	first := func(h Held, n int) Held { return Held{h.Resource, h.Devices[:n]} }
	for _, c := range []struct {
		name        string
		held, named []Held
		want        string
	}{
		{"a node without names", nil, nil, ""},
		{"numbers", []Held{h("ngpus", "0,3@0"), h("ncpus", "0-7@0")}, []Held{h("ngpus", "0-3@0"), h("ncpus", "0-15@0")},
			"PLACECTL_DEVICES=ngpus=0,3;ncpus=0-7 PLACECTL_CPUS=0-7 CUDA_VISIBLE_DEVICES=0,3 " +
				"CUDA_DEVICE_ORDER=PCI_BUS_ID NVIDIA_VISIBLE_DEVICES=0,3"},
		{"uuids", []Held{first(known, 2)}, []Held{known},
			"PLACECTL_DEVICES=ngpus=0-1 CUDA_VISIBLE_DEVICES=GPU-a,GPU-b NVIDIA_VISIBLE_DEVICES=GPU-a,GPU-b"},
		{"not all uuids", []Held{half}, []Held{half}, "PLACECTL_DEVICES=ngpus=0-1 CUDA_VISIBLE_DEVICES=0,1 " +
			"CUDA_DEVICE_ORDER=PCI_BUS_ID NVIDIA_VISIBLE_DEVICES=0,1"},
		{"none of them", nil, []Held{known}, "PLACECTL_DEVICES= CUDA_VISIBLE_DEVICES= CUDA_DEVICE_ORDER=PCI_BUS_ID " +
			"NVIDIA_VISIBLE_DEVICES="},
		{"none but cores", []Held{h("ncpus", "3@0")}, []Held{h("ncpus", "0-3@0")},
			"PLACECTL_DEVICES=ncpus=3 PLACECTL_CPUS=3"},
		{"threads", []Held{first(cores, 2)}, []Held{cores}, "PLACECTL_DEVICES=ncpus=0-1 PLACECTL_CPUS=0-1,32-33"},
		{"AMD", []Held{first(amd, 1)}, []Held{amd}, "PLACECTL_DEVICES=ngpus=0 ROCR_VISIBLE_DEVICES=0"},
		{"slices that have uuids", []Held{first(mig, 1)}, []Held{mig},
			"PLACECTL_DEVICES=gslices=0/0 CUDA_VISIBLE_DEVICES=MIG-a NVIDIA_VISIBLE_DEVICES=MIG-a"},
		{"slices that are trusted", []Held{h("gslices", "3/0-1@0")}, []Held{h("gslices", "3/0-3@0")},
			"PLACECTL_DEVICES=gslices=3/0-1 CUDA_VISIBLE_DEVICES=3 CUDA_DEVICE_ORDER=PCI_BUS_ID " +
				"NVIDIA_VISIBLE_DEVICES=3"},
		{"another resource with GPUs", []Held{a100}, []Held{known, a100},
			"PLACECTL_DEVICES=a100=4 CUDA_VISIBLE_DEVICES=GPU-z NVIDIA_VISIBLE_DEVICES=GPU-z"},
		{"what is no GPU", []Held{h("fpga", "0@0")}, []Held{h("fpga", "0@0")}, "PLACECTL_DEVICES=fpga=0"},
	} {
		if got := strings.Join(Environ(c.held, c.named), " "); got != c.want {
			t.Errorf("%s:\n%s\nnot\n%s", c.name, got, c.want)
		}
	}
}
