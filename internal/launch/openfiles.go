package launch

import (
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// OpenFiles returns the soft limit of open files with which this process was started. The Go runtime
// raises it, and restores it for programs that it executes. So OpenFiles asks one of those, once.
var OpenFiles = sync.OnceValues(func() (uint64, error) {
	said, err := exec.Command("/bin/sh", "-c", "ulimit -Sn").Output()
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(said)), 10, 64)
})
