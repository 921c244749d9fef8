package file

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// fileSystem is what is known about a kind of file system.
type fileSystem struct {
	name    string
	shared  bool // several machines share it
	layered bool // there may be another way to its files, which its locks do not cover
	redraws bool // it may draw the numbers of inodes anew
	layers  bool // a file may become another one below its name when it is first written to
}

// isLocal reports whether its locks certainly keep others out.
func (s fileSystem) isLocal() bool { return s.name != "" && !s.shared && !s.layered }

// NetworkFileSystem names the file system of a directory if several machines share it, so that
// locks may not exclude the others. Otherwise it returns "".
func NetworkFileSystem(dir string) string {
	if s := fileSystemOf(dir); s.shared {
		return s.name
	}
	return ""
}

// Notifies reports whether the kernel tells of each change of a folder's files.
func Notifies(dir string) bool { return fileSystemOf(dir).isLocal() }

// Locks is what was found out about the locks of a database file.
type Locks struct {
	On    string // the name of the file system
	Doubt string // why locks may not keep others out, "" if they do
	Fail  bool   // they were tried, and do not
}

// Warning returns a warning about the locks of a database, "" for none.
func (l Locks) Warning(db string) string {
	switch {
	case l.Doubt == "":
		return ""
	case l.Fail:
		return fmt.Sprintf("%s is on %s, where file locks do not keep others out, and changes get lost: %s", db, l.On,
			l.Doubt)
	}
	return fmt.Sprintf("%s is on %s, where file locks may not keep others out: %s", db, l.On, l.Doubt)
}

// LocksOf returns a finding about the locks of a database. Those of a known local file system
// are not tried.
func LocksOf(db string) Locks {
	if kind := fileSystemOf(filepath.Dir(db)); kind.isLocal() {
		return Locks{On: kind.name}
	}
	return TryLocks(db)
}

// TryLocks tries whether a lock of the database that one process holds is refused to another.
func TryLocks(db string) Locks {
	kind := fileSystemOf(filepath.Dir(db))
	l := Locks{On: kind.name}
	if l.On == "" {
		l.On = "an unknown file system"
	}
	ways := []string{db}
	if !kind.isLocal() {
		ways = append(ways, otherWays(db)...)
	}
	for _, way := range ways {
		refused, err := triedThrough(db, way)
		switch l.Fail = err == nil && !refused; {
		case err != nil:
			l.Doubt = fmt.Sprintf("they could not be tried: %v", err)
		case !refused && way == db:
			l.Doubt = "a lock that was held was given to another"
		case !refused:
			l.Doubt = "a lock that was held here was given to another through " + way
		}
		if l.Doubt != "" {
			return l
		}
	}
	if kind.shared || kind.layered {
		l.Doubt = "processes of this machine keep each other out, but other machines were not tried"
	}
	return l
}

// triedThrough reports whether a lock that is held through one path to a database is refused through
// another.
func triedThrough(db, way string) (refused bool, err error) {
	var held [2]*fileLock
	for i, path := range []string{db, way} {
		if held[i], err = openLock(path, true); err != nil {
			return false, err
		}
		defer held[i].release() //nolint:errcheck // it was only a trial
		err = tryByte(held[i].f, forWriting, lockTrial)
		switch {
		case isLocked(err):
			return true, nil // perhaps by another process that tries it
		case err != nil:
			return false, err
		}
	}
	return false, nil
}

// otherWays lists other paths on this machine that lead to a database: through the folder that is
// mounted, and through other mounts of it.
func otherWays(db string) (ways []string) {
	real, err := realPath(db)
	if err != nil {
		return nil
	}
	id, err := identityAt(real)
	if err != nil {
		return nil
	}
	mounts := mountsHere()
	i := mountOf(mounts, real)
	if i < 0 {
		return nil
	}
	below := strings.TrimPrefix(real, mounts[i].point)
	roots := []string{mounts[i].source}
	for _, m := range mounts {
		if m.source == mounts[i].source && m.kind == mounts[i].kind && m.root == mounts[i].root &&
			m.point != mounts[i].point {
			roots = append(roots, m.point)
		}
	}
	for _, root := range roots {
		way := filepath.Join(root, below)
		if !filepath.IsAbs(way) || way == real {
			continue
		}
		if other, err := identityAt(way); err == nil && other.ID == id.ID && !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
	}
	return ways
}

// mount is a line of /proc/self/mountinfo.
type mount struct{ root, point, kind, source string }

func mountsHere() (list []mount) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(string(text)) {
		before, after, _ := strings.Cut(line, " - ")
		where, what := strings.Fields(before), strings.Fields(after)
		if len(where) < 5 || len(what) < 2 {
			continue
		}
		list = append(list, mount{unescape.Replace(where[3]), unescape.Replace(where[4]), what[0],
			unescape.Replace(what[1])})
	}
	return list
}

// mountOf finds the mount that a path is in, or returns -1. Of two at one place the last one counts.
func mountOf(mounts []mount, path string) (at int) {
	at = -1
	for i, m := range mounts {
		within := m.point == "/" || strings.HasPrefix(path, m.point+"/")
		if within && (at < 0 || len(m.point) >= len(mounts[at].point)) {
			at = i
		}
	}
	return at
}
