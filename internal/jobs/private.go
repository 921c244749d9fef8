package jobs

import (
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
)

func Redact(tx *kernel.Tx, by kernel.Actor) error {
	bare := make(map[row.PayloadKey]row.PayloadKey) // the keys after removing what they carried
	kept := make(map[row.PayloadKey]*row.Payload)
	err := tx.File.Each(row.Payloads, nil, func(key, payload []byte) (bool, error) {
		p, err := row.PayloadRow.Decode(key, payload)
		if err != nil || p.Owner != nil && p.Owner.UID == by.UID {
			return err == nil, err
		}
		p.Script, p.Env, p.Variables = "", nil, nil
		is, err := row.HashPayload(row.PayloadRow.Encode(p))
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
		if err := tx.File.Remove(row.Payloads, key[:]); err != nil {
			return err
		}
	}
	for key, p := range kept {
		if err := tx.File.Put(row.Payloads, key[:], row.PayloadRow.Encode(p)); err != nil {
			return err
		}
	}
	for _, table := range []row.Table{row.Jobs, row.Stops} {
		var changed []*row.Job
		err := tx.File.Each(table, nil, func(key, payload []byte) (bool, error) {
			j, err := row.DecodeJob(key, payload)
			if is, was := bare[j.Payload]; err == nil && was {
				j.Payload, j.Signature = is, nil
				changed = append(changed, j)
			}
			return err == nil, err
		})
		for _, j := range changed {
			if err == nil {
				err = tx.File.Put(table, row.Key64(j.ID), row.EncodeJob(j))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
