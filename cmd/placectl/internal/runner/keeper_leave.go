package runner

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// isRemoved reports whether the state directory was removed: another keeper may be there by now.
func (k *keeper) isRemoved() bool {
	var s unix.Stat_t
	return unix.Fstat(int(k.lock.Fd()), &s) == nil && s.Nlink == 0
}

// isGone reports whether the database was removed, and what lies of it on this host, too: then
// neither this process nor another one has anybody to report to. A file that was moved leaves the
// directory, and the next pass there reports its attempts.
func (k *keeper) isGone() bool {
	if !k.isRemoved() || !filepath.IsAbs(k.Database) {
		return false
	}
	_, err := os.Stat(k.Database)
	return errors.Is(err, fs.ErrNotExist)
}

// tellFor is how long a keeper that executes nothing any more tries to report the results of its
// attempts. After that it leaves them to the next keeper.
const tellFor = 10 * time.Minute

// mayLeave reports whether there is nothing left to do.
func (k *keeper) mayLeave() bool {
	switch {
	case k.outdated: // one of a newer version takes over what is executed
		return true
	case len(k.running) > 0:
		return false
	case len(k.untold)+len(k.doubtful)+len(k.unsettled) > 0:
		return k.isGone() || !k.since.IsZero() && time.Since(k.since) > tellFor
	}
	return k.isRemoved() || time.Since(k.alive) > k.idle()
}

func (k *keeper) idle() time.Duration {
	if k.Idle > 0 {
		return k.Idle
	}
	return idleFor
}

// leave releases the lock, and leaves only slots that still have to be settled.
func (k *keeper) leave() {
	for i, sl := range k.slots {
		if sl == nil {
			continue
		}
		if sl.Key == (Key{}) && !sl.broken {
			k.state.epoch.RemoveAll(sl.name) //nolint:errcheck // the next keeper uses it
		}
		sl.close()
		k.slots[i] = nil
	}
	for i, s := range k.others {
		if names, err := s.slots(k.Host); err == nil {
			for _, name := range names {
				if !s.isTaken(name) {
					s.epoch.RemoveAll(name) //nolint:errcheck // the next keeper does
				}
			}
		}
		k.state.removeEpoch(filepath.Base(s.path), k.Host)
		s.epoch.Close()
		k.locks[i].Close()
	}
	k.others, k.locks = nil, nil
	k.state.epoch.Remove(bellName(k.Host))   //nolint:errcheck // as before
	k.state.epoch.Remove(keeperName(k.Host)) //nolint:errcheck // as before
	k.lock.Close()
	k.state.top.Remove(filepath.Base(k.state.path)) //nolint:errcheck // others may have something there
	k.state.close()
}
