package keeper

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/placectl/placectl/internal/bytejson"
	"github.com/placectl/placectl/internal/launch"
	"golang.org/x/sys/unix"
)

// A host that no pass reaches cannot execute what waits for it. A host missed once is tried again. Only
// several passes in a row count, a while apart, and only while other hosts are reached. If none is,
// this host may be the one that is cut off.

// unreachedFile counts how often hosts were not reached.
const unreachedFile = "unreached"

const (
	maxUnreached   = 3
	unreachedApart = 10 * time.Second
)

// unreached counts how often in a row a host was not reached, and when that was last counted.
type unreached struct {
	Times int
	Last  time.Time
	Tries int // in a row, including those when no other host was reached either
	Tried time.Time
}

// GiveUp decides from the errors of passes on hosts whether to refuse the jobs that wait for each host.
// why[i] is the reason, "" to keep waiting. note[i] is what to note for the jobs of a host that was not
// reached: at the first tries, and then ever more rarely.
func (r *Runner) GiveUp(hosts []string, failed []error, now time.Time) (why, note []string) {
	why, note = make([]string, len(hosts)), make([]string, len(hosts))
	var missed, reached []int
	for i, err := range failed {
		var lost *launch.Unreached
		var status *launch.Refused
		switch {
		case errors.As(err, &lost):
			missed = append(missed, i)
			continue
		case errors.As(err, &status) && status.Status == launch.NoProgram:
			why[i] = fmt.Sprintf("there is no placectl on %s: %s", status.Host, status.Why)
		}
		reached = append(reached, i)
	}
	err := r.countUnreached(len(missed) > 0, func(counts map[string]unreached) {
		for _, i := range reached {
			delete(counts, hosts[i])
		}
		for _, i := range missed {
			c := counts[hosts[i]]
			if apart(c.Tried, now) {
				c.Tries, c.Tried = c.Tries+1, now
				if c.Tries == maxUnreached || c.Tries&(c.Tries-1) == 0 {
					note[i] = fmt.Sprintf("%v (%s)", failed[i], tries(c.Tries))
				}
			}
			if len(reached) > 0 && apart(c.Last, now) {
				c.Times, c.Last = c.Times+1, now
			}
			if len(reached) > 0 && c.Times >= maxUnreached {
				why[i] = fmt.Sprintf("%v, %d times in a row", failed[i], c.Times)
			}
			counts[hosts[i]] = c
		}
	})
	if err != nil {
		r.notef("the hosts out of reach are not recorded: %v", err)
	}
	return why, note
}

// apart reports whether a try counts separately from the last one.
func apart(last, now time.Time) bool {
	age := now.Sub(last)
	return age >= unreachedApart || age < 0
}

func tries(n int) string {
	if n == 1 {
		return "1 try"
	}
	return fmt.Sprint(n, " tries")
}

// countUnreached changes the counts. It makes no file without need.
func (r *Runner) countUnreached(some bool, change func(map[string]unreached)) error {
	if _, err := os.Stat(r.StateDir + "/" + r.ID + "." + r.Epoch + "/" + unreachedFile); !some && err != nil {
		return nil
	}
	s, err := openState(r.StateDir, r.ID, r.Epoch)
	if err != nil {
		return err
	}
	defer s.close()
	f, err := s.epoch.OpenFile(unreachedFile, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	counts := make(map[string]unreached)
	text, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	if bytejson.Unmarshal(text, &counts) != nil { // the file is incomplete: count anew
		counts = make(map[string]unreached)
	}
	change(counts)
	if text, err = bytejson.Marshal(counts); err != nil {
		return err
	}
	if _, err = f.WriteAt(text, 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(text)))
}
