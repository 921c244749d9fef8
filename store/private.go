package store

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// A job's script, environment and signature may hold secrets. They are for its submitter, its user
// and the owner of the database. Others get backups and dumps without them.

// seen is the database as far as the actor may see it: the file itself, or a copy that lacks
// what other users' jobs carry. done gives the copy up.
func (db *DB) seen() (f *file.File, done func(), err error) {
	done = func() {}
	if f, err = db.current(); err != nil {
		return nil, done, err
	}
	err = db.permit(Owners, "what jobs of others carry")
	if !errors.Is(err, ErrNotPermitted) {
		return f, done, err
	}
	dir, err := os.MkdirTemp("", "placectl-*")
	if err != nil {
		return nil, done, err
	}
	done = func() { os.RemoveAll(dir) } //nolint:errcheck // it is a folder for temporary files
	path := filepath.Join(dir, "copy.db")
	if _, err = f.Backup(path, nil); err == nil {
		err = db.redact(path)
	}
	if err == nil {
		f, err = file.Open(path, file.Options{LockTimeout: db.opt.LockTimeout})
	}
	if err == nil {
		_, err = f.Compact(false, nil) // free pages still hold what was removed
	}
	return f, done, err
}

// redact takes out of a private copy what jobs of other users than the actor carry.
func (db *DB) redact(path string) error {
	copied, err := openScratch(path, db.opt)
	if err != nil {
		return err
	}
	return errors.Join(copied.file.Update(func(r *file.Recorder) (bool, error) {
		tx, err := copied.beginAsOf(r)
		if err == nil {
			err = tx.payloads().redact(*db.opt.Actor)
		}
		if err == nil {
			err = tx.flush()
		}
		return true, err
	}), copied.Close())
}

func (ps payloads) redact(by Actor) error {
	bare := make(map[row.PayloadKey]row.PayloadKey) // the keys after removing what they carried
	kept := make(map[row.PayloadKey]*row.Payload)
	err := ps.file.Each(row.Payloads, nil, func(key, payload []byte) (bool, error) {
		p, err := row.DecodePayload(key, payload)
		if err != nil || p.Owner != nil && p.Owner.UID == by.UID {
			return err == nil, err
		}
		p.Script, p.Env, p.Variables = "", nil, nil
		is, err := row.HashPayload(row.EncodePayload(p))
		if was := kept[is]; was != nil {
			p.Jobs += was.Jobs
		}
		bare[row.PayloadKey(key)], kept[is] = is, p
		return err == nil, err
	})
	if err != nil {
		return err
	}
	for key := range bare {
		if err := ps.file.Remove(row.Payloads, key[:]); err != nil {
			return err
		}
	}
	for key, p := range kept {
		if err := ps.file.Put(row.Payloads, key[:], row.EncodePayload(p)); err != nil {
			return err
		}
	}
	for _, table := range []row.Table{row.Jobs, row.Stops} {
		var changed []*row.Job
		err := ps.file.Each(table, nil, func(key, payload []byte) (bool, error) {
			j, err := row.DecodeJob(key, payload)
			if is, was := bare[j.Payload]; err == nil && was {
				j.Payload, j.Signature = is, nil
				changed = append(changed, j)
			}
			return err == nil, err
		})
		for _, j := range changed {
			if err == nil {
				err = ps.file.Put(table, row.Key64(j.ID), row.EncodeJob(j))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
