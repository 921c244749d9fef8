package main

import "github.com/placectl/placectl/cmd/placectl/internal/output"

// printDemoRecord prints the report for programs: the figures, and with
// -o json everything the page shows, uncut.
func (r *runner) printDemoRecord(rep *demoReport) error {
	d, s := rep.d, &rep.d.stats
	waited, median, longest := s.waits()
	var res output.Result
	var row []any
	add := func(name string, k output.Kind, v any) {
		res.Columns = append(res.Columns, output.Column{Name: name, Kind: k, Detail: k == output.Object})
		row = append(row, v)
	}
	add("db", output.Text, orNil(rep.DB))
	add("start", output.Time, d.data.From)
	add("end", output.Time, d.data.Until)
	add("nodes", output.Integer, len(d.data.Nodes))
	add("ncpus", output.Integer, d.data.cpus())
	add("policy", output.Text, d.how.Policy)
	add("requests", output.Integer, len(d.data.Jobs))
	add("placed", output.Integer, s.Placed)
	add("released", output.Integer, s.Released)
	add("running", output.Integer, len(rep.Running))
	add("waiting", output.Integer, len(d.waiting))
	add("most_waiting", output.Integer, s.MostWaiting)
	add("waited", output.Integer, waited)
	add("median_wait", output.Duration, median)
	add("longest_wait", output.Duration, longest)
	add("mean_wait", output.Number, s.MeanWait)
	add("shared", output.Integer, s.Shared)
	add("let_in", output.Integer, s.LetIn)
	add("fitted_in", output.Integer, s.FittedIn)
	add("ncpus_busy", output.Number, d.history.cpusPart())
	add("nodes_used", output.Number, d.history.nodesPart())
	add("jobs_per_node", output.Number, d.history.jobsPerNode())
	add("transactions", output.Integer, s.Transactions)
	add("seconds", output.Number, s.Took.Seconds())
	add("placements_per_second", output.Number, s.rate())
	add("buckets", output.Object, rep.Buckets)
	add("node_list", output.Object, rep.Nodes)
	add("policies", output.Object, rep.Policies)
	add("running_jobs", output.Object, rep.Running)
	add("waiting_requests", output.Object, rep.Waiting)
	add("reservations", output.Object, rep.Reservations)
	add("next", output.Object, rep.Next)
	res.Record = true
	p := r.printer(res)
	p.Row(row...)
	return p.Close()
}
