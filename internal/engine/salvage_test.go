package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/placer"
	"pgregory.net/rapid"
)

// TestSalvageSound salvages a sound file, and gets all of it.
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
			return strings.Contains(line, `"state"`) || strings.Contains(line, `"decided"`) ||
				strings.Contains(line, `"wakes"`) || strings.HasPrefix(line, `{"rows"`)
		}), "")
	}
	if was, is := kept(db), kept(again); was != is {
		t.Errorf("was\n%s\nis\n%s", was, is)
	}
	if _, err := Salvage(db.Path(), to, nil); !errors.Is(err, ErrExists) {
		t.Errorf("a file is there: %v", err)
	}
}

// TestSalvage damages a file and salvages it: the result is sound, all its rows existed, and
// what is missing is reported.
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
			_, err := tx.Cycle().Run(CycleSpec{Backfill: Conservative})
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

// TestSalvagePages loses each page of a larger file in turn. Below a lost branch all leaves
// are found. The rows of a lost leaf are missing, and their number is reported.
func TestSalvagePages(t *testing.T) {
	t.Parallel()
	db, clock := newDB(t)
	addNodes(t, db, "n", 1200, 4)
	one := placer.Request{Select: "1:ncpus=1", Place: "excl", Walltime: time.Hour}
	err := db.Update(func(tx *Tx) error {
		_, err := tx.Jobs().Submit(Submission{Request: one, Array: 600, Hold: true})
		if err == nil {
			_, err = tx.Jobs().Place(one)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(db.Path())
	if err != nil {
		t.Fatal(err)
	}
	dir, branches, leaves := t.TempDir(), 0, 0
	for at := 2 * 4096; at < len(whole); at += 4096 {
		flags := binary.NativeEndian.Uint16(whole[at+8:])
		if binary.NativeEndian.Uint64(whole[at:]) != uint64(at/4096) || flags != 1 && flags != 2 {
			continue // a part of the one before, or never used
		}
		if testing.Short() && flags == 2 && at/4096%3 != 0 {
			continue
		}
		damaged := slices.Clone(whole)
		clear(damaged[at : at+4096])
		path, to := filepath.Join(dir, "damaged.db"), filepath.Join(dir, "new.db")
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := Salvage(path, to, &SalvageOptions{Options: Options{Now: clock.now}})
		if err != nil {
			t.Fatalf("page %d: %v", at/4096, err)
		}
		saved, err := Open(to, &Options{Now: clock.now})
		if err != nil {
			t.Fatal(err)
		}
		if list := findings(t, saved); len(list) > 0 {
			t.Errorf("page %d: %q", at/4096, list)
		}
		switch {
		case flags == 1 && out.Missing != 0:
			t.Errorf("page %d is a branch, and %d rows are missing: %+v", at/4096, out.Missing, out)
		case flags == 1:
			branches++
		case out.Missing > 0:
			leaves++
		}
		// the list of tables
		before := slices.ContainsFunc(out.Notes, func(n string) bool { return strings.Contains(n, "the one before") })
		if out.Nodes+out.Jobs+out.Missing < 1801 && !before {
			t.Errorf("page %d: %d nodes, %d jobs, %d rows missing", at/4096, out.Nodes, out.Jobs, out.Missing)
		}
		os.Remove(to)
	}
	if branches < 3 || leaves < 20 {
		t.Errorf("%d branches, %d leaves", branches, leaves)
	}
}

// TestSalvageMost salvages 200 damaged files of one database, 40 with -short. Each has one to three
// pages of zeros; or a branch page, which leads to others that are whole; or both meta pages.
func TestSalvageMost(t *testing.T) {
	t.Parallel()
	db, clock := lively(t)
	for range 3 {
		err := db.Update(func(tx *Tx) error {
			_, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1:ncpus=1", Walltime: time.Hour,
				User: "ann"}, Array: 800, Hold: true})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(db.Path())
	if err != nil {
		t.Fatal(err)
	}
	all, err := db.Dump(io.Discard, nil)
	if err != nil {
		t.Fatal(err)
	}
	const page, branch = 4096, 1
	var branches []int
	for n := 2; n < len(whole)/page; n++ {
		if b := whole[n*page:]; binary.NativeEndian.Uint64(b) == uint64(n) && binary.NativeEndian.Uint16(
			b[8:]) == branch {
			branches = append(branches, n)
		}
	}
	files, dir, draw := 200, t.TempDir(), rand.New(rand.NewPCG(1, 2))
	if testing.Short() {
		files = 20
	}
	sum := int64(0)
	for n := range files {
		damaged, least := slices.Clone(whole), int64(0)
		zero := func(at int) { clear(damaged[at*page : (at+1)*page]) }
		switch n % 20 {
		case 0:
			least = all.Rows / 3 // the state before the last one may be found
			zero(0)
			zero(1)
		case 1:
			least = all.Rows * 99 / 100
			zero(branches[draw.IntN(len(branches))])
		default:
			for range 1 + draw.IntN(3) {
				zero(2 + draw.IntN(len(whole)/page-2))
			}
		}
		path, to := filepath.Join(dir, fmt.Sprintf("%d.db", n)), filepath.Join(dir, fmt.Sprintf("%d.new.db", n))
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := salvagedRows(path, to, clock)
		if err != nil || got < least {
			t.Errorf("file %d: %d rows of %d, not at least %d: %v", n, got, all.Rows, least, err)
		}
		sum += got
		os.Remove(path)
		os.Remove(to)
	}
	t.Logf("%d rows of %d in %d files", sum, int64(files)*all.Rows, files)
	if least := int64(files) * all.Rows * 95 / 100; sum < least {
		t.Errorf("%d rows, not at least %d", sum, least)
	}
}

// salvagedRows returns how many rows that are not derived come out of a file.
func salvagedRows(path, to string, clock *clock) (int64, error) {
	opt := Options{Now: clock.now}
	if _, err := Salvage(path, to, &SalvageOptions{Options: opt}); err != nil {
		return 0, err
	}
	db, err := Open(to, &opt)
	if err != nil {
		return 0, err
	}
	got, err := db.Dump(io.Discard, nil)
	return got.Rows, errors.Join(err, db.Close())
}
