package row

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/index"
)

// fullNode sets every field that a row holds.
func fullNode() *index.Node {
	n := &index.Node{Number: 7, Name: "n7", Queue: "q", Priority: -3, State: index.Drained, Reason: "fan", Bucket: 2,
		Speed: 1.5, ProcSpeed: 2400, Load: 0.25, Usage: 0.5, Access: index.AccessSingleTask, Sharing: index.ForceExclHost,
		PriorityF: "SPEED", Features: []string{"ssd", "ib"}}
	n.Set(index.NCPUs, index.Value{Num: 8})
	n.Set(index.Arch, index.Value{Str: "amd64"})
	return n
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

// A row that was written before nodes had a sharing ends two bytes earlier, one of before
// it was known whether they had been given less one byte: they may have been.
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

// The layout of before access was a type: a word, whichever it is, then the rest.
func TestNodeRowWords(t *testing.T) {
	row := func(access string, sharing ...byte) []byte {
		e := encoder{}
		e.byte(nodeVersion)
		e.byte(byte(index.Up))
		e.fixed32(2)
		e.fixed32(0)
		for _, s := range []string{"n7", "", "", access, ""} {
			e.string(s)
		}
		e.strings(nil)
		e.byte(0)
		e.uint(0)
		return append(e.b, sharing...)
	}
	for word, want := range map[string]index.Access{"": index.AccessShared, "shared": index.AccessShared,
		"singleuser": index.AccessSingleUser, "singlejob": index.AccessSingleJob, "singletask": index.AccessSingleTask} {
		n, err := DecodeNode(Key32(7), row(word))
		if err != nil || n.Access != want || n.Sharing != index.DefaultShared {
			t.Errorf("%q: %+v, %v", word, n, err)
		}
	}
	for name, b := range map[string][]byte{"an unknown access": row("nobody"), "an unknown sharing": row("", 6)} {
		if _, err := DecodeNode(Key32(7), b); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n, err := DecodeNode(Key32(7), row("", byte(index.ForceExcl), 1, 2, 3)); err != nil || n.Sharing != index.ForceExcl {
		t.Errorf("a row of a newer version: %+v, %v", n, err)
	}
}

// Whatever a row is, it is read without a panic.
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
