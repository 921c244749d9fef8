package keeper

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Finding is what doctor reports about a precondition of executing attempts.
type Finding struct {
	What   string
	State  Fitness
	Detail string
}

// Fitness is how well something works.
type Fitness string

// The states of findings: it works, it works less well than it could, or nothing can be executed.
const (
	Works   Fitness = "works"
	Limited Fitness = "limited"
	Fails   Fitness = "fails"
)

// Examine reports this host's preconditions for executing attempts. It changes nothing.
func (r *Runner) Examine() []Finding {
	if err := Executes(); err != nil {
		return []Finding{{"system", Fails, err.Error()}}
	}
	return []Finding{r.examineState(), examineAdoption(), examineGroups()}
}

// examineState examines the directory for attempts, which is made when the first one is executed.
func (r *Runner) examineState() Finding {
	f := Finding{"state_dir", Works, r.StateDir}
	top, err := os.OpenRoot(r.StateDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := unix.Access(filepath.Dir(r.StateDir), unix.W_OK); err != nil {
			return Finding{f.What, Fails, fmt.Sprintf("%s is not there, and cannot be made: %v", r.StateDir, err)}
		}
		f.Detail += ", made with the first attempt"
		return f
	case err != nil:
		return Finding{f.What, Fails, err.Error()}
	}
	defer top.Close()
	if err := checkState(top, r.StateDir); err != nil {
		return Finding{f.What, Fails, err.Error()}
	}
	var s unix.Statfs_t
	if unix.Statfs(r.StateDir, &s) == nil && s.Bavail == 0 {
		return Finding{f.What, Fails, r.StateDir + " has no space left"}
	}
	return f
}

// examineAdoption reports whether the exit status of a command is known if the process that waits for
// it ends first. The kernel tells it from Linux 6.15 on.
func examineAdoption() Finding {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return Finding{"adoption", Limited, err.Error()}
	}
	release := unix.ByteSliceToString(u.Release[:])
	major, rest, _ := strings.Cut(release, ".")
	minor, _, _ := strings.Cut(rest, ".")
	x, _ := strconv.Atoi(major)
	y, _ := strconv.Atoi(minor)
	if x > 6 || x == 6 && y >= 15 {
		return Finding{"adoption", Works,
			"Linux " + release + " tells how a command has ended though the process that waits for it was killed"}
	}
	return Finding{"adoption", Limited, "Linux " + release + ": a command goes on if the process that waits for it " +
		"is killed, and how it ends is not known then (6.15 tells it)"}
}

// polled says how a job is kept to its memory without control groups.
const polled = ": a job's memory is read each second (enforce=auto and poll)"

// examineGroups reports whether the kernel can limit jobs to their memory.
func examineGroups() Finding {
	parent, err := groupParent()
	if err != nil {
		return Finding{"memory", Limited, err.Error() + polled}
	}
	if err := unix.Access(parent, unix.W_OK); err != nil {
		return Finding{"memory", Limited, fmt.Sprintf("control groups below %s cannot be made (%v)%s", parent, err,
			polled)}
	}
	return Finding{"memory", Works, "control groups below " + parent}
}
