package spool

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// TestSpool: what was written comes back in order, as often as requested, whether everything is in memory,
// most in a file, or no file can be made. What was written at once comes in one piece.
func TestSpool(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		if rapid.Bool().Draw(rt, "no room") {
			t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
		} else {
			t.Setenv("TMPDIR", t.TempDir())
		}
		var s Spool
		defer s.Reset()
		for range rapid.IntRange(1, 2).Draw(rt, "answers") {
			var want []byte
			for i := range rapid.IntRange(0, 12).Draw(rt, "writes") {
				b := bytes.Repeat([]byte{byte('a' + i)},
					rapid.SampledFrom([]int{0, 1, 1000, Held / 3, Held, Held + 7}).Draw(rt, "size"))
				s.Write(b)
				want = append(want, b...)
			}
			for range 2 {
				var got bytes.Buffer
				if n, err := s.WriteTo(&got); err != nil || n != int64(len(want)) || !bytes.Equal(got.Bytes(), want) {
					rt.Fatalf("%d bytes of %d, %v", n, len(want), err)
				}
			}
			last := byte(0)
			s.Each(func(piece []byte) error {
				if len(piece) > 0 {
					if piece[0] == last {
						rt.Fatalf("what was written at once begins in the piece before")
					}
					last = piece[len(piece)-1]
				}
				return nil
			})
			s.Reset()
		}
	})
}

// TestNameless: the file has no name to find, or to leave behind.
func TestNameless(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var s Spool
	defer s.Reset()
	for range 3 {
		s.Write(make([]byte, Held))
	}
	if s.file == nil || len(s.held) != 0 {
		t.Fatal("everything is in memory, want a file")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the folder has %v, %v, want nothing", left, err)
	}
}
