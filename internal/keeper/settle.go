package keeper

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/gate"
	"golang.org/x/sys/unix"
)

// settleAll takes over what earlier keepers have left behind, in all epochs.
func (k *keeper) settleAll() error {
	names, err := k.state.epochs(k.ID)
	failed := []error{err}
	for _, name := range names {
		if name == k.ID+"."+k.Epoch {
			failed = append(failed, k.settleEpoch(k.state))
			continue
		}
		epoch, err := k.state.top.OpenRoot(name)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		s := &state{k.state.top, epoch, k.state.top.Name() + "/" + name}
		lock, err := s.tryLock(keeperName(k.Host))
		if lock == nil { // another keeper still executes its attempts
			k.beside = true
			epoch.Close()
			failed = append(failed, err)
			continue
		}
		was := len(k.running) + len(k.untold)
		failed = append(failed, k.settleEpoch(s))
		if len(k.running)+len(k.untold) == was {
			k.state.removeEpoch(name, k.Host)
			lock.Close()
			epoch.Close()
		} else {
			k.others = append(k.others, s)
			k.locks = append(k.locks, lock)
		}
	}
	return errors.Join(failed...)
}

func (k *keeper) settleEpoch(s *state) error {
	taken, err := s.removeFree(k.Host)
	failed := []error{err}
	for _, name := range taken {
		if err := k.takeOver(s, name); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(failed...)
}

// takeOver takes over a slot that has an attempt.
func (k *keeper) takeOver(s *state, name string) error {
	sl, err := s.openSlot(name)
	if err != nil {
		return err
	}
	a := &attendance{keeper: k, slot: sl, told: -1, acts: true}
	goesOn, err := a.settle()
	switch {
	case errors.Is(err, errLeave):
		k.beside = true
		sl.broken = true // not usable for other attempts
		k.own(sl)
		return nil
	case err != nil:
		sl.broken = true
		k.own(sl)
		k.unsettled = append(k.unsettled, func() error { return k.takeOver(s, name) })
		return err
	}
	k.own(sl)
	switch {
	case sl.nonce == (engine.Nonce{}): // it was unclaimed
		k.giveBack(sl)
	case goesOn:
		k.running[sl.nonce], k.adopted[sl.nonce] = a, a
		k.doubtful = append(k.doubtful, Again{k.claim(sl), sl.epoch()})
		k.at("adopting")
		a.attend()
	default:
		a.until = bootClock()
		k.running[sl.nonce] = a
		k.acting.RLock()
		go func() {
			defer k.acting.RUnlock()
			a.at("settling")
			a.handBack(0)
		}()
	}
	return nil
}

// own records a slot that was taken over, if it is one of ours.
func (k *keeper) own(sl *slot) {
	n, ours := slotNumber(k.Host, sl.name)
	if !ours || sl.in != k.state.epoch {
		return
	}
	for len(k.slots) <= n {
		k.slots = append(k.slots, nil)
	}
	k.slots[n] = sl
}

// settleAgain retries what could not be taken over.
func (k *keeper) settleAgain() {
	list := k.unsettled
	k.unsettled = nil
	for _, do := range list {
		if err := do(); err != nil {
			k.notef("%v", err)
		}
	}
}

// errLeave says that a slot is not for this keeper.
var errLeave = errors.New("it is left alone")

// settle finds out whether the attempt in the slot goes on, or else which result to report. The slot
// has no nonce if the attempt is unclaimed.
func (a *attendance) settle() (goesOn bool, err error) {
	sl := a.slot
	j, err := sl.journal()
	if j == nil || err != nil {
		return false, err
	}
	if a.ofAnother(j.Database) {
		return false, errLeave
	}
	a.begun = j.begun
	if j.begun != nil {
		a.group = j.begun.openGroup()
	}
	if a.result = j.result; j.result != nil {
		return false, nil
	}
	switch {
	case j.Boot != a.self.Boot:
		return false, a.settleRebooted(j)
	case j.begun == nil:
		a.result = sl.result(engine.OutcomeUnbegun)
		return false, nil
	}
	if j.stopping != nil {
		a.stopped, a.why, a.killAt = j.stopping.Outcome, j.stopping.Why, j.stopping.KillAt
	}
	if err := a.listen(); err != nil {
		return false, err
	}
	sl.endPipe()
	held, err := sl.isHeld()
	if err != nil {
		unix.Close(a.told) //nolint:errcheck // open only for reading
		return false, err
	}
	if j, err = sl.journal(); j == nil || err != nil { // lines from before the pipe was open
		unix.Close(a.told) //nolint:errcheck // open only for reading
		return false, errors.Join(err, errors.New("the journal has changed"))
	}
	a.launched, a.before = &gate.Order{Tag: tag(sl.nonce)}, j.said
	if held {
		return true, nil
	}
	unix.Close(a.told) //nolint:errcheck // the journal has everything
	a.told = -1
	for _, s := range j.said {
		a.note(s)
	}
	switch {
	case a.pid == 0: // its warden ended without executing anything
		a.result = a.unbegun()
		return false, nil
	case a.over && a.empty:
		a.result = a.outcome()
		return false, nil
	}
	// The warden was killed.
	a.foreign = true
	if !a.over && tokensOf(sl.nonce).hasCommand(a.pid) {
		return true, nil
	}
	return false, a.settleDead()
}

// settleRebooted settles an attempt from before the host's last start. A complete line may say how it
// ended. Otherwise that is unknown, because lines may be missing.
func (a *attendance) settleRebooted(j *journal) error {
	for _, s := range j.said {
		a.note(s)
	}
	if a.over {
		a.result = a.outcome()
		return nil
	}
	a.result = a.resultOf(engine.OutcomeLost)
	a.result.Why = rebooted
	return nil
}

// settleDead settles an attempt whose warden and command are gone. It kills what they have left.
func (a *attendance) settleDead() error {
	killed, err := killLeft(a.group, a.slot.nonce)
	if err != nil {
		return err
	}
	if a.over {
		a.result = a.outcome()
	} else {
		a.result = a.resultOf(engine.OutcomeLost)
		a.result.Why = "its keeper and its command are gone, so how it ended is unknown"
		a.group.use(&a.result.Use)
	}
	a.result.Use.Leftover = killed
	a.group.remove()
	return nil
}

// rebooted is the reason why an attempt is lost if its host was restarted.
const rebooted = "the host was started anew"

// ofAnother reports whether what names the path of its database belongs to another one: the path leads to a different
// file with our id, because one of the two is a copy of the other. A moved file is no other database.
func (r *Runner) ofAnother(path string) bool {
	ours, ok := statFile(r.Database)
	theirs, there := statFile(path)
	if !ok || !there || ours.Dev == theirs.Dev && ours.Ino == theirs.Ino {
		return false
	}
	return r.IdentityOf(path) == r.ID
}

// killLeft kills the processes that a command has left behind, and counts them.
func killLeft(group *cgroup, n engine.Nonce) (killed int, err error) {
	left := func() func(func(pid int)) {
		tokens := tokensOf(n)
		return func(fn func(pid int)) {
			tokens.each(fn)
			for _, pid := range group.tasks() {
				fn(pid)
			}
		}
	}
	killed = len(listed(left()))
	for end := bootClock() + killFor; some(left()); time.Sleep(5 * time.Millisecond) {
		if bootClock() > end {
			return killed, fmt.Errorf("processes of the attempt with the nonce %s cannot be killed", n)
		}
		group.kill()
		sweep(left())
	}
	return killed, nil
}

// killFor is how long killLeft tries.
const killFor = 2 * time.Second

// settleLost settles an attempt that was claimed here but has no slot. Beside another file of this database the
// attempt may be that file's, which goes on.
func (k *keeper) settleLost(h Held) error {
	if k.beside || lifeOf(h.Process, k.self) != dead {
		return nil
	}
	result := h.result(h.Nonce, engine.OutcomeLost)
	result.Why = "its directory is gone, so how it ended is unknown"
	if h.Process.Boot != k.self.Boot {
		result.Why = rebooted
	} else {
		killed, err := killLeft(nil, h.Nonce)
		if err != nil {
			return err
		}
		result.Use.Leftover = killed
	}
	k.untold = append(k.untold, &attendance{keeper: k, slot: &slot{Key: h.Key}, result: result})
	return nil
}

// removeEpoch removes the directory of an earlier epoch once it has no attempt left.
func (s *state) removeEpoch(name, host string) {
	own := []string{beatFile, healthFile, unreachedFile, keeperName(host), bellName(host)}
	list, err := fs.ReadDir(s.top.FS(), name)
	if err != nil {
		return
	}
	for _, e := range list {
		found := false
		for _, file := range own {
			found = found || e.Name() == file
		}
		if !found {
			return
		}
	}
	for _, file := range own {
		s.top.Remove(filepath.Join(name, file)) //nolint:errcheck // then the directory stays
	}
	s.top.Remove(name) //nolint:errcheck // it is in use again
}
