package store

import (
	"encoding/binary"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
)

// Reservation keeps nodes, or amounts of them, for a stretch of time: for those
// whom its access list lets in, or for nobody.
type Reservation struct {
	ID         uint64
	Name       string
	Start, End int64    // Unix seconds: [Start, End)
	Nodes      []uint32 // ascending
	// Uses is what is kept of each node; nil keeps them whole.
	Uses   []timeline.Use
	Access placer.AccessList
	Limit  int64  // seconds of it that one job may use, 0 for all
	Series string // the standing reservation that it is an occurrence of, "" for none
	Note   string // what went otherwise than asked for
}

// State is planned, active or ended, seen from an instant.
func (r *Reservation) State(now int64) string { return (*row.Reservation)(r).State(now) }

// span is the reservation's stretch on the i-th of its nodes.
func (r *Reservation) span(i int) timeline.Busy { return (*row.Reservation)(r).Span(i) }

// grant is the reservation as somebody who may use it sees it.
func (r *Reservation) grant(affinity placer.Affinity) placer.Grant {
	return placer.Grant{Owner: row.ReservationOwner(r.ID), Name: r.Name, Start: r.Start, End: r.End,
		Nodes: roaring.BitmapOf(r.Nodes...), Affinity: affinity, Limit: r.Limit}
}

func decodeReservation(key, payload []byte) (*Reservation, error) {
	r, err := row.DecodeReservation(key, payload)
	return (*Reservation)(r), err
}

// Reservation finds a reservation by its name, ErrNotFound when there is none.
func (tx *Tx) Reservation(name string) (*Reservation, error) {
	payload, err := tx.file.Get(row.Reservations, []byte(name))
	if err != nil {
		return nil, err
	}
	if payload == nil {
		return nil, row.Missing("reservation", name)
	}
	return decodeReservation([]byte(name), payload)
}

func (tx *Tx) reservationByID(id uint64) (*Reservation, error) {
	payload, err := tx.file.Get(row.ReservationIDs, row.Key64(id))
	if err != nil {
		return nil, err
	}
	if payload == nil {
		return nil, fmt.Errorf("%w: no reservation number %d", ErrDamaged, id)
	}
	return tx.Reservation(row.DecodeText(payload))
}

// EachReservation goes through the reservations by name, until fn fails.
func (tx *Tx) EachReservation(fn func(*Reservation) error) error {
	return tx.file.Each(row.Reservations, nil, func(key, payload []byte) (bool, error) {
		r, err := decodeReservation(key, payload)
		if err != nil {
			return false, err
		}
		return true, fn(r)
	})
}

// grants are the reservations that have not ended at an instant and may be used.
// With a name, that one, or one of its occurrences, is insisted on.
func (tx *Tx) grants(who placer.Subject, insist string, since int64) ([]placer.Grant, error) {
	found := make(map[uint64]bool)
	var out []placer.Grant
	insisted := false
	err := tx.lettingIn(who, func(id uint64, _ placer.AccessEntry) error {
		if found[id] {
			return nil
		}
		found[id] = true
		r, err := tx.reservationByID(id)
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
		out = append(out, r.grant(affinity))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if insist == "" || insisted {
		return out, nil
	}
	return nil, tx.notLetIn(insist, since)
}

// lettingIn goes through the entries that let somebody in, with the numbers of their
// reservations.
func (tx *Tx) lettingIn(who placer.Subject, fn func(reservation uint64, by placer.AccessEntry) error) error {
	for _, a := range who.Entries() {
		prefix := row.AccessPrefix(a.Kind, a.Value)
		err := tx.file.Each(row.Access, prefix, func(key, _ []byte) (bool, error) {
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
	return tx.file.Each(row.Access, append([]byte{byte(placer.AccessJob)}, array...), func(key, _ []byte) (bool, error) {
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
func (tx *Tx) notLetIn(name string, since int64) error {
	_, err := tx.Standing(name)
	if err != nil {
		r, missing := tx.Reservation(name)
		if missing != nil {
			return missing
		}
		if r.End <= since {
			return &Conflict{"reservation " + name, "it has ended"}
		}
	}
	return &Conflict{"reservation " + name, "it does not let this request in: see its access list"}
}
