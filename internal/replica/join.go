package replica

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// nowhere is after the end of every log, so no entry is after it.
var nowhere = Position{N: 1 << 62}

// join makes the local replica again from the newest snapshot, and finds the log's id.
func (rep *Replica) join(until time.Time) error {
	ctx, cancel := within(until)
	defer cancel()
	tail, err := rep.driver.After(ctx, nowhere, false)
	if err != nil {
		return rep.away(err)
	}
	if most := time.Now().Add(joinTime); until.Before(most) { // once the log answers, the rest is work
		until = most
	}
	return rep.joinTo(tail.Log, until)
}

// joinTime is how long a log that answers may take to send a snapshot.
const joinTime = time.Minute

// joinTo makes the local replica again from a log's newest snapshot. If that is damaged, it
// uses the one before, because the entries after it are still in the log.
func (rep *Replica) joinTo(log ID, until time.Time) error {
	ctx, cancel := within(until)
	defer cancel()
	snap, err := rep.driver.Snapshot(ctx, false)
	if err == nil {
		err = snap.make(rep.path(log), log, time.Until(until))
	}
	if errors.Is(err, ErrSnapshot) {
		earlier, failed := rep.driver.Snapshot(ctx, true)
		if failed != nil || earlier == nil {
			return errors.Join(err, rep.away(failed))
		}
		rep.warn(err.Error() + "; this machine uses the one before: placectl log check finds the machine that made it")
		err = earlier.make(rep.path(log), log, time.Until(until))
	}
	if err != nil {
		return rep.wanted(rep.away(err), until)
	}
	if err := rep.use(log); err != nil {
		return err
	}
	rep.removeOthers(log)
	return writeLink(rep.link, log)
}

// make makes a replica from a snapshot.
func (s *Snapshot) make(path string, log ID, timeout time.Duration) error {
	if err := s.verify(); err != nil {
		return err
	}
	at := row.Replica{Log: log, N: s.At.N, Chain: s.At.Chain, Since: s.At.N, SinceBytes: uint64(len(s.Body))}
	return file.Join(path, timeout, func(b *file.Bulk) error {
		err := s.rows(func(t row.Table, key, value []byte) error {
			if row.Counted(t, key) {
				if _, err := row.Unseal(t, key, value); err != nil {
					return fmt.Errorf("%w: %w", ErrSnapshot, err)
				}
			}
			return b.PutStored(t, key, bytes.Clone(value))
		})
		if err != nil {
			return err
		}
		return b.Put(row.Meta, row.KeyReplica, row.ReplicaRow.Encode(&at))
	})
}

// removeOthers removes the replicas of a log that were made before the machine was booted.
func (rep *Replica) removeOthers(id ID) {
	suffix := fmt.Sprintf("-%s-%d.db", machineID(), os.Getuid())
	boot := fmt.Sprintf("%s-%s-", id, bootID())
	entries, _ := os.ReadDir(rep.opt.Folder)
	for _, e := range entries {
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(e.Name(), ".lock"), ".fresh"), ".line")
		if strings.HasPrefix(base, id.String()+"-") && strings.HasSuffix(base, suffix) && !strings.HasPrefix(base,
			boot) {
			_ = os.Remove(filepath.Join(rep.opt.Folder, e.Name()))
		}
	}
}

// writeLink records which log a name leads to.
func writeLink(path string, id ID) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".log-*")
	if err != nil {
		return err
	}
	_, err = tmp.WriteString(id.String() + "\n")
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}
