package keeper

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// isRemoved reports whether the state directory was removed. Another keeper may run there by now.
func (k *keeper) isRemoved() bool {
	var s unix.Stat_t
	return unix.Fstat(int(k.lock.Fd()), &s) == nil && s.Nlink == 0
}

// isGone reports whether both the database and its state on this host were removed. Then no process
// can report anything. If the database's file was only moved, the directory remains, and the next
// pass there reports its attempts.
func (k *keeper) isGone() bool {
	if !k.isRemoved() || !filepath.IsAbs(k.Database) {
		return false
	}
	_, err := os.Stat(k.Database)
	return errors.Is(err, fs.ErrNotExist)
}

// tellFor is how long a keeper without running attempts tries to report their results. After that it
// leaves them to the next keeper.
const tellFor = 10 * time.Minute

// mayLeave reports whether there is nothing left to do.
func (k *keeper) mayLeave() bool {
	switch {
	case k.outdated: // a keeper of a newer version takes over the attempts
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

// leave releases the lock, and removes all slots except those that still have to be settled. What is about to begin
// begins first, because its slot and journal are the next keeper's only then.
func (k *keeper) leave() {
	k.over() // what runs is the next keeper's
	k.acting.Lock()
	defer k.acting.Unlock()
	for i, sl := range k.slots {
		if sl != nil {
			sl.close()
			k.slots[i] = nil
		}
	}
	for i, s := range k.others {
		s.removeFree(k.Host) //nolint:errcheck // the next keeper removes them
		k.state.removeEpoch(filepath.Base(s.path), k.Host)
		s.epoch.Close()
		k.locks[i].Close()
	}
	k.others, k.locks = nil, nil
	k.state.tidy(k.Host)
	k.lock.Close()
	k.state.top.Remove(filepath.Base(k.state.path)) //nolint:errcheck // others may have files there
	k.state.close()
}

// tidy removes what a host's keeper leaves behind, for the holder of its lock. Slots that still have
// to be settled stay.
func (s *state) tidy(host string) {
	s.removeFree(host)               //nolint:errcheck // the next keeper removes them
	s.epoch.Remove(bellName(host))   //nolint:errcheck // a silent bell does no harm
	s.epoch.Remove(keeperName(host)) //nolint:errcheck // nor does an empty lock file
}
