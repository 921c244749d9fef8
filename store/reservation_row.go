package store

import (
	"encoding/binary"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/placer"
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
func (r *Reservation) State(now int64) string {
	switch {
	case now < r.Start:
		return "planned"
	case now < r.End:
		return "active"
	}
	return "ended"
}

// span is the reservation's stretch on the i-th of its nodes.
func (r *Reservation) span(i int) timeline.Busy {
	b := timeline.Busy{Start: r.Start, End: r.End, Owner: reservationOwner(r.ID), Claim: true}
	if r.Uses != nil {
		b.Use = &r.Uses[i]
	}
	return b
}

// grant is the reservation as somebody who may use it sees it.
func (r *Reservation) grant(affinity placer.Affinity) placer.Grant {
	return placer.Grant{Owner: reservationOwner(r.ID), Name: r.Name, Start: r.Start, End: r.End,
		Nodes: roaring.BitmapOf(r.Nodes...), Affinity: affinity, Limit: r.Limit}
}

const reservationVersion = 2

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
	encodeAccess(&e, r.Access)
	e.int(r.Limit)
	e.string(r.Series)
	e.string(r.Note)
	e.uint(uint64(len(r.Uses)))
	for i := range r.Uses {
		encodeUse(&e, &r.Uses[i])
	}
	return e.b
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

func decodeReservation(key, row []byte) (*Reservation, error) {
	d := decoder{b: row}
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

// putReservation writes a reservation and makes it findable by its number and by
// whom it lets in.
func (tx *Tx) putReservation(r *Reservation) error {
	if err := tx.put(tableReservationIDs, binary.BigEndian.AppendUint64(nil, r.ID), append([]byte{1}, r.Name...)); err != nil {
		return err
	}
	for _, a := range r.Access {
		if err := tx.mark(tableAccess, accessKey(a, r.ID)); err != nil {
			return err
		}
	}
	return tx.put(tableReservations, []byte(r.Name), encodeReservation(r))
}

// accessKey is the key under which a reservation is found by whom it lets in.
func accessKey(a placer.AccessEntry, id uint64) []byte {
	return append(accessPrefix(a.Kind, a.Value), key64(id)...)
}

func accessPrefix(kind placer.AccessKind, value string) []byte {
	return append(append([]byte{byte(kind)}, value...), 0)
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
		prefix := accessPrefix(a.Kind, a.Value)
		err := tx.eachIn(tableAccess, prefix, func(key, _ []byte) (bool, error) {
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
	return tx.eachIn(tableAccess, append([]byte{byte(placer.AccessJob)}, array...), func(key, _ []byte) (bool, error) {
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
