package file

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/internal/row"
	"go.etcd.io/bbolt"
)

// TestPanicOnTheWay: a panic from bbolt is damage, even if a function in between has recovered
// it and panicked again, as the parsers of queries do. So is one from a bitmap that was read.
// Other panics continue.
func TestPanicOnTheWay(t *testing.T) {
	t.Parallel()
	var bucket *bbolt.Bucket
	bad := []byte{0x3b, 0x30, 0, 0, 0, 0, 0, 0xff, 0xff, 1, 0, 5, 0} // a container that is cut off
	for name, c := range map[string]struct {
		fault  func()
		damage bool
	}{
		"bbolt": {func() { bucket.Get([]byte("k")) }, true},
		"roaring": {func() {
			b := roaring.New()
			if _, err := b.FromBuffer(bad); err == nil {
				b.Select(1 << 20)
			}
			var none *roaring.Bitmap
			none.Contains(1)
		}, true},
		"ours": {func() { panic("ours") }, false},
	} {
		for _, again := range []bool{false, true} {
			var err error
			func() {
				defer func() {
					if p := recover(); (p != nil) == c.damage {
						t.Errorf("%s, recovered on the way %t: it panics: %v", name, again, p)
					}
				}()
				err = Guard(func() error {
					defer func() {
						if again {
							panic(recover())
						}
					}()
					c.fault()
					return nil
				})
			}()
			if c.damage && !errors.Is(err, row.ErrDamaged) {
				t.Errorf("%s, recovered on the way %t: %v", name, again, err)
			}
		}
	}
}

// TestForeignBackup: a bbolt file without our tables is not backed up.
func TestForeignBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "foreign.db")
	b, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
	f, err := Open(path, Options{})
	if err == nil {
		_, err = f.Backup(filepath.Join(dir, "copy.db"), nil)
	}
	if !errors.Is(err, ErrNotOurs) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "copy.db")); err == nil {
		t.Error("there is a copy")
	}
}

// TestLitterOfOtherNames: what a killed backup has left is removed when the next file is made
// in the folder, whatever its name. Files of others stay.
func TestLitterOfOtherNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sound, err := os.ReadFile(newFile(t).Path())
	if err != nil {
		t.Fatal(err)
	}
	goes := map[string][]byte{".monday.db.new-1": sound, ".tuesday.db.new-2": nil, ".monday.db.new-1.lock": nil,
		".wednesday.db.new-3": sound[:len(sound)/2]}
	stays := map[string][]byte{".letter.new-4": []byte("dear friend, this is no database and nothing of ours"),
		".monday.db.newer": sound, "monday.db": sound}
	old := time.Now().Add(-2 * litterAge)
	for _, files := range []map[string][]byte{goes, stays} {
		for name, content := range files {
			if err := errors.Join(os.WriteFile(filepath.Join(dir, name), content, 0o600),
				os.Chtimes(filepath.Join(dir, name), old, old)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".under-way.db.new-5"), sound, 0o600); err != nil {
		t.Fatal(err)
	}
	stays[".under-way.db.new-5"] = nil
	if _, err := newFile(t).Backup(filepath.Join(dir, "thursday.db"), nil); err != nil {
		t.Fatal(err)
	}
	for name := range goes {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
	for name := range stays {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestClosed: a closed handle answers nothing.
func TestClosed(t *testing.T) {
	t.Parallel()
	f := newFile(t)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	_, copied := f.Copy()
	_, backup := f.BackupTo(io.Discard, t.TempDir(), nil)
	for i, err := range []error{f.View(func(*Recorder) error { return nil }),
		f.Update(func(*Recorder) (bool, error) { return true, nil }), copied, backup, f.Close()} {
		if want := map[bool]error{false: ErrClosed}[i == 4]; !errors.Is(err, want) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

// TestCloseBesideReaders: a copy that is closed while others read answers them, or says that it is closed.
func TestCloseBesideReaders(t *testing.T) {
	t.Parallel()
	f, err := newFile(t).Copy()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for err := error(nil); err == nil; {
				if err = f.View(func(*Recorder) error { return nil }); err != nil && !errors.Is(err, ErrClosed) {
					t.Error(err)
				}
			}
		})
	}
	time.Sleep(time.Millisecond)
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	all.Wait()
}

// TestScratchReaders: readers of a scratch file do not wait for each other.
func TestScratchReaders(t *testing.T) {
	t.Parallel()
	f, err := Open(newFile(t).Path(), Options{Scratch: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.View(func(*Recorder) error { return nil }); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	both := make(chan struct{})
	for i := range 2 {
		all.Go(func() {
			err := f.View(func(*Recorder) error {
				select {
				case both <- struct{}{}:
				case <-both:
				case <-time.After(10 * time.Second):
					return fmt.Errorf("reader %d is alone", i)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
