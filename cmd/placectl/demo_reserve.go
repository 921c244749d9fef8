package main

import (
	"fmt"
	"time"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
)

// demoReserve is a reservation and when it is made.
type demoReserve struct {
	Made   int64
	Name   string
	Select string
	Place  string
	Start  int64 // or as soon after it as there is so much free
	Lasts  time.Duration
	Allow  string // an access list, "" for nobody
}

// demoReserves are the demo's own, in the order in which they are made; the
// record has none. Two keep nodes from everybody. The third keeps half of some
// nodes for the two queues with the shortest jobs, so that those need not wait
// for jobs that last a week.
func demoReserves(data *demoData) []demoReserve {
	const hour = 3600
	middle := data.From + (data.Until-data.From)/2
	return []demoReserve{
		{Made: data.From, Name: "short", Select: "4:ncpus=6:mem=40gb:feature=cl_zegox", Place: "scatter:shared",
			Start: data.From + 12*hour, Lasts: 7 * 24 * time.Hour, Allow: "queue=q_2h,queue=q_4h"},
		{Made: middle, Name: "maintenance", Select: "4:ncpus=80:feature=cl_zewura+8:ncpus=12:feature=cl_zegox", Place: "scatter:excl",
			Start: middle + 24*hour, Lasts: 8 * time.Hour},
		{Made: data.Until - 12*hour, Name: "upgrade", Select: "8:ncpus=12:feature=cl_zegox", Place: "scatter:excl",
			Start: data.Until + 12*hour, Lasts: 6 * time.Hour},
	}
}

// reserve makes the reservations that are due to be made.
func (d *demoReplay) reserve(tx *store.Tx) error {
	for len(d.reserves) > 0 && d.reserves[0].Made <= d.clock {
		v := d.reserves[0]
		d.reserves = d.reserves[1:]
		spec := store.ReserveSpec{Name: v.Name, Request: placer.Request{Select: v.Select, Place: v.Place, Walltime: v.Lasts}}
		plans, err := tx.When(spec.Request, v.Start, 1)
		if err != nil {
			return fmt.Errorf("reservation %s: %w", v.Name, err)
		}
		spec.Start = plans[0].Start
		if spec.Access, err = placer.ParseAccess(v.Allow); err != nil {
			return err
		}
		if _, err := tx.AddReservation(spec); err != nil {
			return fmt.Errorf("reservation %s: %w", v.Name, err)
		}
		d.reopens = append(d.reopens, plans[0].End)
	}
	return nil
}
