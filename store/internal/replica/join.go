package replica

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// nowhere is behind the end of every log: what there is behind it is nothing.
var nowhere = Position{N: 1 << 62}

// join makes the local replica anew of the newest snapshot, and finds out which log it is
// of.
func (rep *Replica) join(until time.Time) error {
	ctx, cancel := within(until)
	defer cancel()
	tail, err := rep.driver.After(ctx, nowhere)
	if err != nil {
		return rep.away(err)
	}
	snap, err := rep.driver.Snapshot(ctx)
	if err != nil {
		return rep.away(err)
	}
	if err := snap.verify(); err != nil {
		return rep.wanted(err, until)
	}
	at := row.Replica{Log: tail.Log, N: snap.At.N, Chain: snap.At.Chain, Since: snap.At.N, SinceBytes: uint64(len(snap.Body))}
	rep.removeOthers(tail.Log)
	err = file.Join(rep.path(tail.Log), time.Until(until), func(b *file.Bulk) error { return snap.fill(b, &at) })
	if err != nil {
		return err
	}
	if err := rep.use(tail.Log); err != nil {
		return err
	}
	return writeLink(rep.link, tail.Log)
}

// fill puts the rows of a snapshot into a new file, and says where it stands.
func (s *Snapshot) fill(b *file.Bulk, at *row.Replica) error {
	err := s.rows(func(t row.Table, key, value []byte) error { return b.PutStored(t, key, bytes.Clone(value)) })
	if err != nil {
		return err
	}
	if at == nil {
		return nil
	}
	return b.Put(row.Meta, row.KeyReplica, at.Encode())
}

// removeOthers removes the replicas of a log that were made before the machine was booted.
func (rep *Replica) removeOthers(id ID) {
	suffix := fmt.Sprintf("-%d.db", os.Getuid())
	boot := fmt.Sprintf("%s-%s-", id, bootID())
	entries, _ := os.ReadDir(rep.opt.Folder)
	for _, e := range entries {
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(e.Name(), ".lock"), ".fresh"), ".line")
		if strings.HasPrefix(base, id.String()+"-") && strings.HasSuffix(base, suffix) && !strings.HasPrefix(base, boot) {
			_ = os.Remove(filepath.Join(rep.opt.Folder, e.Name()))
		}
	}
}

// writeLink notes which log a name leads to.
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

// damaged removes a replica that cannot be used: the next to come makes it anew.
func (rep *Replica) damaged() { _ = os.Remove(rep.path(rep.ID())) }
