package main

import "fmt"

func (r *runner) printDemo(rep *demoReport) error {
	d := rep.d
	fmt.Fprintf(r.stdout, "%+v %d waits running %d waiting %d\n", d.stats.Took, len(d.stats.Waits), len(d.running), len(d.waiting))
	fmt.Fprintln(r.stdout, "tx", d.stats.Transactions, "rel", d.stats.Released, "fit", d.stats.FittedIn, d.data.LeftOut)
	for i := range d.history.kinds {
		fmt.Fprintln(r.stdout, d.history.draw(r.ramp(), &d.history.levels[i], int64(d.history.nodes[i])))
	}
	fmt.Fprintln(r.stdout, d.history.draw(r.ramp(), &d.history.waiting, 100))
	fmt.Fprintln(r.stdout, d.history.drawBlocked())
	fmt.Fprintln(r.stdout, rep.Buckets)
	fmt.Fprintln(r.stdout, rep.Waiting)
	for _, v := range rep.Reservations {
		fmt.Fprintln(r.stdout, v.Name, v.State, d.data.Until-int64(v.Start), v.Nodes)
	}
	return nil
}
