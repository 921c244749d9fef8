package jobs

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// The jobs with a requested start that an overdue job has put off are listed. Without the list, such a
// job would not be planned again, and would stay late however soon the overdue job ends. Cycles bring
// the listed jobs forward once there is room, but not to before the requested instant. Queued jobs need
// no list: cycles plan them again.

// Postponed returns the list, by job number.
func Postponed(rows *file.Recorder) (*row.Postponed, error) {
	payload, err := rows.Get(row.Meta, row.KeyPostponed)
	if err != nil || payload == nil {
		return &row.Postponed{}, err
	}
	return row.PostponedRow.Decode(row.KeyPostponed, payload)
}

// KeepPostponed stores the list, or deletes it if it is empty.
func KeepPostponed(rows *file.Recorder, p *row.Postponed) error {
	if len(p.Jobs) == 0 {
		return rows.Remove(row.Meta, row.KeyPostponed)
	}
	return rows.Put(row.Meta, row.KeyPostponed, row.PostponedRow.Encode(p))
}

// Postpone records that a job with a plan is about to be put off. In a reader the record is lost.
func Postpone(rows *file.Recorder, j *row.Job) error {
	if j.Queued || !rows.Writable() {
		return nil
	}
	p, err := Postponed(rows)
	if err != nil {
		return err
	}
	i, known := slices.BinarySearchFunc(p.Jobs, j.ID, func(x row.PostponedJob, id uint64) int {
		return cmp.Compare(x.Job, id)
	})
	if known { // it was put off before, so its requested start is known
		return nil
	}
	p.Jobs = slices.Insert(p.Jobs, i, row.PostponedJob{Job: j.ID, Wanted: j.Start})
	return KeepPostponed(rows, p)
}
