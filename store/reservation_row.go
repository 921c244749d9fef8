package store

import (
	"encoding/binary"
	"fmt"
)

// Reservation keeps whole nodes from jobs for a stretch of time.
type Reservation struct {
	ID         uint64
	Name       string
	Start, End int64    // Unix seconds: [Start, End)
	Nodes      []uint32 // ascending
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

const reservationVersion = 1

func encodeReservation(r *Reservation) []byte {
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
	return e.b
}

func decodeReservation(key, row []byte) (*Reservation, error) {
	d := decoder{b: row}
	d.byte()
	r := &Reservation{Name: string(key), ID: d.uint(), Start: d.int(), End: d.int()}
	r.Nodes = make([]uint32, d.count())
	last := uint32(0)
	for i := range r.Nodes {
		last += uint32(d.uint())
		r.Nodes[i] = last
	}
	return r, d.done(tableReservations, key)
}

// Reservation finds a reservation by its name, ErrNotFound when there is none.
func (tx *Tx) Reservation(name string) (*Reservation, error) {
	row, err := tx.get(tableReservations, []byte(name))
	if err != nil {
		return nil, err
	}
	if row == nil {
		return nil, missing("reservation", name)
	}
	return decodeReservation([]byte(name), row)
}

func (tx *Tx) reservationByID(id uint64) (*Reservation, error) {
	row, err := tx.get(tableReservationIDs, key64(id))
	if err != nil {
		return nil, err
	}
	if row == nil {
		return nil, fmt.Errorf("%w: no reservation number %d", ErrDamaged, id)
	}
	return tx.Reservation(string(row[1:]))
}

// EachReservation goes through the reservations by name, until fn fails.
func (tx *Tx) EachReservation(fn func(*Reservation) error) error {
	return tx.each(tableReservations, nil, func(key, row []byte) (bool, error) {
		r, err := decodeReservation(key, row)
		if err != nil {
			return false, err
		}
		return true, fn(r)
	})
}

func (tx *Tx) putReservation(r *Reservation) error {
	if err := tx.put(tableReservationIDs, binary.BigEndian.AppendUint64(nil, r.ID), append([]byte{1}, r.Name...)); err != nil {
		return err
	}
	return tx.put(tableReservations, []byte(r.Name), encodeReservation(r))
}
