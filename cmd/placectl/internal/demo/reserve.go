package demo

import (
	"fmt"
	"time"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
)

// reservation is one of the demo's own, and when it is made.
type reservation struct {
	made   int64
	name   string
	sel    string
	place  string
	start  int64 // or as soon after it as there is so much free
	lasts  time.Duration
	access string // "" for nobody
}

// reservations are those of the demo, in the order in which they are made; the record
// has none. Two keep nodes from everybody. The third keeps half of some nodes for the
// two queues with the shortest jobs, so that those need not wait for jobs that last a
// week.
func (d *Data) reservations() []reservation {
	const hour = 3600
	middle := d.From + (d.Until-d.From)/2
	return []reservation{
		{made: d.From, name: "short", sel: "4:ncpus=6:mem=40gb:feature=cl_zegox", place: "scatter:shared",
			start: d.From + 12*hour, lasts: 7 * 24 * time.Hour, access: "queue=q_2h,queue=q_4h"},
		{made: middle, name: "maintenance", sel: "4:ncpus=80:feature=cl_zewura+8:ncpus=12:feature=cl_zegox", place: "scatter:excl",
			start: middle + 24*hour, lasts: 8 * time.Hour},
		{made: d.Until - 12*hour, name: "upgrade", sel: "8:ncpus=12:feature=cl_zegox", place: "scatter:excl",
			start: d.Until + 12*hour, lasts: 6 * time.Hour},
	}
}

// make makes the reservation, and returns when it is over.
func (v *reservation) make(tx *store.Tx) (end int64, err error) {
	spec := store.ReserveSpec{Name: v.name, Request: placer.Request{Select: v.sel, Place: v.place, Walltime: v.lasts}}
	if spec.Access, err = placer.ParseAccess(v.access); err != nil {
		return 0, err
	}
	plans, err := tx.When(spec.Request, v.start, 1)
	if err != nil {
		return 0, fmt.Errorf("reservation %s: %w", v.name, err)
	}
	spec.Start = plans[0].Start
	if _, err := tx.AddReservation(spec); err != nil {
		return 0, fmt.Errorf("reservation %s: %w", v.name, err)
	}
	return plans[0].End, nil
}
