package launch

import (
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// OpenFiles is the soft limit of open files that this process was started with. The runtime of Go
// raises it, and gives it back to programs that it executes: so one of those is asked, once.
var OpenFiles = sync.OnceValues(func() (uint64, error) {
	said, err := exec.Command("/bin/sh", "-c", "ulimit -Sn").Output()
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(said)), 10, 64)
})
