package store

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
)

// Reservation keeps nodes, or amounts of them, for a stretch of time: for the subjects on its
// access list, or unused if the list is empty.
type Reservation struct {
	ID         uint64
	Name       string
	Start, End time.Time // [Start, End)
	Nodes      []uint32  // ascending
	// Uses is what it keeps of each node; nil keeps them whole.
	Uses   []timeline.Use
	Access placer.AccessList
	Limit  time.Duration       // how much of it one job may use, 0 for all
	Series string              // the standing reservation that it is an occurrence of, "" for none
	Note   string              // what went otherwise than asked for
	Pools  []placer.PoolAmount // amounts of pools that it keeps for jobs that require it
}

// State is planned, active or ended, seen from an instant.
func (r *Reservation) State(now time.Time) string {
	return (&row.Reservation{Start: unix(r.Start), End: unix(r.End)}).State(unix(now))
}

// reservationOf is a reservation as callers get it.
func reservationOf(r *row.Reservation) *Reservation {
	return &Reservation{r.ID, r.Name, time.Unix(r.Start, 0), time.Unix(r.End, 0), r.Nodes, r.Uses, r.Access, lasting(r.Limit), r.Series, r.Note, r.Pools}
}

// reservationsOf are reservations as callers get them.
func reservationsOf(list []*row.Reservation, err error) ([]*Reservation, error) {
	if err != nil {
		return nil, err
	}
	out := make([]*Reservation, len(list))
	for i, r := range list {
		out[i] = reservationOf(r)
	}
	return out, nil
}

// grantOf is a reservation as a subject with access sees it.
func grantOf(r *row.Reservation, affinity placer.Affinity) placer.Grant {
	return placer.Grant{Owner: row.ReservationOwner(r.ID), Name: r.Name, Start: r.Start, End: r.End,
		Nodes: roaring.BitmapOf(r.Nodes...), Affinity: affinity, Limit: r.Limit}
}

// Reservation finds a reservation by its name, ErrNotFound when there is none.
func (tx *Tx) Reservation(name string) (*Reservation, error) {
	r, err := tx.reservations().named(name)
	if err != nil {
		return nil, err
	}
	return reservationOf(r), nil
}

// reservations is the transaction as far as it is about reservations.
type reservations struct{ *Tx }

func (tx *Tx) reservations() reservations { return reservations{tx} }

func (rs reservations) named(name string) (*row.Reservation, error) {
	payload, err := rs.file.Get(row.Reservations, []byte(name))
	if err != nil {
		return nil, err
	}
	if payload == nil {
		return nil, row.Missing("reservation", name)
	}
	return row.DecodeReservation([]byte(name), payload)
}

func (rs reservations) byID(id uint64) (*row.Reservation, error) {
	payload, err := rs.file.Get(row.ReservationIDs, row.Key64(id))
	if err != nil {
		return nil, err
	}
	if payload == nil {
		return nil, fmt.Errorf("%w: no reservation number %d", ErrDamaged, id)
	}
	return rs.named(row.DecodeText(payload))
}

// EachReservation goes through the reservations by name, until fn fails.
func (tx *Tx) EachReservation(fn func(*Reservation) error) error {
	return tx.reservations().each(func(r *row.Reservation) error { return fn(reservationOf(r)) })
}

func (rs reservations) each(fn func(*row.Reservation) error) error {
	return rs.file.Each(row.Reservations, nil, func(key, payload []byte) (bool, error) {
		r, err := row.DecodeReservation(key, payload)
		if err != nil {
			return false, err
		}
		return true, fn(r)
	})
}

// grants are the reservations that have not ended at an instant and may be used.
// With a name, that one, or one of its occurrences, is insisted on.
func (rs reservations) grants(who placer.Subject, insist string, since int64) ([]placer.Grant, error) {
	found := make(map[uint64]bool)
	var out []placer.Grant
	insisted := false
	err := rs.lettingIn(who, func(id uint64, _ placer.AccessEntry) error {
		if found[id] {
			return nil
		}
		found[id] = true
		r, err := rs.byID(id)
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

// lettingIn calls fn for the access entries that admit a subject, with the numbers of their
// reservations.
func (rs reservations) lettingIn(who placer.Subject, fn func(reservation uint64, by placer.AccessEntry) error) error {
	if rs.Writable() {
		if any, err := rs.file.Last(row.Access); any == nil {
			return err
		}
	}
	for _, a := range who.Entries() {
		prefix := row.AccessPrefix(a.Kind, a.Value)
		err := rs.file.Each(row.Access, prefix, func(key, _ []byte) (bool, error) {
			if len(key) != len(prefix)+8 {
				return true, nil // a longer value that begins alike
			}
			return true, fn(binary.BigEndian.Uint64(key[len(prefix):]), a)
		})
		if err != nil {
			return err
		}
	}
	array := who.ArrayPrefix()
	if array == "" {
		return nil
	}
	return rs.file.Each(row.Access, append([]byte{byte(placer.AccessJob)}, array...), func(key, _ []byte) (bool, error) {
		if len(key) < 1+len(array)+1+8 {
			return false, fmt.Errorf("%w: access %x", ErrDamaged, key)
		}
		end := len(key) - 8
		a := placer.AccessEntry{Kind: placer.AccessJob, Value: string(key[1 : end-1])}
		if !a.Numbers(&who) {
			return true, nil
		}
		return true, fn(binary.BigEndian.Uint64(key[end:]), a)
	})
}

// notLetIn is why a reservation cannot be insisted on.
func (rs reservations) notLetIn(name string, since int64) error {
	_, err := rs.standing(name)
	if err != nil {
		r, missing := rs.named(name)
		if missing != nil {
			return missing
		}
		if r.End <= since {
			return row.Clash("reservation "+name, "it has ended")
		}
	}
	return row.Clash("reservation "+name, "it does not let this request in: see its access list")
}
