package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSalvageSound salvages a file that is sound, and gets all of it.
func TestSalvageSound(t *testing.T) {
	db, clock := lively(t)
	to := filepath.Join(t.TempDir(), "new.db")
	out, err := Salvage(db.Path(), to, &SalvageOptions{Options: Options{Now: clock.now}})
	if err != nil {
		t.Fatal(err)
	}
	if out.Missing > 0 || len(out.Tables) > 0 || len(out.Notes) > 0 {
		t.Errorf("%+v", out)
	}
	again, err := Open(to, &Options{Now: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	if list := findings(t, again); len(list) > 0 {
		t.Errorf("%q", list)
	}
	kept := func(db *DB) string {
		return strings.Join(slices.DeleteFunc(strings.SplitAfter(dumped(t, db), "\n"), func(line string) bool {
			return strings.Contains(line, `"state"`) || strings.Contains(line, `"decided"`) || strings.Contains(line, `"wakes"`) || strings.HasPrefix(line, `{"rows"`)
		}), "")
	}
	if was, is := kept(db), kept(again); was != is {
		t.Errorf("was\n%s\nis\n%s", was, is)
	}
	if _, err := Salvage(db.Path(), to, nil); !errors.Is(err, ErrExists) {
		t.Errorf("a file is there: %v", err)
	}
}

// TestSalvage damages a file and salvages it: what comes out is sound, every row in it was
// there, and what is not there is said.
func TestSalvage(t *testing.T) {
	db, clock := lively(t)
	whole, err := os.ReadFile(db.Path())
	if err != nil {
		t.Fatal(err)
	}
	was := make(map[string]bool)
	for line := range strings.Lines(dumped(t, db)) {
		was[line] = true
	}
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		damaged := dented(t, slices.Clone(whole))
		path, to := filepath.Join(dir, fmt.Sprintf("%d.db", n)), filepath.Join(dir, fmt.Sprintf("%d.new.db", n))
		defer os.Remove(path)
		defer os.Remove(to)
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := Salvage(path, to, &SalvageOptions{Options: Options{Now: clock.now}})
		if errors.Is(err, ErrNotOurs) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		saved, err := Open(to, &Options{Now: clock.now})
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		if err := saved.Check(func(f string) { list = append(list, f) }); err != nil || len(list) > 0 {
			t.Fatalf("%v %q: %+v", err, list, out)
		}
		if err := saved.Update(func(tx *Tx) error {
			_, err := tx.Cycle(CycleSpec{Backfill: Conservative})
			return err
		}); err != nil {
			t.Fatalf("a cycle: %v: %+v", err, out)
		}
	})
}

// dented changes a file as disks and people do.
func dented(t *rapid.T, b []byte) []byte {
	for range rapid.IntRange(1, 4).Draw(t, "times") {
		at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
		switch rapid.IntRange(0, 5).Draw(t, "how") {
		case 0:
			b[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		case 1:
			at = at / 512 * 512
			clear(b[at:min(at+512, len(b))])
		case 2:
			at = at / 4096 * 4096
			clear(b[at:min(at+4096, len(b))])
		case 3:
			for i := at; i < min(at+200, len(b)); i++ {
				b[i] = byte(rapid.IntRange(0, 255).Draw(t, "byte"))
			}
		case 4:
			other := rapid.IntRange(0, len(b)/4096-1).Draw(t, "page")
			copy(b[at/4096*4096:min(at/4096*4096+4096, len(b))], b[other*4096:])
		case 5:
			if at > 12000 && rapid.Bool().Draw(t, "cut") {
				b = b[:at]
			}
		}
	}
	return b
}
