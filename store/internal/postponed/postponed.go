// Package postponed lists the jobs with a requested start that an overdue job has put off. A job
// placed at an instant is not planned again: it would stay late, however soon the overdue job ends.
// Cycles bring the listed jobs forward once there is room, but not to before the requested instant.
// Queued jobs need no list: cycles plan them again.
package postponed

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// Read is the list, by number of the jobs.
func Read(rows *file.Recorder) (*row.Postponed, error) {
	payload, err := rows.Get(row.Meta, row.KeyPostponed)
	if err != nil || payload == nil {
		return &row.Postponed{}, err
	}
	return row.DecodePostponed(payload)
}

// Keep keeps the list; one without jobs goes.
func Keep(rows *file.Recorder, p *row.Postponed) error {
	if len(p.Jobs) == 0 {
		return rows.Remove(row.Meta, row.KeyPostponed)
	}
	return rows.Put(row.Meta, row.KeyPostponed, row.EncodePostponed(p))
}

// Add takes note that a job with a plan is about to be put off. A reader forgets it.
func Add(rows *file.Recorder, j *row.Job) error {
	if j.Queued || !rows.Writable() {
		return nil
	}
	p, err := Read(rows)
	if err != nil {
		return err
	}
	i, known := slices.BinarySearchFunc(p.Jobs, j.ID, func(x row.PostponedJob, id uint64) int { return cmp.Compare(x.Job, id) })
	if known { // for the second time: when it was to start is known
		return nil
	}
	p.Jobs = slices.Insert(p.Jobs, i, row.PostponedJob{Job: j.ID, Wanted: j.Start})
	return Keep(rows, p)
}
