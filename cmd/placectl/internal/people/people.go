// Package people knows users and groups: by /etc/passwd and /etc/group, and by getent for
// those of a directory service. It never asks the environment, and starts nothing that PATH
// could lead elsewhere.
//
// Package os/user would ask the C library, which links the whole program as it starts: that
// takes longer than a submission.
package people

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"github.com/placectl/placectl/store"
)

// Directory is where users and groups are looked up.
type Directory struct {
	Passwd, Group string                                  // files, as /etc/passwd and /etc/group
	Getent        func(table, key string) (string, error) // asks the directory service for a line
}

// System is the directory of this machine.
var System = Directory{Passwd: "/etc/passwd", Group: "/etc/group", Getent: getent}

// lookupTime is how long a directory service may take.
const lookupTime = 5 * time.Second

// getent asks in an empty environment: no variable changes the answer.
func getent(table, key string) (string, error) {
	return launch.System(context.Background(), lookupTime, "/usr/bin/getent", table, key)
}

// Login is the name of a uid, uid:4242 for one that has none, and its home directory, "" if the
// directory has none.
func (d Directory) Login(uid uint32) (name, home string) {
	number := strconv.FormatUint(uint64(uid), 10)
	switch line := d.line("passwd", number, func(f []string) bool { return len(f) > 2 && f[2] == number }); {
	case len(line) > 5:
		return line[0], line[5]
	case line != nil:
		return line[0], ""
	}
	return store.UnnamedUser(uid), ""
}

// Name is the name of a uid, as of Login.
func (d Directory) Name(uid uint32) string {
	name, _ := d.Login(uid)
	return name
}

// UID is the uid of a user, by name or as uid:4242.
func (d Directory) UID(name string) (uid uint32, ok bool) {
	if number, is := strings.CutPrefix(name, "uid:"); is {
		n, err := strconv.ParseUint(number, 10, 32)
		return uint32(n), err == nil
	}
	line := d.line("passwd", name, func(f []string) bool { return len(f) > 2 && f[0] == name })
	if line == nil {
		return 0, false
	}
	n, err := strconv.ParseUint(line[2], 10, 32)
	return uint32(n), err == nil
}

// Home is the home directory of a uid, as of Login.
func (d Directory) Home(uid uint32) string {
	_, home := d.Login(uid)
	return home
}

// PrimaryGroup is the group that a user has without being listed in it; it may have no name.
func (d Directory) PrimaryGroup(uid uint32) (name string, gid uint32, ok bool) {
	number := strconv.FormatUint(uint64(uid), 10)
	line := d.line("passwd", number, func(f []string) bool { return len(f) > 3 && f[2] == number })
	if line == nil {
		return "", 0, false
	}
	n, err := strconv.ParseUint(line[3], 10, 32)
	if err != nil {
		return "", 0, false
	}
	if group := d.line("group", line[3], func(f []string) bool { return len(f) > 2 && f[2] == line[3] }); group != nil {
		name = group[0]
	}
	return name, uint32(n), true
}

// GID is the number of a group, by name or number.
func (d Directory) GID(name string) (gid int, ok bool) {
	if line := d.group(name); line != nil {
		name = line[2]
	}
	n, err := strconv.ParseUint(name, 10, 31)
	return int(n), err == nil
}

// Member reports whether this process, of a user of that name, is in a group: by the groups
// that the kernel gives it, or as the directory lists its members.
func (d Directory) Member(user, group string) bool {
	line := d.group(group)
	if line == nil {
		return false
	}
	gid, err := strconv.Atoi(line[2])
	own, _ := os.Getgroups()
	return err == nil && slices.Contains(append(own, os.Getgid()), gid) || len(line) > 3 && slices.Contains(strings.Split(line[3], ","), user)
}

func (d Directory) group(name string) []string {
	return d.line("group", name, func(f []string) bool { return len(f) > 2 && f[0] == name })
}

// line finds the line of a table that has what is wanted, nil if there is none. What getent
// answers has to have it as well: it takes a name of digits for a number.
func (d Directory) line(table, key string, wanted func(fields []string) bool) []string {
	file := d.Passwd
	if table == "group" {
		file = d.Group
	}
	if text, err := os.ReadFile(file); err == nil {
		for line := range strings.Lines(string(text)) {
			if fields := strings.Split(strings.TrimSuffix(line, "\n"), ":"); fields[0] != "" && wanted(fields) {
				return fields
			}
		}
	}
	if key == "" || strings.ContainsAny(key, "\n:") || key[0] == '-' {
		return nil
	}
	out, err := d.Getent(table, key)
	out = strings.TrimSuffix(out, "\n")
	if fields := strings.Split(out, ":"); err == nil && fields[0] != "" && !strings.Contains(out, "\n") && wanted(fields) {
		return fields
	}
	return nil
}

// InNamespace reports whether this process is in a user namespace: its uids are those that
// whoever made the namespace chose. Where that cannot be told it counts as being in one.
func InNamespace() bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	return err != nil || !slices.Equal(strings.Fields(string(text)), []string{"0", "0", "4294967295"})
}
