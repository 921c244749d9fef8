package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// Reservations are the reservations of nodes in a transaction: single ones, and standing ones with
// their occurrences.
type Reservations struct{ tx *kernel.Tx }

// ReservationsOf returns the reservations of a transaction.
func ReservationsOf(tx *kernel.Tx) Reservations { return Reservations{tx} }

// Get returns a reservation by its name, or ErrNotFound.
func (rs Reservations) Get(name string) (*kernel.Reservation, error) {
	r, err := rs.tx.Reservations().Named(name)
	if err != nil {
		return nil, err
	}
	return kernel.ReservationOf(r), nil
}

// Each calls fn for the reservations by name, until fn fails.
func (rs Reservations) Each(fn func(*kernel.Reservation) error) error {
	return rs.tx.Reservations().Each(func(r *row.Reservation) error { return fn(kernel.ReservationOf(r)) })
}

// ReserveNodes reserves whole nodes for [start, end). No job may use them.
func (rs Reservations) ReserveNodes(name string, nodes []uint32, start, end time.Time) (*kernel.Reservation, error) {
	return only(ReservationsOf(rs.tx).Add(kernel.ReserveSpec{Name: name, Nodes: nodes, Start: start, End: end}))
}

// Reserve reserves what a request asks for, for the request's walltime from start on. The nodes are
// chosen once.
func (rs Reservations) Reserve(name string, r placer.Request, start time.Time) (*kernel.Reservation, error) {
	return only(ReservationsOf(rs.tx).Add(kernel.ReserveSpec{Name: name, Request: r, Start: start}))
}

func only(list []*kernel.Reservation, err error) (*kernel.Reservation, error) {
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// Add makes a reservation, or the first occurrences of a standing one. Reservations that admit
// users may overlap; a request must then have access to all of them. It fails with a Conflict
// if a node is taken in that time by a job without access, or by a reservation if either of
// the two admits no one. It fails with a *placer.Refusal if the request does not fit. The name
// of an ended reservation may be used again.
func (rs Reservations) Add(s kernel.ReserveSpec) ([]*kernel.Reservation, error) {
	if err := users.Operates(rs.tx, "reservations"); err != nil {
		return nil, err
	}
	return kernel.ReservationsOf(reserve(rs.tx, row.SpecOf(&s, kernel.Unix, kernel.Seconds)))
}

func reserve(tx *kernel.Tx, s row.ReserveSpec) ([]*row.Reservation, error) {
	if s.Repeat.Rule != "" {
		return addStanding(tx, s)
	}
	if err := freeName(tx, s.Name); err != nil {
		return nil, err
	}
	r, err := addOne(tx, s, row.ReservationFacts{Name: s.Name})
	return []*row.Reservation{r}, err
}

// addOne makes one reservation of a specification; facts are its name and what it is an occurrence of.
func addOne(tx *kernel.Tx, s row.ReserveSpec, facts row.ReservationFacts) (*row.Reservation, error) {
	var a placer.Ask
	var err error
	chooses := len(s.Nodes) == 0
	if chooses {
		s.Request.OverLimits = true // no limit applies to a reservation, only to the jobs in it
		if a, err = AskFor(tx, s.Request); err != nil {
			return nil, err
		}
		s.End = s.Start + a.Duration
	}
	facts.Access = s.Access
	r := Booking{tx, &row.Reservation{ReservationFacts: facts, Start: s.Start, End: s.End, Limit: s.Limit}}
	if chooses {
		err = r.choose(a, s.Request.Queue)
	} else {
		r.Nodes = slices.Clone(s.Nodes)
		slices.Sort(r.Nodes)
		r.Nodes = slices.Compact(r.Nodes)
	}
	if err != nil {
		return nil, err
	}
	if err := valid(r.Reservation, tx.Now, kernel.MaxWalltime); err != nil {
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
	if err := forgetEnded(tx, r.Name); err != nil {
		return nil, err
	}
	return r.Reservation, r.Do(Step{Made, "", r.State(tx.Now)})
}

// choose chooses the nodes, or amounts of nodes, for a reservation made by request.
func (r Booking) choose(a placer.Ask, queue string) error {
	if err := validTime(r.Reservation, r.Tx.Now, kernel.MaxWalltime); err != nil {
		return err
	}
	snap, err := Snapshot(r.Tx, queue)
	if err != nil {
		return err
	}
	start := max(r.Start, r.Tx.Now)
	a.Duration = r.End - start // the rest of a period that has begun
	plan, err := snap.Place(a, start)
	if err != nil {
		return WithStart(snap, a, start, err)
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

// allOf returns a use of everything on a node. It is used for a node taken whole in a
// reservation that takes parts of other nodes.
func (r Booking) allOf(defs *index.Defs, node uint32) *timeline.Use {
	u := new(timeline.Use)
	n, err := r.Tx.NodeByNumber(node)
	if err != nil {
		r.Tx.Loaded.Index.Fail(err)
		return u
	}
	quantities, capacity := placer.Consumables(defs, n)
	for i, q := range quantities {
		u.Amounts = append(u.Amounts, timeline.Amount{Quantity: q, N: capacity[i]})
	}
	return u
}

// freeName makes sure that a name is available. The name of an ended reservation is available.
func freeName(tx *kernel.Tx, name string) error {
	if !tx.Writable() {
		return file.ErrReadOnly
	}
	if !index.ValidNodeName(name) {
		return fmt.Errorf("%w reservation name %q: use letters, digits, dots, - and _", row.ErrInvalid, name)
	}
	if _, err := tx.Reservations().Standing(name); err == nil {
		return kernel.Taken("reservation "+name, ", as a standing one")
	}
	old, err := tx.Reservations().Named(name)
	if errors.Is(err, row.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if old.State(tx.Now) != row.ReservationEnded {
		return kernel.Taken("reservation "+name, "")
	}
	return nil
}

// forgetEnded deletes the ended reservation of a name, to make room for a new one.
func forgetEnded(tx *kernel.Tx, name string) error {
	old, err := tx.Reservations().Named(name)
	if errors.Is(err, row.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return Booking{tx, old}.Do(Step{Forgotten, row.ReservationEnded, row.ReservationRemoved})
}

// keptOut returns the Conflict of a reservation with the holder of its i-th node in its time.
// The holder is a job without access or, if either admits no one, a reservation. A job that
// only uses amounts left over is no conflict.
func (r Booking) keptOut(i int) error {
	node, mine := r.Nodes[i], r.Span(i)
	c := r.Tx.Calendar()
	for _, b := range c.At(node) {
		if b.Start >= r.End || c.End(b) <= r.Start || b.Use != nil && mine.Use != nil {
			continue
		}
		in, err := r.bearable(b)
		if err != nil {
			return err
		}
		if !in {
			return Taking{Tx: r.Tx, What: "reservation " + r.Name, Node: node, Span: b}.TakenBy(b)
		}
	}
	return c.Err()
}

// bearable reports whether a reservation may overlap a stretch.
func (r Booking) bearable(b timeline.Busy) (bool, error) {
	if !b.Claim {
		return r.LetsIn(b)
	}
	other, err := r.Tx.Reservations().ByID(b.Owner >> 1)
	return err == nil && len(other.Access) > 0 && len(r.Access) > 0, err
}

// LetsIn reports whether a reservation admits the job of a stretch.
func (r Booking) LetsIn(b timeline.Busy) (bool, error) {
	j, err := r.Tx.ListedJob(b.Owner >> 1)
	if err != nil {
		return false, err
	}
	_, in := r.Access.Affinity(Entrant(j))
	until := r.Tx.Calendar().End(b)
	return in && (r.Limit == 0 || min(until, r.End)-max(b.Start, r.Start) <= r.Limit), nil
}

// Remove deletes a reservation and frees its nodes, or a standing one with all its
// occurrences. It returns the deleted reservations.
func (rs Reservations) Remove(name string) ([]*kernel.Reservation, error) {
	if err := users.Operates(rs.tx, "reservations"); err != nil {
		return nil, err
	}
	return kernel.ReservationsOf(unreserve(rs.tx, name))
}

func unreserve(tx *kernel.Tx, name string) ([]*row.Reservation, error) {
	if !tx.Writable() {
		return nil, file.ErrReadOnly
	}
	if s, err := tx.Reservations().Standing(name); err == nil {
		return Series{Tx: tx, Standing: s}.remove()
	} else if !errors.Is(err, row.ErrNotFound) {
		return nil, err
	}
	r, err := tx.Reservations().Named(name)
	if err != nil {
		return nil, err
	}
	if err := (Booking{tx, r}).withdraw(); err != nil || r.Series == "" {
		return []*row.Reservation{r}, err
	}
	s, err := tx.Reservations().Standing(r.Series)
	if err != nil || s.Over {
		return []*row.Reservation{r}, kernel.PassOver(err)
	}
	return []*row.Reservation{r}, tx.Spoil(Series{Tx: tx, Standing: s}.Renew())
}

// withdraw deletes a reservation.
func (r Booking) withdraw() error {
	return r.Do(Step{Withdrawn, r.State(r.Tx.Now), row.ReservationRemoved})
}
