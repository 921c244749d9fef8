package main

import (
	"maps"
	"slices"
)

// leftOutJSON is a reason for which jobs were left out.
type leftOutJSON struct {
	Reason string `json:"reason"`
	Jobs   int    `json:"jobs"`
}

// printDemoRecord prints the report for programs: the figures, and with
// -o json everything the page shows, uncut.
func (r *runner) printDemoRecord(rep *demoReport) error {
	d, s := rep.d, &rep.d.stats
	waited, median, longest := s.waits()
	out := []leftOutJSON{}
	for _, why := range slices.Sorted(maps.Keys(d.data.LeftOut)) {
		out = append(out, leftOutJSON{why, d.data.LeftOut[why]})
	}
	var res result
	var row []any
	add := func(name string, k kind, v any) {
		res.Columns = append(res.Columns, column{Name: name, Kind: k, Detail: k == object})
		row = append(row, v)
	}
	add("db", text, orNil(rep.DB))
	add("start", when, d.data.From)
	add("end", when, d.data.Until)
	add("nodes", integer, len(d.data.Nodes))
	add("ncpus", integer, d.data.cpus())
	add("whole_nodes", boolean, true)
	add("requests", integer, d.data.Requests)
	add("placed", integer, s.Placed)
	add("released", integer, s.Released)
	add("running", integer, len(rep.Running))
	add("waiting", integer, len(d.waiting))
	add("most_waiting", integer, s.MostWaiting)
	add("waited", integer, waited)
	add("median_wait", span, median)
	add("longest_wait", span, longest)
	add("fitted_in", integer, s.FittedIn)
	add("busy", number, d.busyPart())
	add("transactions", integer, s.Transactions)
	add("seconds", number, s.Took.Seconds())
	add("placements_per_second", number, s.rate())
	add("left_out", object, out)
	add("buckets", object, rep.Buckets)
	add("busiest", object, rep.Busiest)
	add("running_jobs", object, rep.Running)
	add("waiting_requests", object, rep.Waiting)
	add("reservations", object, rep.Reservations)
	add("next", object, rep.Next)
	res.Record = true
	p := r.printer(res)
	p.row(row...)
	return p.close()
}
