package payload

import (
	"os"

	"github.com/placectl/placectl/store"
	"golang.org/x/sys/unix"
)

// limitNames are the resource limits that a job gets from its submitter.
var limitNames = []struct {
	name string
	id   int
}{
	{"as", unix.RLIMIT_AS}, {"core", unix.RLIMIT_CORE}, {"cpu", unix.RLIMIT_CPU}, {"data", unix.RLIMIT_DATA},
	{"fsize", unix.RLIMIT_FSIZE},
	{"memlock", unix.RLIMIT_MEMLOCK}, {"nofile", unix.RLIMIT_NOFILE}, {"nproc", unix.RLIMIT_NPROC},
	{"rss", unix.RLIMIT_RSS}, {"stack", unix.RLIMIT_STACK},
}

// resourceLimits returns this process's limits. At its start the Go runtime raises the soft limit of
// open files to the hard one, and does not tell the old one. If the parent has the same hard limit,
// its soft limit is taken instead, because this process inherited it.
func resourceLimits() (list []store.ResourceLimit) {
	for _, l := range limitNames {
		var is unix.Rlimit
		if unix.Getrlimit(l.id, &is) != nil {
			continue
		}
		var parent unix.Rlimit
		if l.id == unix.RLIMIT_NOFILE && unix.Prlimit(os.Getppid(), l.id, nil, &parent) == nil && parent.Max == is.Max {
			is = parent
		}
		list = append(list, store.ResourceLimit{Name: l.name, Soft: limitValue(is.Cur), Hard: limitValue(is.Max)})
	}
	return list
}

// limitValue converts a limit for rows.
func limitValue(n uint64) uint64 {
	if n == unix.RLIM_INFINITY {
		return store.NoLimit
	}
	return n
}
