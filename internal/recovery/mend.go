package recovery

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/check"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// mended is a row to put, or to remove if payload is nil.
type mended struct {
	table        row.Table
	key, payload []byte
}

// maxRounds limits how often rows are examined again after a change. Each round removes
// references between nodes, jobs and reservations.
const maxRounds = 10

// mend changes rows that contradict the others because some are missing. Without one of these cases
// the rows of the file do not make a database, or its cycles fail.
func (s *salvage) mend() error {
	for _, look := range []func(*check.Store) ([]mended, error){s.counters, s.nodes, s.jobs, s.attempts, s.payloads,
		s.links} {
		if err := s.change(look); err != nil {
			return err
		}
	}
	for range maxRounds {
		blamed := 0
		err := s.change(func(db *check.Store) ([]mended, error) {
			made, err := check.Derive(db, func(string) {})
			if err != nil {
				return nil, err
			}
			blamed = len(made.Blamed)
			return s.parted(db, made.Blamed)
		})
		if err != nil {
			return err
		}
		if blamed == 0 {
			if err := s.change(s.pasts); err != nil {
				return err
			}
			return s.change(s.rates)
		}
	}
	return fmt.Errorf("%w: the rows that can be read contradict each other in too many ways", row.ErrDamaged)
}

// change runs a function on the rows, and carries out the changes that it returns.
func (s *salvage) change(look func(*check.Store) ([]mended, error)) error {
	var list []mended
	err := s.db.File().View(func(r *file.Recorder) error {
		db, err := s.db.AsOf(r)
		if err == nil {
			list, err = look(db)
		}
		return err
	})
	if err != nil || len(list) == 0 {
		return err
	}
	return s.db.File().Bulk(func(b *file.Bulk) error {
		for _, m := range list {
			if err := b.PutOrRemove(m.table, m.key, m.payload); err != nil {
				return err
			}
		}
		return nil
	})
}

// counters rebuilds the row of the state, so that numbers of existing rows are never reused,
// and the instant is not before anything that has happened.
func (s *salvage) counters(db *check.Store) ([]mended, error) {
	st := *db.State
	if known, err := db.Rows.Get(row.Meta, row.KeyState); err != nil {
		return nil, err
	} else if known == nil {
		st = row.State{NextResource: index.FirstDeclared, NextJob: 1, NextReservation: 1}
		s.note(row.Meta, "the row of the clock and the counters is made anew")
	}
	for _, t := range []row.Table{row.Jobs, row.Stops, row.Events, row.Nodes, row.Resources} {
		key, err := db.Rows.Last(t)
		switch {
		case err != nil:
			return nil, err
		case len(key) == 8 && t == row.Events:
			st.Events = max(st.Events, row.Number64(key))
		case len(key) == 8:
			st.NextJob = max(st.NextJob, row.Number64(key)+1)
		case len(key) == 4 && t == row.Nodes:
			st.NextNode = max(st.NextNode, binary.BigEndian.Uint32(key)+1)
		case len(key) == 2 && t == row.Resources:
			st.NextResource = max(st.NextResource, index.ResID(binary.BigEndian.Uint16(key))+1)
		}
	}
	st.Invalidations++
	err := errors.Join(
		db.Rows.Each(row.Nodes, nil, func(key, payload []byte) (bool, error) {
			var v row.NodeView
			err := v.Open(key, payload)
			if err == nil {
				st.NextBucket = max(st.NextBucket, v.Bucket()+1)
			}
			return true, err
		}),
		db.Rows.Each(row.Reservations, nil, func(key, payload []byte) (bool, error) {
			r, err := row.ReservationRow.Decode(key, payload)
			if err == nil {
				st.NextReservation = max(st.NextReservation, r.ID+1)
			}
			return true, err
		}),
		db.Rows.Each(row.Events, nil, func(key, payload []byte) (bool, error) {
			ev, err := row.DecodeEvent(key, payload)
			if err == nil {
				st.AsOf = max(st.AsOf, ev.Time)
			}
			return true, err
		}))
	if st.NodesSince == 0 {
		st.NodesSince = st.AsOf
	}
	return []mended{{row.Meta, row.KeyState, row.StateRow.Encode(&st)}}, err
}

// nodes removes amounts of undefined resources from nodes.
func (s *salvage) nodes(db *check.Store) (list []mended, err error) {
	defs, err := db.Resources()
	if err != nil {
		return nil, err
	}
	undefined := func(a index.Amount) bool {
		_, ok := defs.Get(a.Res)
		return !ok
	}
	err = db.Rows.Each(row.Nodes, nil, func(key, payload []byte) (bool, error) {
		n, err := row.DecodeNode(key, payload)
		if err != nil || !slices.ContainsFunc(n.Res, undefined) {
			return true, err
		}
		n.Res = slices.DeleteFunc(n.Res, undefined)
		s.note(row.Nodes, "%s has lost what it had of a resource whose definition is lost", n.Name)
		list = append(list, mended{row.Nodes, slices.Clone(key), row.EncodeNode(n)})
		return true, nil
	})
	return list, err
}

// jobs holds the jobs that wait for lost jobs.
func (s *salvage) jobs(db *check.Store) (list []mended, err error) {
	err = db.Rows.Each(row.Jobs, nil, func(key, payload []byte) (bool, error) {
		j, err := row.DecodeJob(key, payload)
		if err != nil || !j.State.Live() || len(j.After) == 0 {
			return true, err
		}
		var lost []string
		j.After = slices.DeleteFunc(j.After, func(d row.Dependency) bool {
			there, err := present(db.Rows, d.Job)
			if err == nil && !there {
				lost = append(lost, d.String())
			}
			return err == nil && !there
		})
		if len(lost) > 0 && j.State != row.JobRunning {
			list = append(list, s.unplaced(j, fmt.Sprintf("it depended on a job that is lost: %s", lost)))
		} else if len(lost) > 0 {
			list = append(list, mended{row.Jobs, slices.Clone(key), row.EncodeJob(j)})
		}
		return true, nil
	})
	return list, err
}

// present reports whether a job is there, or an array without gaps between its jobs.
func present(r *file.Recorder, number uint64) (there bool, err error) {
	next := number + 1
	err = r.EachFrom(row.Jobs, row.Key64(number), nil, func(key, payload []byte) (bool, error) {
		j, err := row.DecodeJob(key, payload)
		switch {
		case err == nil && j.ID == number:
			there = true
			return false, nil
		case err != nil || j.Array != number:
			return false, err
		case j.ID != next:
			there = false
			return false, nil
		}
		there, next = true, next+1
		return true, nil
	})
	return there, err
}

// attempts leaves out attempts whose jobs are lost, or contradict them. A running job whose
// attempt is lost counts as executed by an unknown process, so that it does not run twice.
func (s *salvage) attempts(db *check.Store) (list []mended, err error) {
	executed := make(map[uint64]bool)
	err = db.Rows.Each(row.Attempts, nil, func(key, payload []byte) (bool, error) {
		a, err := row.DecodeAttempt(key, payload)
		if err != nil {
			return false, err
		}
		jobKey := row.Key64(a.Job)
		payload, err = db.Rows.Get(row.Jobs, jobKey)
		if err != nil {
			return false, err
		}
		var j *row.Job
		if payload != nil {
			if j, err = row.DecodeJob(jobKey, payload); err != nil {
				return false, err
			}
		}
		current := j != nil && a.Number == j.CurrentAttempt() && j.State == row.JobRunning
		if j == nil || a.Number > j.CurrentAttempt() || a.State.Live() != current && (a.State.Live() || j.Claimed) {
			s.note(row.Attempts, "attempt %d.%d is left out: its job is lost, or says something else", a.Job, a.Number)
			list = append(list, mended{row.Attempts, slices.Clone(key), nil})
			return true, nil
		}
		executed[a.Job] = executed[a.Job] || a.State.Live()
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	err = db.Rows.Each(row.Jobs, nil, func(key, payload []byte) (bool, error) {
		j, err := row.DecodeJob(key, payload)
		if err != nil || !j.Claimed && !j.Ending || executed[j.ID] {
			return true, err
		}
		s.note(row.Jobs, "who executes job %d is lost: placectl done says that it has ended", j.ID)
		j.Claimed, j.Ending, j.Launched = false, false, true
		list = append(list, mended{row.Jobs, slices.Clone(key), row.EncodeJob(j)})
		return true, nil
	})
	return list, err
}

// payloads holds waiting jobs with a lost payload, and leaves out payloads of lost jobs.
func (s *salvage) payloads(db *check.Store) (list []mended, err error) {
	named := make(map[row.PayloadKey]bool)
	jobs := db.Rows.Each(row.Jobs, nil, func(key, payload []byte) (bool, error) {
		j, err := row.DecodeJob(key, payload)
		if err != nil || j.Payload == (row.PayloadKey{}) {
			return true, err
		}
		carried, err := db.Rows.Get(row.Payloads, j.Payload[:])
		if named[j.Payload] = true; err != nil || carried != nil {
			return true, err
		}
		j.Payload = row.PayloadKey{}
		if j.State.Live() && j.State != row.JobRunning {
			list = append(list, s.unplaced(j, "its script, directory and environment are lost"))
		} else {
			s.note(row.Jobs, "job %d, %s, has lost its script, directory and environment", j.ID, j.State)
			list = append(list, mended{row.Jobs, slices.Clone(key), row.EncodeJob(j)})
		}
		return true, nil
	})
	carried := db.Rows.Each(row.Payloads, nil, func(key, payload []byte) (bool, error) {
		hash, err := row.HashPayload(payload)
		if err == nil && (!bytes.Equal(hash[:], key) || !named[hash]) {
			s.note(row.Payloads, "%x is left out: no job that was found carries it", key)
			list = append(list, mended{row.Payloads, slices.Clone(key), nil})
		}
		return true, err
	})
	return list, errors.Join(jobs, carried)
}

// unplaced returns a job without the nodes that it had or was planned on: held if it came through the
// queue, else ended.
func (s *salvage) unplaced(j *row.Job, why string) mended {
	was := j.State
	j.Unplace()
	j.Claimed, j.Ending = false, false
	if j.State, j.Reason = row.JobHeld, row.Because(row.CauseSalvaged, "salvaged: "+why); !j.Queued {
		j.State = row.JobFailed
	}
	s.note(row.Jobs, "job %d, which was %s, is %s: %s", j.ID, was, j.State, why)
	return mended{row.Jobs, row.Key64(j.ID), row.EncodeJob(j)}
}

// links removes rows that refer to lost jobs.
func (s *salvage) links(db *check.Store) (list []mended, err error) {
	job := func(id uint64) (*row.Job, error) {
		payload, err := db.Rows.Get(row.Jobs, row.Key64(id))
		if payload == nil || err != nil {
			return nil, err
		}
		return row.DecodeJob(row.Key64(id), payload)
	}
	stops := db.Rows.Each(row.Stops, nil, func(key, _ []byte) (bool, error) {
		if j, err := job(binary.BigEndian.Uint64(key)); err != nil || j != nil {
			return true, err
		}
		s.note(row.Stops, "job %d should have been stopped, and is lost", binary.BigEndian.Uint64(key))
		list = append(list, mended{row.Stops, slices.Clone(key), nil})
		return true, nil
	})
	return list, stops
}

// parted removes conflicts between rows: it takes one of them off its nodes, or leaves it out.
func (s *salvage) parted(db *check.Store, blamed []check.Row) (list []mended, err error) {
	for _, b := range blamed {
		key := []byte(b.Key)
		payload, err := db.Rows.Get(b.Table, key)
		if err != nil || payload == nil {
			return nil, errors.Join(err, fmt.Errorf("%w: row %x of table %s is not there", row.ErrDamaged, key,
				b.Table))
		}
		switch b.Table {
		case row.Jobs:
			j, err := row.DecodeJob(key, payload)
			if err != nil {
				return nil, err
			}
			if j.State == row.JobRunning || j.State == row.JobReserved {
				list = append(list, s.unplaced(j, "where it was cannot be made out"))
				continue
			}
			s.note(row.Jobs, "job %d is left out: it contradicts the rest", j.ID)
		case row.Batches:
			batch, err := row.BatchRow.Decode(key, payload)
			if err != nil {
				return nil, err
			}
			s.note(row.Batches, "batch %s is left out: its rows do not fit together", strconv.Quote(b.Key))
			for _, t := range batchTables {
				err := db.Rows.Each(t, row.Key32(batch.Number), func(key, _ []byte) (bool, error) {
					list = append(list, mended{t, slices.Clone(key), nil})
					return true, nil
				})
				if err != nil {
					return nil, err
				}
			}
		default:
			s.note(b.Table, "%s is left out: it contradicts the rest", shownKey(b))
		}
		list = append(list, mended{b.Table, key, nil})
	}
	return list, nil
}

// shownKey formats a key for a note.
func shownKey(r check.Row) string {
	if r.Table == row.Nodes || r.Table == row.Hosts {
		return fmt.Sprintf("number %d", binary.BigEndian.Uint32([]byte(r.Key)))
	}
	return strconv.Quote(r.Key)
}
