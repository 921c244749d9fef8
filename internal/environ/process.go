package environ

import (
	"os"

	"github.com/placectl/placectl/internal/engine"
	"golang.org/x/sys/unix"
)

// ResourceLimit is the name of a limit, and the kernel's number for it.
type ResourceLimit struct {
	Name string
	ID   int
}

// ResourceLimits are the resource limits that a job gets from its submitter.
var ResourceLimits = []ResourceLimit{
	{"as", unix.RLIMIT_AS}, {"core", unix.RLIMIT_CORE}, {"cpu", unix.RLIMIT_CPU}, {"data", unix.RLIMIT_DATA},
	{"fsize", unix.RLIMIT_FSIZE},
	{"memlock", unix.RLIMIT_MEMLOCK}, {"nofile", unix.RLIMIT_NOFILE}, {"nproc", unix.RLIMIT_NPROC},
	{"rss", unix.RLIMIT_RSS}, {"stack", unix.RLIMIT_STACK},
}

// Limits returns this process's limits. At its start the Go runtime raises the soft limit of
// open files to the hard one, and does not tell the old one. If the parent has the same hard limit,
// its soft limit is taken instead, because this process inherited it.
func Limits() (list []engine.ResourceLimit) {
	for _, l := range ResourceLimits {
		var is unix.Rlimit
		if unix.Getrlimit(l.ID, &is) != nil {
			continue
		}
		var parent unix.Rlimit
		if l.ID == unix.RLIMIT_NOFILE && limitOf(os.Getppid(), l.ID, &parent) == nil && parent.Max == is.Max {
			is = parent
		}
		list = append(list, engine.ResourceLimit{Name: l.Name, Soft: LimitValue(uint64(is.Cur)),
			Hard: LimitValue(uint64(is.Max))})
	}
	return list
}

// LimitValue converts a limit for rows.
func LimitValue(n uint64) uint64 {
	if n == unix.RLIM_INFINITY {
		return engine.NoLimit
	}
	return n
}
