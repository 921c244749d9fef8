// Package people looks up users and groups in /etc/passwd and /etc/group, and with getent in a directory
// service. It never reads the environment, and starts no program that PATH could replace.
//
// It does not use os/user, which asks the C library. Linking the program to that at its start takes
// longer than a submission.
package people

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/launch"
)

// Directory is where to look up users and groups.
type Directory struct {
	Passwd, Group string                                  // paths, such as /etc/passwd and /etc/group
	Getent        func(table, key string) (string, error) // asks the directory service for a line
}

// System is the directory of this machine.
var System = Directory{Passwd: "/etc/passwd", Group: "/etc/group", Getent: getent}

// lookupTime bounds how long a directory service may take.
const lookupTime = 5 * time.Second

// getent runs getent in an empty environment, so that no variable changes the answer.
func getent(table, key string) (string, error) {
	return launch.System(context.Background(), lookupTime, "/usr/bin/getent", table, key)
}

// Login returns the name of a uid, uid:4242 if it has none, and its home directory, "" if unknown.
func (d Directory) Login(uid uint32) (name, home string) {
	number := strconv.FormatUint(uint64(uid), 10)
	switch line := d.line("passwd", number, func(f []string) bool { return len(f) > 2 && f[2] == number }); {
	case len(line) > 5:
		return line[0], line[5]
	case line != nil:
		return line[0], ""
	}
	return engine.UnnamedUser(uid), ""
}

// Shell returns the login shell of a uid, "" if unknown.
func (d Directory) Shell(uid uint32) string {
	number := strconv.FormatUint(uint64(uid), 10)
	line := d.line("passwd", number, func(f []string) bool { return len(f) > 2 && f[2] == number })
	if len(line) < 7 {
		return ""
	}
	return line[6]
}

// Name returns the name of a uid, as Login does.
func (d Directory) Name(uid uint32) string {
	name, _ := d.Login(uid)
	return name
}

// UID returns the uid of a user, given by name or as uid:4242.
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

// Home returns the home directory of a uid, as Login does.
func (d Directory) Home(uid uint32) string {
	_, home := d.Login(uid)
	return home
}

// PrimaryGroup returns a user's own group, which does not list the user. It may have no name.
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

// GID returns the number of a group, given by name or number.
func (d Directory) GID(name string) (gid int, ok bool) {
	if line := d.group(name); line != nil {
		name = line[2]
	}
	n, err := strconv.ParseUint(name, 10, 31)
	return int(n), err == nil
}

// Member reports whether this process, which belongs to user, is in a group: among the groups that the
// kernel gives it, or as the directory lists its members.
func (d Directory) Member(user, group string) bool {
	line := d.group(group)
	if line == nil {
		return false
	}
	gid, err := strconv.Atoi(line[2])
	own, _ := os.Getgroups()
	return err == nil && slices.Contains(append(own, os.Getgid()), gid) ||
		len(line) > 3 && slices.Contains(strings.Split(line[3], ","), user)
}

func (d Directory) group(name string) []string {
	return d.line("group", name, func(f []string) bool { return len(f) > 2 && f[0] == name })
}

// line finds the line of a table whose fields satisfy wanted, nil if there is none. It checks getent's
// answer, too, because getent takes a name of digits for a number.
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
	if fields := strings.Split(out, ":"); err == nil && fields[0] != "" && !strings.Contains(out, "\n") &&
		wanted(fields) {
		return fields
	}
	return nil
}

// InNamespace reports whether this process is in a user namespace, whose maker chose its uids. If that is
// unknown it returns true.
func InNamespace() bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	return err != nil || !slices.Equal(strings.Fields(string(text)), []string{"0", "0", "4294967295"})
}
