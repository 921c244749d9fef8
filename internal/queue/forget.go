package queue

import (
	"time"

	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/usage"
)

// forgetNodes deletes the past of nodes before an instant.
func forgetNodes(tx *kernel.Tx, before int64) error {
	before = min(before, tx.Now)
	gone, err := nodes.ForgetPast(tx.File, before)
	if gone {
		tx.State.NodesSince = max(tx.State.NodesSince, before)
	}
	return tx.Spoil(err)
}

// RemoveEnded deletes ended jobs, except those that another job now depends on.
func RemoveEnded(tx *kernel.Tx, ids []uint64) error {
	needed, err := jobs.Needed(tx.File)
	if err != nil {
		return err
	}
	dropped, had := make(map[row.PayloadKey]uint64), make(usage.Totals)
	past := pastRuns{durations: newDurations(tx)}
	for i, id := range ids {
		key := row.Key64(id)
		payload, err := tx.File.Get(row.Jobs, key)
		if err != nil {
			return err
		}
		if payload == nil {
			continue
		}
		j, err := row.DecodeJob(key, payload)
		if err != nil {
			return err
		}
		if j.State.Live() || needed.Has(j) {
			continue
		}
		if err := tx.Loaded.Book.Whole(j, had); err != nil {
			return err
		}
		if len(ids)-i <= LearnedFrom { // the others would be dropped at once
			if err := past.add(j); err != nil {
				return err
			}
		}
		err = tx.Loaded.Jobs.Remove(key)
		if err == nil {
			err = jobs.RemoveAttempts(tx, id)
		}
		if err != nil {
			return tx.Spoil(err)
		}
		dropped[j.Payload]++
	}
	err = tx.Loaded.Book.Gone(had)
	if err == nil {
		err = jobs.DropPayloads(tx, dropped)
	}
	if err == nil {
		err = past.trim()
	}
	return tx.Spoil(err)
}

// RemoveEvents deletes events.
func RemoveEvents(tx *kernel.Tx, ids []uint64) error {
	for _, id := range ids {
		if err := tx.File.Remove(row.Events, row.Key64(id)); err != nil {
			return tx.Spoil(err)
		}
	}
	return nil
}

// ForgetStep is the maximum number of jobs, and of events, that a cycle examines for deletion.
// The next cycle continues after them.
const ForgetStep = 1000

// forget deletes jobs that ended longer ago than the setting keep_ended, and their events.
func (p *pass) forget() error {
	set, err := p.tx.Settings()
	if err != nil || set.KeepEnded == 0 {
		return err
	}
	before := p.tx.Now - int64(set.KeepEnded/time.Second)
	needed, err := jobs.Needed(p.tx.File)
	if err != nil {
		return err
	}
	if err := p.forgetJobs(before, needed); err != nil {
		return err
	}
	if err := p.forgetEvents(before); err != nil {
		return err
	}
	return forgetNodes(p.tx, before)
}

// forgetJobs continues through the jobs. The jobs of an array stay while one of them does: an array
// without its failed jobs would count as one that went well.
func (p *pass) forgetJobs(before int64, needed jobs.Needs) error {
	tx := p.tx
	var old []uint64
	looked, from := 0, tx.State.ForgottenJobs
	tx.State.ForgottenJobs = 0 // start again from the first one after the last
	array, whole := uint64(0), false
	err := tx.File.EachFrom(row.Jobs, row.Key64(from), nil, func(key, payload []byte) (bool, error) {
		if looked++; looked > ForgetStep {
			tx.State.ForgottenJobs = row.Number64(key)
			return false, nil
		}
		j, err := row.DecodeJob(key, payload)
		if err != nil {
			return false, err
		}
		stays, err := jobs.Stays(tx.File, j, before, needed)
		if !stays && err == nil && j.Array != 0 {
			if j.Array != array {
				array = j.Array
				whole, err = p.arrayStays(array, before, needed)
			}
			stays = whole
		}
		if !stays && err == nil {
			old = append(old, j.ID)
		}
		return true, err
	})
	tx.Dirty = tx.Dirty || tx.State.ForgottenJobs != from
	if err != nil || len(old) == 0 {
		return err
	}
	return RemoveEnded(tx, old)
}

// arrayStays reports whether a job of an array must stay in the file.
func (p *pass) arrayStays(array uint64, before int64, needed jobs.Needs) (stays bool, err error) {
	if stays, err = p.tx.ArrayLives(array); stays || err != nil {
		return stays, err
	}
	list, err := p.tx.ArrayJobs(array)
	for _, j := range list {
		if !stays && err == nil {
			stays, err = jobs.Stays(p.tx.File, j, before, needed)
		}
	}
	return stays, err
}

// forgetEvents continues through the events.
func (p *pass) forgetEvents(before int64) error {
	tx := p.tx
	var old []uint64
	looked, from := 0, tx.State.ForgottenEvents
	tx.State.ForgottenEvents = 0
	err := tx.File.EachFrom(row.Events, row.Key64(from), nil, func(key, payload []byte) (bool, error) {
		if looked++; looked > ForgetStep {
			tx.State.ForgottenEvents = row.Number64(key)
			return false, nil
		}
		ev, err := row.DecodeEvent(key, payload)
		if err != nil || ev.Time >= before {
			return false, err // the rows after it are later
		}
		if ev.Job != 0 {
			there, err := tx.File.Get(row.Jobs, row.Key64(ev.Job))
			if err != nil || there != nil {
				return true, err
			}
		}
		old = append(old, ev.ID)
		return true, nil
	})
	tx.Dirty = tx.Dirty || tx.State.ForgottenEvents != from
	if err != nil || len(old) == 0 {
		return err
	}
	return RemoveEvents(tx, old)
}
