package store

import (
	"time"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/placectl/placectl/store/internal/recovery"
	"github.com/placectl/placectl/store/internal/row"
)

// forgetStep bounds how many jobs, and how many events, a cycle looks at to find those
// that are not kept any longer: the next one goes on behind them.
const forgetStep = 1000

// forget drops jobs that have ended longer ago than the setting keep_ended
// says, and their events.
func (p *pass) forget() error {
	set, err := p.tx.settings()
	if err != nil || set.KeepEnded == 0 {
		return err
	}
	before := p.tx.now - int64(set.KeepEnded/time.Second)
	needed, err := recovery.Needed(p.tx.file)
	if err != nil {
		return err
	}
	if err := p.forgetJobs(before, needed); err != nil {
		return err
	}
	return p.forgetEvents(before)
}

// forgetJobs goes on through the jobs. Those of an array go one by one: nobody asks for
// it by its number any more.
func (p *pass) forgetJobs(before int64, needed *roaring64.Bitmap) error {
	tx := p.tx
	var old []uint64
	looked, from := 0, tx.state.ForgottenJobs
	tx.state.ForgottenJobs = 0 // from the first one on, where the last one is reached
	err := tx.file.EachFrom(row.Jobs, row.Key64(from), nil, func(key, payload []byte) (bool, error) {
		if looked++; looked > forgetStep {
			tx.state.ForgottenJobs = row.Number64(key)
			return false, nil
		}
		j, err := row.DecodeJob(key, payload)
		if err != nil {
			return false, err
		}
		stays, err := recovery.Stays(tx.file, j, before, needed)
		if !stays && err == nil {
			old = append(old, j.ID)
		}
		return true, err
	})
	tx.dirty = tx.dirty || tx.state.ForgottenJobs != from
	if err != nil || len(old) == 0 {
		return err
	}
	return tx.removeEnded(old)
}

// forgetEvents goes on through the events.
func (p *pass) forgetEvents(before int64) error {
	tx := p.tx
	var old []uint64
	looked, from := 0, tx.state.ForgottenEvents
	tx.state.ForgottenEvents = 0
	err := tx.file.EachFrom(row.Events, row.Key64(from), nil, func(key, payload []byte) (bool, error) {
		if looked++; looked > forgetStep {
			tx.state.ForgottenEvents = row.Number64(key)
			return false, nil
		}
		ev, err := row.DecodeEvent(key, payload)
		if err != nil || ev.Time >= before {
			return false, err // those behind it are later
		}
		if ev.Job != 0 {
			there, err := tx.file.Get(row.Jobs, row.Key64(ev.Job))
			if err != nil || there != nil {
				return true, err
			}
		}
		old = append(old, ev.ID)
		return true, nil
	})
	tx.dirty = tx.dirty || tx.state.ForgottenEvents != from
	if err != nil || len(old) == 0 {
		return err
	}
	return tx.removeEvents(old)
}
