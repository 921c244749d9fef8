package file

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// granting grants each trial of a lock, as a file system without locks does.
type granting struct{ trials int }

func (g *granting) Do(op Operation, fn func() error) error {
	if op.Kind == "lock" && op.At == lockTrial {
		g.trials++
		return nil
	}
	return fn()
}

// TestTryLocks: locks are tried. Without them, or where other machines may have the file, a warning
// says so; on a local file system none does.
func TestTryLocks(t *testing.T) {
	path := newFile(t).path
	kind := fileSystemOf(filepath.Dir(path))
	if !kind.isLocal() {
		t.Skip("the folder for temporary files is not on a known local file system")
	}
	said := func() (warned, failed string) {
		f, err := Open(path, Options{Warn: func(s string) { warned += s }, LocksFail: func(s string) { failed += s }})
		if err == nil {
			err = f.View(func(*Recorder) error { return nil })
		}
		if err == nil {
			err = f.View(func(*Recorder) error { return nil })
		}
		if err != nil {
			t.Fatal(err)
		}
		return warned, failed
	}
	if l := TryLocks(path); l != (Locks{On: kind.name}) {
		t.Errorf("on a local file system TryLocks = %+v, want no doubt", l)
	}
	if warned, failed := said(); warned+failed != "" {
		t.Errorf("on a local file system: %q, %q", warned, failed)
	}

	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		t.Fatal(err)
	}
	magic := uint32(st.Type)
	defer func() { fileSystems[magic] = kind }()
	delete(fileSystems, magic)
	if l := TryLocks(path); l.Doubt != "" || l.On != "an unknown file system" {
		t.Errorf("on an unknown file system with locks TryLocks = %+v, want no doubt", l)
	}
	g := new(granting)
	calls = g
	defer func() { calls = direct{} }()
	warned, failed := said()
	if !strings.Contains(failed, "is on an unknown file system, where file locks do not keep others out") ||
		warned != "" || g.trials != 2 {
		t.Errorf("without locks: %q, %q after %d trials, want a failure after 2", warned, failed, g.trials)
	}
	calls = direct{}
	fileSystems[magic] = fileSystem{name: "FUSE", layered: true}
	if warned, failed := said(); !strings.Contains(warned, "FUSE, where file locks may not keep others out: "+
		"processes of this machine keep each other out") || failed != "" {
		t.Errorf("on FUSE: %q, %q", warned, failed)
	}
}

// TestMountOf: a path belongs to the deepest mount, and to the last one of a place.
func TestMountOf(t *testing.T) {
	t.Parallel()
	mounts := []mount{{"/", "/", "ext4", "a"}, {"/", "/srv", "nfs", "b"}, {"/", "/srv", "nfs", "c"},
		{"/", "/srv/x", "fuse", "d"}}
	for path, want := range map[string]int{"/etc/p.db": 0, "/srv/p.db": 2, "/srvx/p.db": 0, "/srv/x/p.db": 3,
		"/srv/xy": 2} {
		if is := mountOf(mounts, path); is != want {
			t.Errorf("mountOf(%q) = %d, want %d", path, is, want)
		}
	}
	if is := mountOf(nil, "/p.db"); is != -1 {
		t.Errorf("mountOf without mounts = %d, want -1", is)
	}
}
