package main

import (
	"strconv"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store"
)

// printBatchJobs lists the jobs of a batch.
func (r *runner) printBatchJobs(tx *store.Tx, name string) error {
	names, err := batchHostNames(tx, name)
	if err != nil {
		return err
	}
	p := r.printer(output.Result{Columns: []output.Column{{Name: "job"}, {Name: "state"}, {Name: "first", Kind: output.Integer}, {Name: "last", Kind: output.Integer},
		{Name: "credit", Kind: output.Number}, {Name: "quorum", Kind: output.Integer}, {Name: "errors", Kind: output.Integer}, {Name: "hosts", Kind: output.List}}})
	err = tx.EachBatchJob(name, func(n int, j *locality.Job, t *locality.Task) error {
		hosts := []string{}
		for _, x := range t.Instances {
			hosts = append(hosts, names[x.Host]+":"+x.State.String())
		}
		return p.Row(strconv.Itoa(n), t.State(j), j.A, j.B, locality.Credits(j.Credit), j.Quorum, t.Errors, hosts)
	})
	if err != nil {
		return err
	}
	return p.Close()
}

func batchHostNames(tx *store.Tx, name string) (map[uint32]string, error) {
	names := make(map[uint32]string)
	err := tx.EachBatchHost(name, func(h *locality.Host, _ *locality.Member) error {
		names[h.Number] = h.Name
		return nil
	})
	return names, err
}
