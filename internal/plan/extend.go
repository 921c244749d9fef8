package plan

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
)

// MayLast refuses a longer walltime that limits forbid for one job, or that would end after its
// deadline.
func MayLast(tx *kernel.Tx, j *row.Job, walltime int64) error {
	if walltime <= j.Walltime || !j.State.Live() {
		return nil
	}
	longer := *j
	longer.Walltime = walltime
	if err := alone(tx, &longer); err != nil {
		return err
	}
	start := j.Start
	if kernel.Stages[j.State] == kernel.Waits {
		start = max(j.Begin, tx.Now)
	}
	if j.Deadline != 0 && start+walltime > j.Deadline {
		return row.Clash("job "+strconv.FormatUint(j.ID, 10),
			fmt.Sprintf("it has to end by its deadline, %s, and would end at %s", kernel.Stamp(j.Deadline),
				kernel.Stamp(start+walltime)))
	}
	return nil
}

// MayReach returns a Conflict if a job cannot keep its allocation until end. Its stretches get the
// new end.
func MayReach(tx *kernel.Tx, j *row.Job, spans []kernel.Span, end int64) error {
	what := "job " + strconv.FormatUint(j.ID, 10)
	guest, err := GuestOf(tx, j)
	if err != nil {
		return err
	}
	if err := staysWithin(tx, what, j, end); err != nil {
		return err
	}
	if short, err := tx.Counters().Exceeds(j, max(j.End, tx.Now), end, false); err != nil {
		return err
	} else if short != "" {
		return row.Clash(what, short)
	}
	for i := range spans {
		spans[i].End = end
		if err := (Taking{Tx: tx, What: what, Node: spans[i].Node, Span: spans[i].Busy, Guest: guest,
			User: j.User}).Conflict(); err != nil {
			return err
		}
	}
	return nil
}

// staysWithin returns a Conflict if a job insists on a reservation that ends before the job
// would.
func staysWithin(tx *kernel.Tx, what string, j *row.Job, end int64) error {
	if j.Reservation == "" {
		return nil
	}
	list, err := occurrences(tx, j.Reservation)
	if errors.Is(err, row.ErrNotFound) {
		return nil // it was deleted, and blocks no job
	}
	if err != nil {
		return err
	}
	for _, r := range list {
		if r.Start <= j.Start && j.Start < r.End && end > r.End {
			return row.Clash(what, fmt.Sprintf("it insists on reservation %s, which ends at %s", r.Name,
				kernel.Stamp(r.End)))
		}
	}
	return nil
}

// GuestOf returns a job as a guest on its nodes, which tells what it does not conflict with.
func GuestOf(tx *kernel.Tx, j *row.Job) (*placer.Guest, error) {
	grants, err := tx.Reservations().Grants(Entrant(j), "", min(tx.Now, j.Start))
	return &placer.Guest{Grants: grants, Owner: row.JobOwner(j.ID)}, err
}

// OccupyAgain puts a job back on its nodes for its present time.
func OccupyAgain(tx *kernel.Tx, j *row.Job, spans []kernel.Span, was row.JobState) error {
	for _, s := range spans {
		if err := tx.Calendar().Put(s.Node, s.Busy); err != nil {
			return err
		}
	}
	if err := tx.Counters().Hold(j); err != nil {
		return err
	}
	if err := tx.NodeIndex().Reclass(j.AllNodes(), j.Start); err != nil {
		return err
	}
	owner := row.JobOwner(j.ID)
	if was == row.JobReserved {
		if err := tx.File.Mark(row.Changes, row.TimeKey(j.Start, owner)); err != nil {
			return err
		}
	}
	if j.EndsByClock() {
		if err := tx.File.Mark(row.Changes, row.TimeKey(j.End, owner)); err != nil {
			return err
		}
	}
	return tx.Loaded.Releases.Put(j.End, owner, j.AllNodes())
}
