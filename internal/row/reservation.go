package row

import (
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/recur"
	"github.com/placectl/placectl/timeline"
)

// Reservation keeps nodes, or amounts of them, for a stretch of time.
type Reservation struct {
	ReservationFacts
	Start, End int64
	Limit      int64 // seconds
}

// ReservationFacts is what the row of a reservation and the reservation that the library hands out have
// in common.
type ReservationFacts struct {
	ID    uint64
	Name  string
	Nodes []uint32 // ascending
	// Uses is what it keeps of each node; nil keeps them whole.
	Uses   []timeline.Use
	Access placer.AccessList
	Series string              // the standing reservation that it is an occurrence of, or ""
	Note   string              // how it differs from the request
	Pools  []placer.PoolAmount // amounts of pools that it keeps for jobs that insist on it
}

// States of a reservation. It has the first three by its instants and the clock. One that is removed
// has no row, and its last event says so.
const (
	ReservationPlanned = "planned"
	ReservationActive  = "active"
	ReservationEnded   = "ended"
	ReservationRemoved = "removed"
)

// State returns planned, active or ended, as of an instant.
func (r *Reservation) State(now int64) string {
	switch {
	case now < r.Start:
		return ReservationPlanned
	case now < r.End:
		return ReservationActive
	}
	return ReservationEnded
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
		subjectFields(f, &a.Subject)
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

// ReservationRow is the row of a reservation.
var ReservationRow = Kind[Reservation]{Reservations, reservationFields}

// ReserveSpec describes a reservation to make.
type ReserveSpec = Spec[int64, int64]

// Spec is a ReserveSpec with instants of type T and durations of type D.
type Spec[T, D any] struct {
	Name  string
	Nodes []uint32 // exactly these, whole
	// Request, used if Nodes is empty, tells how much of which resources to keep. The nodes
	// are chosen once. Its walltime is the length of the reservation.
	Request    placer.Request
	Start, End T // End is used only with Nodes
	Access     placer.AccessList
	Limit      D // the longest time that one job may use it; 0 for any
	// Repeat makes it a standing reservation that keeps Depth occurrences ahead; the zero value
	// does not repeat.
	Repeat recur.Repeat
	Depth  int
}

// SpecOf converts the times of a specification.
func SpecOf[T, D, U, E any](s *Spec[T, D], at func(T) U, lasting func(D) E) Spec[U, E] {
	return Spec[U, E]{s.Name, s.Nodes, s.Request, at(s.Start), at(s.End), s.Access, lasting(s.Limit), s.Repeat, s.Depth}
}

// Standing is a repeating reservation: see store.Standing.
type Standing struct {
	ReserveSpec
	Made    int
	Last    int64 // the latest window that was tried
	Over    bool
	Note    string
	Missing []int64 // windows up to Last without an occurrence, which are tried again until they are over
}

const standingVersion = 1

func standingFields(f *Fields, s *Standing) {
	q := &s.Request
	f.Version(standingVersion)
	f.KeyText("name", &s.Name)
	Uints(f, "nodes", &s.Nodes)
	f.Text("request.select", &q.Select)
	f.Text("request.place", &q.Place)
	f.Text("request.user", &q.User)
	f.Text("request.group", &q.Group)
	f.Text("request.account", &q.Account)
	f.Text("request.queue", &q.Queue)
	f.Text("request.class", &q.Class)
	f.Text("request.policy", &q.Policy)
	f.Text("request.access", &q.Access)
	f.Text("repeat.rule", &s.Repeat.Rule)
	f.Text("repeat.zone", &s.Repeat.Zone)
	f.Text("note", &s.Note)
	f.Texts("request.prefer", &q.Prefer)
	f.Lasts("request.walltime", &q.Walltime)
	f.At("start", &s.Start, Wish)
	f.At("end", &s.End, Wish)
	Int(f, "limit", &s.Limit)
	Int(f, "depth", &s.Depth)
	Int(f, "made", &s.Made)
	f.At("last", &s.Last, Made)
	f.Bool("over", &s.Over)
	accessFields(f, "access", &s.Access)
	more := len(s.Missing) > 0 || q.Exclude != ""
	if f.More(len(q.Pools) > 0 || more) {
		poolFields(f, "request.pools", &q.Pools)
	}
	if f.More(more) {
		for i := range Items(f, "missing", &s.Missing) {
			f.At("", &s.Missing[i], Made)
			f.Next()
		}
	}
	if f.More(q.Exclude != "") {
		f.Text("request.exclude", &q.Exclude)
	}
}

// StandingRow is the row of a standing reservation.
var StandingRow = Kind[Standing]{Standings, standingFields}
