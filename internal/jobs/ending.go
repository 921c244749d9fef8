package jobs

import (
	"cmp"
	"errors"
	"strconv"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
)

// EndAsMarked ends a job that is marked as ending, as its mark says. Either a launcher was
// told to stop it and its time to do so is over, or the job never began.
func EndAsMarked(tx *kernel.Tx, j *row.Job) error {
	a, err := tx.Attempts().Of(j, j.CurrentAttempt())
	if err != nil {
		return err
	}
	return MachineOf(tx).Do(j, Step{To: a.Becomes, Reason: a.Why, Leaving: Exited})
}

// GiveBack ends the attempt of an ending job at once and frees its nodes, even if its
// processes still run. It fails with a Conflict if the job is not ending.
func (as Attempts) GiveBack(id uint64) (*kernel.Job, error) {
	j, err := forChange(as.tx, id, "given back", row.JobRunning)
	if err != nil {
		return nil, err
	}
	if !j.Ending {
		return nil, row.Clash("job "+strconv.FormatUint(id, 10), "it is still running")
	}
	a, err := as.tx.Attempts().Of(j, j.CurrentAttempt())
	if err != nil {
		return nil, err
	}
	const early = "its nodes were given back before its processes had ended"
	reason := a.Why.And(early)
	return kernel.JobResult(j, MachineOf(as.tx).Do(j, Step{To: a.Becomes, Reason: reason, Leaving: Exited}))
}

// prolong moves the end of a running job to a later instant, as extend would, if its nodes are
// free until then and its deadline is not earlier.
func prolong(tx *kernel.Tx, j *row.Job, end int64) error {
	if j.Deadline != 0 {
		end = min(end, j.Deadline)
	}
	if end <= j.End {
		return nil
	}
	spans, err := tx.Allocations().Spans(j)
	if err != nil {
		return err
	}
	err = plan.MayReach(tx, j, spans, end)
	if errors.Is(err, row.ErrConflict) {
		return nil
	}
	if err != nil {
		return err
	}
	s := Step{To: j.State, Reason: j.Reason}
	if err := untilAnother(tx, j, end, &s); err != nil {
		return err
	}
	return MachineOf(tx).Do(j, s)
}

// untilAnother makes a step change a job's end on its nodes.
func untilAnother(tx *kernel.Tx, j *row.Job, end int64, s *Step) error {
	spans, err := tx.Allocations().Spans(j)
	for i := range spans {
		spans[i].End = end
	}
	change := s.change
	s.Keeps, s.change = spans, func() {
		if j.End = end; change != nil {
			change()
		}
	}
	return err
}

// grown returns a select whose chunks ask for more memory, or "" if none can have more.
func grown(tx *kernel.Tx, sel string, e *kernel.Ending) (string, error) {
	defs, err := tx.Resources()
	if err != nil {
		return "", err
	}
	chunks, err := placer.ParseSelect(defs, sel)
	if err != nil {
		return "", err
	}
	mem, ok := defs.Lookup("mem")
	most := e.RetryMax
	if ok {
		largest := int64(0)
		err = tx.EachNode(func(n *index.Node) error {
			has, _ := n.Get(mem.ID)
			largest = max(largest, has.Num)
			return nil
		})
		if most = min(cmp.Or(most, largest), largest); err != nil {
			return "", err
		}
	}
	more := false
	for _, c := range chunks {
		for i := range c.Wants {
			if w := &c.Wants[i]; ok && w.Res == mem.ID {
				if next := min(most, w.Value.Num*int64(e.RetryMem)/100); next > w.Value.Num {
					w.Value.Num, more = next, true
				}
			}
		}
	}
	if !more {
		return "", nil
	}
	return placer.Spec{Chunks: chunks}.Text(defs), nil
}

// grow increases the memory request of a job that waits for a retry after oom. If a limit or right
// forbids that, the request stays.
func grow(tx *kernel.Tx, j *row.Job, e *kernel.Ending) error {
	sel, err := grown(tx, j.Select, e)
	if err != nil || sel == "" {
		return err
	}
	note := "its memory was too little: it asks for " + sel + " in place of " + j.Select
	next, err := alter(tx, j.ID, &Alteration{Select: &sel, Notes: []string{note}})
	if err == nil {
		*j = *next
		return nil
	}
	if tx.Spoilt != nil {
		return err
	}
	return noted(tx, j, []string{"it cannot have more memory: " + err.Error()})
}
