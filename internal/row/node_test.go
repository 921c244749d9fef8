package row

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
)

// fullNode returns a node with every field that a row holds.
func fullNode() *index.Node {
	n := &index.Node{Number: 7, Name: "n7", Queue: "q", Priority: -3, State: index.Drained, Reason: "fan", Bucket: 2,
		Speed: 1.5, ProcSpeed: 2400, Load: 0.25, Usage: 0.5, Access: index.AccessSingleTask,
		Sharing:   index.ForceExclHost,
		PriorityF: "SPEED", Features: []string{"ssd", "ib"}}
	n.Set(index.NCPUs, index.Value{Num: 8})
	n.Set(index.Arch, index.Value{Str: "amd64"})
	return n
}

// TestNodeRowDevices verifies that facts about devices read back, and that a node without
// devices has no byte for them.
func TestNodeRowDevices(t *testing.T) {
	bare := EncodeNode(fullNode())
	n := fullNode()
	cores, err := devices.Parse("0-3@0+4-5,7@1")
	if err != nil {
		t.Fatal(err)
	}
	cores[2].Threads = []int{2, 66}
	n.SetDevices(index.NCPUs, cores)
	n.SetDevices(index.NGPUs, devices.Set{
		{ID: "0", Group: 1, UUID: "GPU-1", Model: "A100", VRAM: 80 << 20},
		{ID: "3", Drained: true, Reason: "ecc"},
		{ID: "4", Slices: 4, Into: "gslices"}, {ID: "x"},
	})
	n.Distances = devices.Distances{{10, 21}, {21, 10}}
	full := EncodeNode(n)
	got, err := DecodeNode(Key32(7), full)
	if diff := cmp.Diff(n, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if v, _ := got.Get(index.NGPUs); v.Num != 2 {
		t.Errorf("%d of 4 devices are in service", v.Num)
	}
	only, part, err := DecodeNodeOnly(Key32(7), full)
	if err != nil || only.Devices != nil || len(only.Res) != len(n.Res) {
		t.Error(err, only)
	}
	if err := DecodeDevices(Key32(7), part, only); err != nil || !index.SameDevices(only, n) {
		t.Error(err, only.Devices)
	}
	n.Unset(index.NGPUs)
	n.SetDevices(index.NCPUs, nil)
	n.Distances = nil
	n.Set(index.NCPUs, index.Value{Num: 8})
	if !slices.Equal(EncodeNode(n), bare) {
		t.Error("a node that has forgotten its devices is longer than one that had none")
	}
	for i := range full {
		DecodeNode(Key32(7), full[:i])
		for v := range 256 {
			b := slices.Clone(full)
			b[i] = byte(v)
			DecodeNode(Key32(7), b)
		}
	}
}

// Reading a node into one that was read before leaves nothing of the earlier one.
func TestReadNodeAgain(t *testing.T) {
	full, bare := fullNode(), &index.Node{Number: 9, Name: "n9"}
	full.SetDevices(index.NGPUs, devices.Set{{ID: "0"}})
	var n index.Node
	var words Words
	for i, want := range []*index.Node{bare, full, bare, full} {
		if err := ReadNode(Key32(want.Number), EncodeNode(want), &n, &words); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, &n, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("reading number %d: %s", i+1, diff)
		}
	}
}

func TestNodeRow(t *testing.T) {
	n := fullNode()
	for s := index.DefaultShared; s.Valid(); s++ {
		for a := index.AccessShared; a.Valid(); a++ {
			n.Sharing, n.Access = s, a
			got, err := DecodeNode(Key32(7), EncodeNode(n))
			if diff := cmp.Diff(n, got); err != nil || diff != "" {
				t.Errorf("%s, %s: %v %s", s, a, err, diff)
			}
		}
	}
}

// A row from before nodes had a sharing ends two bytes earlier. One from before it was known
// whether they had been reduced ends one byte earlier: they may have been.
func TestNodeRowWithoutSharing(t *testing.T) {
	n := fullNode()
	row := EncodeNode(n)
	got, err := DecodeNode(Key32(7), row[:len(row)-1])
	n.Lessened = true
	if diff := cmp.Diff(n, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	got, err = DecodeNode(Key32(7), row[:len(row)-2])
	n.Sharing = index.DefaultShared
	if diff := cmp.Diff(n, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := DecodeNode(Key32(7), row[:len(row)-3]); !errors.Is(err, ErrDamaged) {
		t.Errorf("a row that is cut inside its resources: %v", err)
	}
}

// The layout from before access was a type: any word, then the rest.
func TestNodeRowWords(t *testing.T) {
	row := func(access string, sharing ...byte) []byte {
		e := encoder{}
		e.byte(nodeVersion)
		e.byte(byte(index.Up))
		e.b = append(e.b, 2, 0, 0, 0, 0, 0, 0, 0) // two numbers of 32 bits
		for _, s := range []string{"n7", "", "", access, ""} {
			e.string(s)
		}
		e.uint(0)
		e.byte(0)
		e.uint(0)
		return append(e.b, sharing...)
	}
	for word, want := range map[string]index.Access{"": index.AccessShared, "shared": index.AccessShared,
		"singleuser": index.AccessSingleUser, "singlejob": index.AccessSingleJob,
		"singletask": index.AccessSingleTask} {
		n, err := DecodeNode(Key32(7), row(word))
		if err != nil || n.Access != want || n.Sharing != index.DefaultShared {
			t.Errorf("%q: %+v, %v", word, n, err)
		}
	}
	for name, b := range map[string][]byte{"an unknown access": row("everyone"), "an unknown sharing": row("", 6)} {
		if _, err := DecodeNode(Key32(7), b); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n, err := DecodeNode(Key32(7), row("", byte(index.ForceExcl), 1, 0, 0, 3)); err != nil ||
		n.Sharing != index.ForceExcl {
		t.Errorf("a row of a newer version: %+v, %v", n, err)
	}
}

// Any row is read without a panic.
func TestNodeRowCut(t *testing.T) {
	row := EncodeNode(fullNode())
	for i := range row {
		DecodeNode(Key32(7), row[:i])
	}
	for i := range row {
		for v := range 256 {
			b := slices.Clone(row)
			b[i] = byte(v)
			DecodeNode(Key32(7), b)
		}
	}
}
