package main

// printDemoRecord prints the report for programs: the figures, and with
// -o json everything the page shows, uncut.
func (r *runner) printDemoRecord(rep *demoReport) error {
	d, s := rep.d, &rep.d.stats
	waited, median, longest := s.waits()
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
	add("policy", text, d.how.Policy)
	add("requests", integer, len(d.data.Jobs))
	add("placed", integer, s.Placed)
	add("released", integer, s.Released)
	add("running", integer, len(rep.Running))
	add("waiting", integer, len(d.waiting))
	add("most_waiting", integer, s.MostWaiting)
	add("waited", integer, waited)
	add("median_wait", span, median)
	add("longest_wait", span, longest)
	add("mean_wait", number, s.MeanWait)
	add("shared", integer, s.Shared)
	add("let_in", integer, s.LetIn)
	add("fitted_in", integer, s.FittedIn)
	add("ncpus_busy", number, d.history.cpusPart())
	add("nodes_used", number, d.history.nodesPart())
	add("jobs_per_node", number, d.history.jobsPerNode())
	add("transactions", integer, s.Transactions)
	add("seconds", number, s.Took.Seconds())
	add("placements_per_second", number, s.rate())
	add("buckets", object, rep.Buckets)
	add("node_list", object, rep.Nodes)
	add("policies", object, rep.Policies)
	add("running_jobs", object, rep.Running)
	add("waiting_requests", object, rep.Waiting)
	add("reservations", object, rep.Reservations)
	add("next", object, rep.Next)
	res.Record = true
	p := r.printer(res)
	p.row(row...)
	return p.close()
}
