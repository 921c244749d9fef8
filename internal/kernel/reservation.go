package kernel

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/subject"
)

// Reservation keeps nodes, or amounts of them, for a stretch of time: for the subjects on its
// access list, or unused if the list is empty.
type Reservation struct {
	row.ReservationFacts
	Start, End time.Time     // [Start, End)
	Limit      time.Duration // the longest time that one job may use it; 0 for any
}

// State returns the state at an instant: planned, active or ended.
func (r *Reservation) State(now time.Time) string {
	return (&row.Reservation{Start: Unix(r.Start), End: Unix(r.End)}).State(Unix(now))
}

// ReservationOf converts a row to a reservation.
func ReservationOf(r *row.Reservation) *Reservation {
	return &Reservation{r.ReservationFacts, at(r.Start), at(r.End), Lasting(r.Limit)}
}

// ReservationsOf converts rows to reservations.
func ReservationsOf(list []*row.Reservation, err error) ([]*Reservation, error) {
	if err != nil {
		return nil, err
	}
	out := make([]*Reservation, len(list))
	for i, r := range list {
		out[i] = ReservationOf(r)
	}
	return out, nil
}

// grantOf returns a reservation as a grant for a subject that has access.
func grantOf(r *row.Reservation, affinity placer.Affinity) placer.Grant {
	return placer.Grant{Owner: row.ReservationOwner(r.ID), Name: r.Name, Start: r.Start, End: r.End,
		Nodes: roaring.BitmapOf(r.Nodes...), Affinity: affinity, Limit: r.Limit}
}

// Reservations is the part of a transaction that deals with reservations.
type Reservations struct{ tx *Tx }

func (tx *Tx) Reservations() Reservations { return Reservations{tx} }

func (rs Reservations) Named(name string) (*row.Reservation, error) {
	payload, err := rs.tx.File.Get(row.Reservations, []byte(name))
	if err != nil {
		return nil, err
	}
	if payload == nil {
		return nil, row.Missing("reservation", name)
	}
	return row.ReservationRow.Decode([]byte(name), payload)
}

func (rs Reservations) ByID(id uint64) (*row.Reservation, error) {
	payload, err := rs.tx.File.Get(row.ReservationIDs, row.Key64(id))
	if err != nil {
		return nil, err
	}
	if payload == nil {
		return nil, fmt.Errorf("%w: no reservation number %d", row.ErrDamaged, id)
	}
	return rs.Named(row.DecodeText(payload))
}

func (rs Reservations) Each(fn func(*row.Reservation) error) error {
	return rs.tx.File.Each(row.Reservations, nil, func(key, payload []byte) (bool, error) {
		r, err := row.ReservationRow.Decode(key, payload)
		if err != nil {
			return false, err
		}
		return true, fn(r)
	})
}

// Grants returns grants for the reservations that the job may use and that have not ended at an
// instant. If insist is set, the request insists on the reservation with that name, or on one of
// its occurrences.
func (rs Reservations) Grants(who placer.Entrant, insist string, since int64) ([]placer.Grant, error) {
	found := make(map[uint64]bool)
	var out []placer.Grant
	insisted := false
	err := rs.LettingIn(who, func(id uint64) error {
		if found[id] {
			return nil
		}
		found[id] = true
		r, err := rs.ByID(id)
		if err != nil || r.End <= since {
			return err
		}
		affinity, ok := r.Access.Affinity(who)
		if !ok {
			return nil
		}
		if insist != "" && (r.Name == insist || r.Series == insist) {
			affinity, insisted = placer.Required, true
		}
		out = append(out, grantOf(r, affinity))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if insist == "" || insisted {
		return out, nil
	}
	return nil, rs.notLetIn(insist, since)
}

// LettingIn calls fn for the access entries that admit a job, with the number of its
// reservation.
func (rs Reservations) LettingIn(who placer.Entrant, fn func(reservation uint64) error) error {
	if rs.tx.Writable() {
		if any, err := rs.tx.File.Last(row.Access); any == nil {
			return err
		}
	}
	for _, s := range who.Entries() {
		prefix := row.AccessPrefix(s)
		err := rs.tx.File.Each(row.Access, prefix, func(key, _ []byte) (bool, error) {
			if len(key) != len(prefix)+8 {
				return true, nil // a longer value with the same beginning
			}
			return true, fn(binary.BigEndian.Uint64(key[len(prefix):]))
		})
		if err != nil {
			return err
		}
	}
	array := who.ArrayPrefix()
	if array == "" {
		return nil
	}
	return rs.tx.File.Each(row.Access, append([]byte{byte(subject.Job)}, array...),
		func(key, _ []byte) (bool, error) {
			if len(key) < 1+len(array)+1+8 {
				return false, fmt.Errorf("%w: access %x", row.ErrDamaged, key)
			}
			end := len(key) - 8
			a := placer.AccessEntry{Subject: subject.Job.Of(string(key[1 : end-1]))}
			if !a.Numbers(&who) {
				return true, nil
			}
			return true, fn(binary.BigEndian.Uint64(key[end:]))
		})
}

// notLetIn returns an error that says why a job cannot insist on a reservation.
func (rs Reservations) notLetIn(name string, since int64) error {
	_, err := rs.Standing(name)
	if err != nil {
		r, missing := rs.Named(name)
		if missing != nil {
			return missing
		}
		if r.End <= since {
			return row.Clash("reservation "+name, "it has ended")
		}
	}
	return row.Clash("reservation "+name, "it does not let this request in: see its access list")
}

// ReserveSpec describes a reservation to make.
type ReserveSpec = row.Spec[time.Time, time.Duration]

// at returns an instant that a reservation always has.
func at(unix int64) time.Time { return time.Unix(unix, 0) }

// Standing is a repeating reservation. Its occurrences are reservations named NAME.1, NAME.2
// and so on. A name that is taken is skipped. Depth occurrences are kept ahead, including
// those under way. When one ends, the next is made: on the same nodes except those that a job
// has by then, or by a new search. If that fails, it is tried again whenever room is made,
// until its window is over.
type Standing struct {
	ReserveSpec
	Made    int         // the number of the latest occurrence
	Last    time.Time   // start of the latest occurrence that was tried
	Over    bool        // the rule has no more occurrences
	Note    string      // why the last of Missing cannot be made
	Missing []time.Time // occurrences up to Last that cannot be made now, and are tried again
}

// DefaultDepth is the default number of occurrences kept ahead.
const DefaultDepth = 2

// StandingOf converts a row to a standing reservation.
func StandingOf(s *row.Standing) *Standing {
	return &Standing{row.SpecOf(&s.ReserveSpec, at, Lasting), s.Made, at(s.Last), s.Over, s.Note,
		Converted(s.Missing, Instant)}
}

func (rs Reservations) Standing(name string) (*row.Standing, error) {
	payload, err := rs.tx.File.Get(row.Standings, []byte(name))
	if err != nil {
		return nil, err
	}
	if payload == nil {
		return nil, row.Missing("reservation", name)
	}
	return row.StandingRow.Decode([]byte(name), payload)
}

func (rs Reservations) EachStanding(fn func(*row.Standing) error) error {
	return rs.tx.File.Each(row.Standings, nil, func(key, payload []byte) (bool, error) {
		s, err := row.StandingRow.Decode(key, payload)
		if err != nil {
			return false, err
		}
		return true, fn(s)
	})
}
