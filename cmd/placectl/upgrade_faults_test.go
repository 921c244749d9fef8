//go:build faults

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
)

// An oldFile is a file of an earlier format, in a folder of its own.
type oldFile struct {
	t       *testing.T
	db      string
	content []byte
}

// reset restores the old file, without its lock file.
func (o *oldFile) reset(content []byte) {
	o.t.Helper()
	theDisk.works(nil)
	os.Remove(o.db + ".lock")
	if err := os.WriteFile(o.db, content, 0o600); err != nil {
		o.t.Fatal(err)
	}
}

// run runs a verb on the file, some time after everything in it.
func (o *oldFile) run(args ...string) (status int, said string) {
	c := newCapture(append([]string{"--db", o.db, "--lock-timeout", "1s"}, args...)...)
	return c.run(), c.out.String() + c.err.String()
}

// upgrade writes to the file, which migrates it.
func (o *oldFile) upgrade() (int, string) { return o.run("config", "set", "default_walltime=3600") }

// dump returns the content of the migrated file, except for what is drawn at random then.
func (o *oldFile) dump(what string) string {
	o.t.Helper()
	theDisk.works(nil)
	if status, said := o.upgrade(); status != exit.OK {
		o.t.Fatalf("%s: then config set: status %d: %s", what, status, said)
	}
	if status, said := o.run("check", "--in-process"); status != exit.OK {
		o.t.Fatalf("%s: then check: status %d: %s", what, status, said)
	}
	status, said := o.run("dump")
	if status != exit.OK {
		o.t.Fatalf("%s: then dump: status %d: %s", what, status, said)
	}
	return drawn.ReplaceAllString(said, "")
}

// drawn matches what is different each time a file is migrated.
var drawn = regexp.MustCompile(`(?m)^.*"(key":"identity|placectl":"dump)".*\n`)

// TestUpgradeIsCut migrates a file of every past format while one of its operations fails, or all from one
// on, and while power is lost at each. Then the next verb finds it as it was, or migrated, with the same
// content.
func TestUpgradeIsCut(t *testing.T) {
	files, err := filepath.Glob("../../testdata/db/v*.db")
	if err != nil || len(files) < 5 {
		t.Fatalf("only these old files were found: %v, %v", files, err)
	}
	random := seeded(t)
	cut, lost := 0, 0
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		o := &oldFile{t, filepath.Join(t.TempDir(), "old.db"), content}
		o.reset(content)
		disk, images := platter{safe: bytes.Clone(content)}, [][]byte{}
		theDisk.works(func(op operation, do func() error) error {
			if op.path == o.db {
				for range 4 {
					images = append(images, disk.image(random))
				}
			}
			err := do()
			if err == nil && op.path == o.db {
				disk.take(op)
			}
			return err
		})
		status, said := o.upgrade()
		count := theDisk.n
		if status != exit.OK {
			t.Fatalf("%s: status %d: %s", name, status, said)
		}
		want := o.dump(name)
		for i, image := range images {
			if !*long && random.IntN(4) > 0 {
				continue
			}
			o.reset(image)
			lost++
			if got := o.dump(fmt.Sprintf("%s: power lost, image %d", name, i)); got != want {
				t.Fatalf("%s: power lost, image %d has another content (-want +got):\n%s", name, i, cmp.Diff(want, got))
			}
		}
		for k := range count {
			for how := range failures {
				for _, on := range []bool{false, true} {
					if !*long && random.IntN(8) > 0 {
						continue
					}
					what := fmt.Sprintf("%s: operation %d fails (%d, and all after it: %v)", name, k, how, on)
					o.reset(content)
					theDisk.works(func(op operation, do func() error) error {
						if op.number == k || on && op.number > k {
							return how.fail(random, op, do)
						}
						return do()
					})
					status, said := o.upgrade()
					cut++
					if status != exit.OK && status != exit.Failed && status != exit.Unknown {
						t.Fatalf("%s: status %d: %s", what, status, said)
					}
					if got := o.dump(what); got != want {
						t.Fatalf("%s: the file has another content (-want +got):\n%s", what, cmp.Diff(want, got))
					}
				}
			}
		}
	}
	t.Logf("%d files; %d migrations with operations that failed, %d losses of power", len(files), cut, lost)
}
