package payload

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"github.com/placectl/placectl/store"
)

// Owner is the person whose process this is: the real user, whatever --user says. A name
// that /etc/passwd does not know (of a directory service) is taken from the environment.
//
// Package os/user would ask the C library for it, and so make the whole program one that
// is linked as it starts, which takes longer than all of a submission.
func (p Process) Owner() (*store.Submitter, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	uid := os.Getuid()
	o := &store.Submitter{UID: uint32(uid), Name: nameOf(uid, "/etc/passwd"), Host: host}
	if here := p.variables(); o.Name == "" {
		if o.Name = here["LOGNAME"]; o.Name == "" {
			o.Name = here["USER"]
		}
	}
	return o, nil
}

// NameOf is the name of a user, as /etc/passwd has it, "" where that does not know.
func NameOf(uid int) string { return nameOf(uid, "/etc/passwd") }

// nameOf is the name that a file of users has for one, "" for none.
func nameOf(uid int, file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.SplitN(lines.Text(), ":", 4); len(fields) == 4 && fields[2] == strconv.Itoa(uid) {
			return fields[0]
		}
	}
	return ""
}
