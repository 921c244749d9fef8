package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func statsVerb() *verb {
	return &verb{
		Name:     "stats",
		Category: "Asking",
		Usage:    "the store in numbers",
		May:      store.Anybody,
		Description: "How many nodes and jobs there are in which state (docs/states.md; nodes_not_up: down, offline and drained), how\n" +
			"many cpus jobs have, how large the file is. The usage of nodes (USAGE in a PRIORITYF: the part of a node's\n" +
			"cpu time that jobs have had) is counted since the last placectl stats reset.",
		Access:  verbs.Reads,
		Example: "placectl stats",
		Verbs: []*verb{
			{Name: "reset", Usage: "count the usage of nodes anew, from now on", May: store.Operators, Access: verbs.Writes, InTx: (*runner).statsReset,
				Example: "placectl stats reset"},
		},
		InTx: (*runner).stats,
	}
}

func (r *runner) stats(tx *store.Tx, _ *cli.Context) error { return r.printStats(tx) }

func (r *runner) statsReset(tx *store.Tx, _ *cli.Context) error {
	if err := tx.Usage().Reset(); err != nil {
		return err
	}
	return r.printStats(tx)
}

// logSize is how much the log of the database holds. It warns where the log will take no
// more before long.
func (r *runner) logSize() (store.LogSize, error) {
	log, err := r.openLog()
	if err != nil || r.Stale < 0 {
		return store.LogSize{}, err
	}
	size, err := log.Size()
	const what = "defragment it, let it forget its history (--auto-compaction-retention=1h), or raise --quota-backend-bytes"
	switch {
	case err != nil:
	case size.Full:
		r.notef("etcd is full, and takes nothing more (NOSPACE): %s; then etcdctl alarm disarm", what)
	case size.Quota > 0 && size.Stored > size.Quota/2:
		r.notef("etcd has %s, more than half of the %s that it may have: %s", text.FormatSize(size.Stored), text.FormatSize(size.Quota), what)
	}
	return size, err
}

func (r *runner) printStats(tx *store.Tx) error {
	if err := r.onlyHere(); err != nil { // it says how long this machine's file is
		return err
	}
	s, err := tx.Stats()
	if err != nil {
		return err
	}
	res := output.Result{Record: true}
	var row []any
	add := func(name string, k output.Kind, v any) {
		res.Columns, row = append(res.Columns, output.Column{Name: name, Kind: k}), append(row, v)
	}
	add("format", output.Integer, s.Format)
	add("file", output.Size, s.Bytes)
	if store.IsLog(r.DB) && r.tx == nil {
		size, err := r.logSize()
		if err != nil {
			return err
		}
		add("log", output.Size, size.Prefix)
	}
	add("nodes", output.Integer, s.Nodes)
	for state, n := range s.ByState {
		add("nodes_"+store.NodeState(state).String(), output.Integer, n)
	}
	add("nodes_not_up", output.Integer, s.ByState[store.NodeDown]+s.ByState[store.NodeOffline]+s.ByState[store.NodeDrained])
	add("buckets", output.Integer, s.Buckets)
	add("cpus", output.Integer, s.CPUs)
	add("cpus_taken", output.Integer, s.CPUsTaken)
	for _, state := range store.JobStates() {
		if state != store.JobLate || s.Jobs[state] > 0 || r.audience().Document { // as a rule there are none
			add("jobs_"+state.String(), output.Integer, s.Jobs[state])
		}
	}
	add("reservations", output.Integer, s.Reserved)
	add("usage_since", output.Time, output.OrNil(s.UsageSince))
	p := r.printer(res)
	p.Row(row...)
	return p.Close()
}
