package row

import (
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// Reservation keeps nodes, or amounts of them, for a stretch of time.
type Reservation struct {
	ID         uint64
	Name       string
	Start, End int64
	Nodes      []uint32
	Uses       []timeline.Use
	Access     placer.AccessList
	Limit      int64
	Series     string
	Note       string
	Pools      []placer.PoolAmount // what it keeps of the pools of the cluster
}

// State is planned, active or ended, seen from an instant.
func (r *Reservation) State(now int64) string {
	switch {
	case now < r.Start:
		return "planned"
	case now < r.End:
		return "active"
	}
	return "ended"
}

// Span is the reservation's stretch on the i-th of its nodes.
func (r *Reservation) Span(i int) timeline.Busy {
	b := timeline.Busy{Start: r.Start, End: r.End, Owner: ReservationOwner(r.ID), Claim: true}
	if r.Uses != nil {
		b.Use = &r.Uses[i]
	}
	return b
}

const reservationVersion = 2

// EncodeReservation is the row of a reservation.
func EncodeReservation(r *Reservation) []byte {
	e := encoder{}
	e.byte(reservationVersion)
	e.uint(r.ID)
	e.int(r.Start)
	e.int(r.End)
	e.uint(uint64(len(r.Nodes)))
	last := uint32(0)
	for _, n := range r.Nodes {
		e.uint(uint64(n - last))
		last = n
	}
	encodeAccess(&e, r.Access)
	e.int(r.Limit)
	e.string(r.Series)
	e.string(r.Note)
	e.uint(uint64(len(r.Uses)))
	for i := range r.Uses {
		encodeUse(&e, &r.Uses[i])
	}
	if len(r.Pools) > 0 {
		encodePools(&e, r.Pools)
	}
	return e.b
}

// DecodeReservation reads it.
func DecodeReservation(key, payload []byte) (*Reservation, error) {
	d := decoder{b: payload}
	version := d.byte()
	r := &Reservation{Name: string(key), ID: d.uint(), Start: d.int(), End: d.int()}
	r.Nodes = make([]uint32, d.count())
	last := uint32(0)
	for i := range r.Nodes {
		last += uint32(d.uint())
		r.Nodes[i] = last
	}
	if version >= 2 {
		r.Access = decodeAccess(&d)
		r.Limit, r.Series, r.Note = d.int(), d.string(), d.string()
		if n := d.count(); n > 0 {
			r.Uses = make([]timeline.Use, n)
		}
		for i := range r.Uses {
			r.Uses[i] = *decodeUse(&d)
		}
		d.bad = d.bad || r.Uses != nil && len(r.Uses) != len(r.Nodes)
		if len(d.b) > 0 {
			r.Pools = decodePools(&d)
		}
	}
	return r, d.done(Reservations, key)
}

func encodeAccess(e *encoder, list placer.AccessList) {
	e.uint(uint64(len(list)))
	for _, a := range list {
		e.byte(byte(a.Kind))
		e.string(a.Value)
		e.int(int64(a.Affinity))
	}
}

func decodeAccess(d *decoder) placer.AccessList {
	n := d.count()
	if n == 0 {
		return nil
	}
	list := make(placer.AccessList, n)
	for i := range list {
		list[i] = placer.AccessEntry{Kind: placer.AccessKind(d.byte()), Value: d.string(), Affinity: placer.Affinity(d.int())}
	}
	return list
}
