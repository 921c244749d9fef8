package demo

import (
	"fmt"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
)

// reservation is a reservation made up for the demo.
type reservation struct {
	name   string
	sel    string
	place  string
	start  int64 // Unix seconds
	lasts  time.Duration
	access string // "" for none
}

// reservations returns those of the demo, because the record has none. Two keep nodes from all users. The
// third keeps half of some nodes for the two queues with the shortest jobs, so that those need not wait for
// jobs that last a week.
func (d *Data) reservations() []reservation {
	const hour = 3600
	return []reservation{
		{name: "short", sel: "4:ncpus=6:mem=40gb:feature=cl_zegox", place: "scatter:shared",
			start: d.From + 12*hour, lasts: 7 * 24 * time.Hour, access: "queue=q_2h,queue=q_4h"},
		{name: "maintenance", sel: "4:ncpus=80:feature=cl_zewura+8:ncpus=12:feature=cl_zegox", place: "scatter:excl",
			start: d.Until - 48*hour, lasts: 8 * time.Hour},
		{name: "upgrade", sel: "8:ncpus=12:feature=cl_zegox", place: "scatter:excl",
			start: d.Until + 12*hour, lasts: 6 * time.Hour},
	}
}

// make makes the reservation on nodes with room for it.
func (v *reservation) make(tx *engine.Tx) error {
	spec := engine.ReserveSpec{Name: v.name, Start: time.Unix(v.start, 0),
		Request: placer.Request{Select: v.sel, Place: v.place, Walltime: v.lasts}}
	access, err := placer.ParseAccess(v.access)
	if err != nil {
		return err
	}
	spec.Access = access
	if _, err := tx.Reservations().Add(spec); err != nil {
		return fmt.Errorf("reservation %s: %w", v.name, err)
	}
	return nil
}
