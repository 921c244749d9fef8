package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/recur"
	"github.com/placectl/placectl/store/internal/bookings"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
)

// ReserveSpec describes a reservation to make.
type ReserveSpec struct {
	Name  string
	Nodes []uint32 // exactly these, whole
	// Request says, where Nodes is empty, how much to keep of what kind; it is
	// chosen once. Its walltime is how long.
	Request    placer.Request
	Start, End time.Time // End counts with Nodes only
	Access     placer.AccessList
	Limit      time.Duration // how much of it one job may use, 0 for all
	// Repeat makes it a standing reservation that keeps Depth occurrences ahead; the zero value
	// does not repeat.
	Repeat recur.Repeat
	Depth  int
}

// row is the specification as rows hold it.
func (s *ReserveSpec) row() row.ReserveSpec {
	return row.ReserveSpec{Name: s.Name, Nodes: s.Nodes, Request: s.Request, Start: unix(s.Start), End: unix(s.End), Access: s.Access,
		Limit: seconds(s.Limit), Repeat: s.Repeat, Depth: s.Depth}
}

// ReserveNodes keeps whole nodes from everybody for [start, end).
func (tx *Tx) ReserveNodes(name string, nodes []uint32, start, end time.Time) (*Reservation, error) {
	return only(tx.AddReservation(ReserveSpec{Name: name, Nodes: nodes, Start: start, End: end}))
}

// Reserve keeps as much as a request asks for, chosen once, for the request's
// walltime from start on.
func (tx *Tx) Reserve(name string, r placer.Request, start time.Time) (*Reservation, error) {
	return only(tx.AddReservation(ReserveSpec{Name: name, Request: r, Start: start}))
}

func only(list []*Reservation, err error) (*Reservation, error) {
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// AddReservation makes a reservation, or the first occurrences of a standing one. Reservations that
// admit someone may overlap: a request must then have access to all of them. It fails with a
// Conflict if a node is taken in that time by a job without access, or by a reservation if either
// admits no one. It fails with a *placer.Refusal if the request does not fit. The name of an ended
// reservation may be used again.
func (tx *Tx) AddReservation(s ReserveSpec) ([]*Reservation, error) {
	if err := tx.operates("reservations"); err != nil {
		return nil, err
	}
	return reservationsOf(tx.reservations().reserve(s.row()))
}

func (rs reservations) reserve(s row.ReserveSpec) ([]*row.Reservation, error) {
	if s.Repeat.Rule != "" {
		return rs.addStanding(s)
	}
	if err := rs.freeName(s.Name); err != nil {
		return nil, err
	}
	r, err := rs.addOne(s, s.Name)
	return []*row.Reservation{r}, err
}

// addOne makes one reservation of a specification.
func (rs reservations) addOne(s row.ReserveSpec, name string) (*row.Reservation, error) {
	r := booking{rs.Tx, &row.Reservation{Name: name, Start: s.Start, End: s.End, Access: s.Access, Limit: s.Limit}}
	var err error
	if len(s.Nodes) == 0 {
		err = r.choose(s)
	} else {
		r.Nodes = slices.Clone(s.Nodes)
		slices.Sort(r.Nodes)
		r.Nodes = slices.Compact(r.Nodes)
	}
	if err != nil {
		return nil, err
	}
	if err := bookings.Valid(r.Reservation, rs.now, maxWalltime); err != nil {
		return nil, err
	}
	if err := r.choosePools(s.Request); err != nil {
		return nil, err
	}
	for i := range r.Nodes {
		if err := r.keptOut(i); err != nil {
			return nil, err
		}
	}
	if err := rs.forgetEnded(name); err != nil {
		return nil, err
	}
	return r.Reservation, rs.spoil(r.keep())
}

// booking is a reservation as it is put on its nodes, and taken off them.
type booking struct {
	tx *Tx
	*row.Reservation
}

// choose finds the nodes, or amounts of nodes, of a reservation by request.
func (r booking) choose(s row.ReserveSpec) error {
	s.Request.OverLimits = true // a reservation is under no limit: the jobs in it are
	a, err := r.tx.Ask(s.Request)
	if err != nil {
		return err
	}
	r.End = s.Start + a.Duration
	if err := bookings.ValidTime(r.Reservation, r.tx.now, maxWalltime); err != nil {
		return err
	}
	snap, err := r.tx.snapshot(s.Request.Queue)
	if err != nil {
		return err
	}
	start := max(s.Start, r.tx.now)
	a.Duration = r.End - start // the rest of a window that has begun
	plan, err := snap.Place(a, start)
	if err != nil {
		return withStart(snap, a, start, err)
	}
	takings := plan.Takings(snap.Index.Defs(), a.Chunks)
	slices.SortFunc(takings, func(a, b placer.Taking) int { return cmp.Compare(a.Node, b.Node) })
	for _, t := range takings {
		r.Nodes = append(r.Nodes, t.Node)
		if t.Use == nil {
			t.Use = r.allOf(snap.Index.Defs(), t.Node)
		}
		r.Uses = append(r.Uses, timeline.Use{Amounts: t.Use.Amounts})
	}
	if !slices.ContainsFunc(takings, func(t placer.Taking) bool { return t.Shared }) {
		r.Uses = nil
	}
	return nil
}

// allOf is a use of everything on a node, for one that is taken whole beside others that are not.
func (r booking) allOf(defs *index.Defs, node uint32) *timeline.Use {
	u := new(timeline.Use)
	n, err := r.tx.NodeByNumber(node)
	if err != nil {
		r.tx.loaded.index.Fail(err)
		return u
	}
	quantities, capacity := placer.Consumables(defs, n)
	for i, q := range quantities {
		u.Amounts = append(u.Amounts, timeline.Amount{Quantity: q, N: capacity[i]})
	}
	return u
}

// keep puts a reservation on its nodes.
func (r booking) keep() error {
	r.ID = r.tx.state.NextReservation
	r.tx.state.NextReservation++
	owner := row.ReservationOwner(r.ID)
	for i, n := range r.Nodes {
		if err := r.tx.calendar().Put(n, r.Span(i)); err != nil {
			return err
		}
	}
	if err := r.holdPools(r.tx.counters().Put); err != nil {
		return err
	}
	if err := r.tx.nodeIndex().reclass(r.Nodes, r.Start); err != nil {
		return err
	}
	for _, t := range []int64{r.Start, r.End} {
		if t > r.tx.now {
			if err := r.tx.file.Mark(row.Changes, row.TimeKey(t, owner)); err != nil {
				return err
			}
		}
	}
	if err := r.tx.loaded.releases.Put(r.End, owner, r.Nodes); err != nil {
		return err
	}
	if len(r.Access) > 0 { // for the jobs that require it
		r.tx.loaded.freed.On(r.Nodes)
	}
	if err := r.tx.happened(reservationEvent(r.Reservation, "", r.State(r.tx.now))); err != nil {
		return err
	}
	return r.tx.loaded.reservations.Put(r.Reservation)
}

// freeName makes sure that a name can be given to a reservation: that of one that
// has ended is free again.
func (rs reservations) freeName(name string) error {
	if !rs.Writable() {
		return ErrReadOnly
	}
	if !index.ValidNodeName(name) {
		return fmt.Errorf("%w reservation name %q: use letters, digits, dots, - and _", ErrInvalid, name)
	}
	if _, err := rs.standing(name); err == nil {
		return taken("reservation "+name, ", as a standing one")
	}
	old, err := rs.named(name)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if old.State(rs.now) != "ended" {
		return taken("reservation "+name, "")
	}
	return nil
}

// forgetEnded deletes the ended reservation of a name, to make room for a new one.
func (rs reservations) forgetEnded(name string) error {
	old, err := rs.named(name)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return rs.loaded.reservations.Remove([]byte(old.Name))
}

// keptOut is the Conflict of a reservation with whatever has its i-th node in its time: a job
// without access, or a reservation, if either admits no one. A job that keeps to amounts that are
// left over is no conflict.
func (r booking) keptOut(i int) error {
	node, mine := r.Nodes[i], r.Span(i)
	c := r.tx.calendar()
	for _, b := range c.At(node) {
		if b.Start >= r.End || c.End(b) <= r.Start || b.Use != nil && mine.Use != nil {
			continue
		}
		in, err := r.bearable(b)
		if err != nil {
			return err
		}
		if !in {
			return r.tx.allocations().taking("reservation "+r.Name, node, b, nil, "").TakenBy(b)
		}
	}
	return c.Err()
}

// bearable reports whether a reservation may lie over a stretch.
func (r booking) bearable(b timeline.Busy) (bool, error) {
	if !b.Claim {
		return r.letsIn(b)
	}
	other, err := r.tx.reservations().byID(b.Owner >> 1)
	return err == nil && len(other.Access) > 0 && len(r.Access) > 0, err
}

// letsIn reports whether a reservation admits the job of a stretch.
func (r booking) letsIn(b timeline.Busy) (bool, error) {
	j, err := r.tx.job(b.Owner >> 1)
	if err != nil {
		return false, err
	}
	_, in := r.Access.Affinity(subject(j))
	until := r.tx.calendar().End(b)
	return in && (r.Limit == 0 || min(until, r.End)-max(b.Start, r.Start) <= r.Limit), nil
}

// Unreserve deletes a reservation and frees its nodes; a standing one goes with all its
// occurrences. It returns what was deleted.
func (tx *Tx) Unreserve(name string) ([]*Reservation, error) {
	if err := tx.operates("reservations"); err != nil {
		return nil, err
	}
	return reservationsOf(tx.reservations().unreserve(name))
}

func (rs reservations) unreserve(name string) ([]*row.Reservation, error) {
	if !rs.Writable() {
		return nil, ErrReadOnly
	}
	if s, err := rs.standing(name); err == nil {
		return series{tx: rs.Tx, Standing: s}.remove()
	} else if !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	r, err := rs.named(name)
	if err != nil {
		return nil, err
	}
	if err := (booking{rs.Tx, r}).remove(); err != nil || r.Series == "" {
		return []*row.Reservation{r}, err
	}
	s, err := rs.standing(r.Series)
	if err != nil || s.Over {
		return []*row.Reservation{r}, passOver(err)
	}
	return []*row.Reservation{r}, rs.spoil(series{tx: rs.Tx, Standing: s}.renew())
}

func (r booking) remove() error {
	if state := r.State(r.tx.now); state != "ended" {
		if err := r.end(); err != nil {
			return r.tx.spoil(err)
		}
		if err := r.tx.happened(reservationEvent(r.Reservation, state, "removed")); err != nil {
			return err
		}
	}
	return r.tx.loaded.reservations.Remove([]byte(r.Name))
}

// end takes a reservation off the calendar. The row stays readable.
func (r booking) end() error {
	owner := row.ReservationOwner(r.ID)
	for _, n := range r.Nodes {
		if err := r.tx.calendar().Remove(n, owner); err != nil {
			return fmt.Errorf("%w: %v", ErrDamaged, err)
		}
	}
	r.tx.loaded.freed.On(r.Nodes)
	if err := r.holdPools(r.tx.counters().Remove); err != nil {
		return err
	}
	if err := r.tx.nodeIndex().reclass(r.Nodes, r.Start); err != nil {
		return err
	}
	for _, t := range []int64{r.Start, r.End} {
		if err := r.tx.file.Remove(row.Changes, row.TimeKey(t, owner)); err != nil {
			return err
		}
	}
	return r.tx.loaded.releases.Remove(r.End, owner)
}
