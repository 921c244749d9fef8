package main

import (
	"slices"
	"strconv"

	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store"
)

// printBatchJobs lists the jobs of a batch.
func (r *runner) printBatchJobs(tx *store.Tx, name string) error {
	names, err := batchHostNames(tx, name)
	if err != nil {
		return err
	}
	p := r.printer(result{Columns: []column{{Name: "job"}, {Name: "state"}, {Name: "first", Kind: integer}, {Name: "last", Kind: integer},
		{Name: "credit", Kind: number}, {Name: "quorum", Kind: integer}, {Name: "errors", Kind: integer}, {Name: "hosts", Kind: list}}})
	err = tx.EachBatchJob(name, func(n int, j *locality.Job, t *locality.Task) error {
		hosts := []string{}
		for _, x := range t.Instances {
			hosts = append(hosts, names[x.Host]+":"+x.State.String())
		}
		return p.row(strconv.Itoa(n), batchJobState(j, t), j.A, j.B, credits(j.Credit), j.Quorum, t.Errors, hosts)
	})
	if err != nil {
		return err
	}
	return p.close()
}

func batchHostNames(tx *store.Tx, name string) (map[uint32]string, error) {
	names := make(map[uint32]string)
	err := tx.EachBatchHost(name, func(h *locality.Host, _ *locality.Member) error {
		names[h.Number] = h.Name
		return nil
	})
	return names, err
}

// batchJobState is a job's state in a word: that of the slot which is least far.
func batchJobState(j *locality.Job, t *locality.Task) string {
	slots := append(slices.Clone(t.Slots), make([]locality.SlotState, max(0, j.Quorum-len(t.Slots)))...)[:j.Quorum]
	switch {
	case slices.Contains(slots, locality.Failed):
		return "failed"
	case slices.Contains(slots, locality.Unsent):
		return "unsent"
	case slices.Contains(slots, locality.Sent):
		return "sent"
	case slices.Contains(slots, locality.Ungenerated):
		return "ungenerated"
	}
	return "done"
}
