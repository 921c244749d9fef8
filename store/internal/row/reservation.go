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
	Pools      []placer.PoolAmount // the amounts that it keeps of the cluster's pools
}

// State returns planned, active or ended, as of an instant.
func (r *Reservation) State(now int64) string {
	switch {
	case now < r.Start:
		return "planned"
	case now < r.End:
		return "active"
	}
	return "ended"
}

// Span returns the reservation's stretch on the i-th of its nodes.
func (r *Reservation) Span(i int) timeline.Busy {
	b := timeline.Busy{Start: r.Start, End: r.End, Owner: ReservationOwner(r.ID), Claim: true}
	if r.Uses != nil {
		b.Use = &r.Uses[i]
	}
	return b
}

const reservationVersion = 2

func reservationFields(f *Fields, r *Reservation) {
	version := f.Version(reservationVersion)
	f.KeyText("name", &r.Name)
	Uint(f, "id", &r.ID)
	f.At("start", &r.Start, Begins)
	f.At("end", &r.End, Ends)
	last := uint32(0)
	for i := range Items(f, "nodes", &r.Nodes) {
		Delta(f, "", &r.Nodes[i], last)
		last = r.Nodes[i]
		f.Next()
	}
	if version < 2 {
		return
	}
	accessFields(f, "access", &r.Access)
	Int(f, "limit", &r.Limit)
	f.Text("series", &r.Series)
	f.Text("note", &r.Note)
	for i := range Items(f, "uses", &r.Uses) {
		useFields(f, &r.Uses[i])
		f.Next()
	}
	f.Must(r.Uses == nil || len(r.Uses) == len(r.Nodes))
	if f.More(len(r.Pools) > 0) {
		poolFields(f, "pools", &r.Pools)
	}
}

func accessFields(f *Fields, name string, list *placer.AccessList) {
	for i := range Items(f, name, (*[]placer.AccessEntry)(list)) {
		a := &(*list)[i]
		Byte(f, "kind", &a.Kind)
		f.Text("value", &a.Value)
		Int(f, "affinity", &a.Affinity)
		f.Next()
	}
}

// useFields lists what a stretch takes of a shared node.
func useFields(f *Fields, u *timeline.Use) {
	if f.bytes() {
		within := u.Within << 1
		if u.Alone {
			within |= 1
		}
		within = f.uvar(within)
		u.Within, u.Alone = within>>1, within&1 == 1
	} else {
		numberAside(f, "within", &u.Within)
		f.fact("alone", &u.Alone)
	}
	for i := range Items(f, "amounts", &u.Amounts) {
		Uint(f, "quantity", &u.Amounts[i].Quantity)
		Int(f, "n", &u.Amounts[i].N)
		f.Next()
	}
}

// EncodeReservation returns the row of a reservation.
func EncodeReservation(r *Reservation) []byte { return encode(reservationFields, r) }

// DecodeReservation reads it.
func DecodeReservation(key, payload []byte) (*Reservation, error) {
	return decode(Reservations, reservationFields, key, payload)
}
