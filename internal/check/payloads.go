package check

import (
	"bytes"
	"maps"
	"slices"

	"github.com/placectl/placectl/internal/row"
)

// naming counts the jobs that name a payload.
type naming struct {
	jobs  uint64
	first uint64 // one of them
}

// recounted is a payload row as it should be; its payload is nil if no job refers to it.
type recounted struct{ key, payload []byte }

// named notes which payload a job has.
func (d *recomputed) named(j *row.Job) {
	if j.Payload == (row.PayloadKey{}) {
		return
	}
	n := d.naming[j.Payload]
	if n.jobs++; n.jobs == 1 {
		n.first = j.ID
	}
	d.naming[j.Payload] = n
}

// payloads verifies that the jobs' payloads exist and match their keys, and that there are no
// others. How many jobs name a payload follows from the jobs.
func (d *recomputed) payloads() error {
	missing := maps.Clone(d.naming)
	err := d.store.Rows.Each(row.Payloads, nil, func(key, payload []byte) (bool, error) {
		hash, err := row.HashPayload(payload)
		if err != nil {
			return false, err
		}
		if !bytes.Equal(hash[:], key) {
			d.at = Row{row.Payloads, string(key)}
			d.contradict("what jobs carry as %x is something else: its hash is %s", key, hash)
			return true, nil
		}
		delete(missing, hash)
		jobs, err := row.PayloadJobs(payload)
		named := d.naming[hash].jobs
		switch {
		case err != nil || jobs == named && named > 0:
			return true, err
		case named == 0:
			d.Find("no job carries %s", hash)
			payload = nil
		default:
			d.Find("%d jobs carry %s, and it is kept for %d", named, hash, jobs)
			payload, err = row.RecountPayload(payload, named)
		}
		d.recounted = append(d.recounted, recounted{slices.Clone(key), payload})
		return true, err
	})
	for _, key := range slices.SortedFunc(maps.Keys(missing), row.PayloadKey.Compare) {
		n := missing[key]
		d.at = Row{row.Jobs, string(row.Key64(n.first))}
		d.contradict("what job %d carries, %s, is missing", n.first, key)
	}
	return err
}
