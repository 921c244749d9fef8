package detect

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

// recorded returns a machine of testdata.
func recorded(t *testing.T, name string) *Source {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	root := make(fstest.MapFS)
	for _, f := range a.Files {
		root[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	return &Source{Root: root, Run: func(words ...string) (string, error) {
		b, err := fs.ReadFile(root, "run/"+strings.Join(words, "_"))
		return string(b), err
	}}
}

// said formats what was found on a line.
func said(m *Machine) string {
	out := fmt.Sprintf("ncpus=%s", m.Cores)
	for _, c := range m.Cores {
		if len(c.Threads) > 0 {
			out += fmt.Sprintf(" %s%v", c.ID, c.Threads)
		}
	}
	if len(m.GPUs) > 0 {
		out += fmt.Sprintf(" ngpus=%s %s %d", m.GPUs, m.GPUs[0].Model, m.GPUs[0].VRAM)
		if uuid := m.GPUs[0].UUID; uuid != "" && !strings.HasPrefix(m.GPUs[0].Model, "NVIDIA") {
			out += " " + uuid
		}
	}
	for _, g := range m.GPUs {
		if g.Slices > 0 {
			out += fmt.Sprintf(" %s:%d of %s", g.ID, g.Slices, g.Into)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Slices)) {
		out += fmt.Sprintf(" %s=%s %s", name, m.Slices[name], m.Slices[name][0].UUID[:7])
	}
	out += fmt.Sprintf(" mem=%d", m.Memory)
	if m.Distances != nil {
		out += " far=" + m.Distances.String()
	}
	return strings.Join(append([]string{out}, m.Notes...), "; ")
}

func TestLook(t *testing.T) {
	far := "10,20;20,10"
	eight := "10,12,12,12,32,32,32,32;12,10,12,12,32,32,32,32;12,12,10,12,32,32,32,32;12,12,12,10,32,32,32,32;" +
		"32,32,32,32,10,12,12,12;32,32,32,32,12,10,12,12;32,32,32,32,12,12,10,12;32,32,32,32,12,12,12,10"
	for _, c := range []struct {
		name    string
		threads bool
		want    string
	}{
		{"one", false, "ncpus=0-3@0 mem=16384000"},
		{"two", false, "ncpus=0-7@0+8-15@1 ngpus=0-1@0+2-3@1 NVIDIA A100-SXM4-80GB 83886080 mem=67108864 far=" + far},
		{"eight", false, "ncpus=0-1@0+2-3@1+4-5@2+6-7@3+8-9@4+10-11@5+12-13@6+14-15@7 " +
			"ngpus=0@0+1@1+2@2+3@3+4@4+5@5+6@6+7@7 NVIDIA H100 80GB HBM3 83516416 mem=67108864 far=" + eight},
		{"smt", false, "ncpus=0-3@0+4-7@1 0[0 8] 1[1 9] 2[2 10] 3[3 11] 4[4 12] 5[5 13] 6[6 14] 7[7 15] " +
			"mem=67108864 far=" + far},
		{"smt", true, "ncpus=0-3,8-11@0+4-7,12-15@1 mem=67108864 far=" + far},
		{"container", false, "ncpus=1-2@0 1[1 9] mem=8388608 far=" + far},
		{"mig", false, "ncpus=0-3@0 ngpus=0-1@0 NVIDIA A100-SXM4-40GB 41943040 0:3 of gslices gslices=0/0-2@0 " +
			"MIG-000 mem=67108864"},
		{"mig_sizes", false, "ncpus=0-3@0 ngpus=0-1@0 NVIDIA A100-SXM4-40GB 41943040 0:3 of gslices5gb 1:2 of " +
			"gslices20gb gslices20gb=1/0-1@0 MIG-100 gslices5gb=0/0-2@0 MIG-000 mem=67108864"},
		{"amd", false, "ncpus=0-3@0 ngpus=0-3@0+4-7@1 AMD gfx90a 0 GPU-1901ead3a2ecd4a6 mem=67108864 far=" + far},
		{"amd_old", false, "ncpus=0-3@0 ngpus=0-1@0 AMD 0x6860 16760832 GPU-c34ec50444dd0a6c mem=67108864"},
		{"amd_parts", false, "ncpus=0-3@0 ngpus=0-3@0+4-7@1 AMD Instinct MI308X 50331648 mem=67108864 far=" + far},
		{"broken", false, `ncpus=0-1@0 mem=67108864; GPUs: nvidia-smi printed "No devices were found"`},
	} {
		if got := said(Look(recorded(t, c.name), c.threads)); got != c.want {
			t.Errorf("%s: Look found\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// TestLookAtNothing: a machine without any facts, and one whose program fails, give notes but no error.
func TestLookAtNothing(t *testing.T) {
	m := Look(&Source{Root: fstest.MapFS{}, Run: func(...string) (string, error) {
		return "", errors.New("took longer than 5s")
	}}, false)
	want := "ncpus= mem=0; cores: /proc/self/status does not tell them; memory: /proc/meminfo does not tell it; " +
		"GPUs: nvidia-smi: took longer than 5s"
	if got := said(m); got != want {
		t.Errorf("Look found\n%s\nwant\n%s", got, want)
	}
}

// TestLookAtBothMakers: nothing would tell apart GPUs of two makers, so AMD's are left out.
func TestLookAtBothMakers(t *testing.T) {
	src := recorded(t, "amd")
	src.Run = recorded(t, "two").Run
	m := Look(src, false)
	if len(m.GPUs) != 4 || m.GPUs[0].Model != "NVIDIA A100-SXM4-80GB" ||
		!slices.ContainsFunc(m.Notes, func(n string) bool { return strings.Contains(n, "8 of AMD are left out") }) {
		t.Errorf("Look with GPUs of two makers found %s, want NVIDIA's alone", said(m))
	}
}

// TestLookAtKeptFrom: a GPU that a container may not see has no properties, and is not counted. The
// libraries do the same.
func TestLookAtKeptFrom(t *testing.T) {
	src := recorded(t, "amd")
	for _, n := range []int{2, 3, 5} {
		src.Root.(fstest.MapFS)[fmt.Sprintf("sys/class/kfd/kfd/topology/nodes/%d/properties", n)] = &fstest.MapFile{}
	}
	if m := Look(src, false); m.GPUs.String() != "0@0+1-4@1" || m.GPUs[0].UUID != "GPU-93bb3629c01aea1c" {
		t.Errorf("Look found %s, first GPU %s", said(m), m.GPUs[0].UUID)
	}
}

// TestLookHere: this machine has at least a core and memory.
func TestLookHere(t *testing.T) {
	m := Look(Here(func(...string) (string, error) { return "", fs.ErrNotExist }), false)
	if len(m.Cores) == 0 || m.Memory == 0 || m.Disk == 0 || m.Cores.Check() != nil {
		t.Errorf("Look at this machine found %+v, want cores, memory and a disk", m)
	}
}

// TestWholeGiB: a disk's free space changes all the time, but a node's seldom.
func TestWholeGiB(t *testing.T) {
	const gib = 1 << 20
	for kb, want := range map[int64]int64{0: 0, gib - 1: gib - 1, gib: gib, 2*gib - 1: gib, 35400864: 33 * gib} {
		if got := wholeGiB(kb); got != want {
			t.Errorf("%d kB free are given as %d, want %d", kb, got, want)
		}
	}
}
