package store

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/placectl/placectl/placer"
)

// Standing is a reservation that repeats. Its occurrences are reservations named
// after it, NAME.1, NAME.2 and so on; so many of them as its depth says are kept
// ahead, those under way counted. When one ends the next is made: on the same
// nodes, without those that a job has by then, or as its request is served then.
type Standing struct {
	ReserveSpec
	Made int   // occurrences made so far
	Last int64 // when the latest one starts
	Over bool  // the rule has no more
	Note string
}

// maxDepth bounds how many occurrences are kept ahead.
const maxDepth = 1000

// DefaultDepth is how many occurrences are kept ahead where nothing is said.
const DefaultDepth = 2

const standingVersion = 1

func encodeStanding(s *Standing) []byte {
	e := encoder{}
	e.byte(standingVersion)
	e.uint(uint64(len(s.Nodes)))
	for _, n := range s.Nodes {
		e.uint(uint64(n))
	}
	q := &s.Request
	for _, text := range []string{q.Select, q.Place, q.User, q.Group, q.Account, q.Queue, q.Class, q.Policy, q.Access,
		s.Repeat.Rule, s.Repeat.Zone, s.Note} {
		e.string(text)
	}
	e.strings(q.Prefer)
	for _, n := range []int64{int64(q.Walltime), s.Start, s.End, s.Limit, int64(s.Depth), int64(s.Made), s.Last} {
		e.int(n)
	}
	over := byte(0)
	if s.Over {
		over = 1
	}
	e.byte(over)
	encodeAccess(&e, s.Access)
	return e.b
}

func decodeStanding(key, row []byte) (*Standing, error) {
	d := decoder{b: row}
	d.byte()
	s := new(Standing)
	s.Name = string(key)
	if n := d.count(); n > 0 {
		s.Nodes = make([]uint32, n)
	}
	for i := range s.Nodes {
		s.Nodes[i] = uint32(d.uint())
	}
	q := &s.Request
	for _, text := range []*string{&q.Select, &q.Place, &q.User, &q.Group, &q.Account, &q.Queue, &q.Class, &q.Policy, &q.Access,
		&s.Repeat.Rule, &s.Repeat.Zone, &s.Note} {
		*text = d.string()
	}
	q.Prefer = d.strings()
	q.Walltime = time.Duration(d.int())
	s.Start, s.End, s.Limit = d.int(), d.int(), d.int()
	s.Depth, s.Made, s.Last = int(d.int()), int(d.int()), d.int()
	s.Over = d.byte() == 1
	s.Access = decodeAccess(&d)
	return s, d.done(tableStandings, key)
}

func (tx *Tx) putStanding(s *Standing) error {
	return tx.put(tableStandings, []byte(s.Name), encodeStanding(s))
}

// Standing finds a standing reservation by its name.
func (tx *Tx) Standing(name string) (*Standing, error) {
	if tx.tab(tableStandings) == nil { // a file of format 1 has none
		return nil, missing("reservation", name)
	}
	row, err := tx.get(tableStandings, []byte(name))
	if err != nil {
		return nil, err
	}
	if row == nil {
		return nil, missing("reservation", name)
	}
	return decodeStanding([]byte(name), row)
}

// EachStanding goes through the standing reservations by name, until fn fails.
func (tx *Tx) EachStanding(fn func(*Standing) error) error {
	return tx.eachIn(tableStandings, nil, func(key, row []byte) (bool, error) {
		s, err := decodeStanding(key, row)
		if err != nil {
			return false, err
		}
		return true, fn(s)
	})
}

// addStanding makes a standing reservation and its first occurrences. Each of them
// has to fit: what is asked for now is refused now.
func (tx *Tx) addStanding(spec ReserveSpec) ([]*Reservation, error) {
	if err := tx.freeName(spec.Name); err != nil {
		return nil, err
	}
	if spec.Depth == 0 {
		spec.Depth = DefaultDepth
	}
	if spec.Depth < 1 || spec.Depth > maxDepth {
		return nil, fmt.Errorf("%w: a depth of %d occurrences; it must be from 1 to %d", ErrInvalid, spec.Depth, maxDepth)
	}
	rule, err := ParseRepeat(spec.Repeat.Rule, spec.Repeat.Zone, spec.Start)
	if err != nil {
		return nil, err
	}
	spec.Repeat = rule.Repeat()
	s := &Standing{ReserveSpec: spec}
	var out []*Reservation
	for at, ok := spec.Start, true; ok && len(out) < spec.Depth; at, ok = rule.After(at) {
		if len(out) > 0 && at < out[len(out)-1].End {
			return nil, tx.spoil(fmt.Errorf("%w: an occurrence of reservation %s begins at %s, before the one before it ends", ErrInvalid, s.Name, stamp(at)))
		}
		r, err := tx.occur(s, at, false)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	if s.Over = len(out) < spec.Depth; len(out) == 0 {
		return nil, fmt.Errorf("%w: reservation %s never occurs", ErrInvalid, s.Name)
	}
	return out, tx.putStanding(s)
}

// occur makes the occurrence of a standing reservation that begins at an instant.
// A later one takes what it can have, a first one all or nothing.
func (tx *Tx) occur(s *Standing, at int64, lenient bool) (*Reservation, error) {
	spec := s.ReserveSpec
	spec.Start, spec.End = at, at+s.End-s.Start
	s.Made++
	s.Last = at
	name := s.Name + "." + strconv.Itoa(s.Made)
	note := ""
	if lenient && len(spec.Nodes) > 0 {
		spec.Nodes, note = tx.stillFree(spec, name)
	}
	if err := tx.freeName(name); err != nil && !lenient {
		return nil, err
	}
	r, err := tx.addOne(spec, name)
	if err != nil {
		return nil, err
	}
	r.Series, r.Note = s.Name, note
	return r, tx.putReservation(r)
}

// stillFree leaves out of a list of nodes those that are gone, and those that a
// job has which the reservation does not let in.
func (tx *Tx) stillFree(spec ReserveSpec, name string) (nodes []uint32, note string) {
	for _, n := range spec.Nodes {
		r := &Reservation{Name: name, Start: spec.Start, End: spec.End, Nodes: []uint32{n}, Access: spec.Access, Limit: spec.Limit}
		_, _, err := tx.nodeHead(n)
		if err == nil {
			err = tx.keptOut(r, 0)
		}
		if err == nil {
			nodes = append(nodes, n)
		} else if note == "" {
			note = err.Error()
		}
	}
	return nodes, note
}

// renew makes the occurrences that a standing reservation lacks.
func (tx *Tx) renew(name string) error {
	s, err := tx.Standing(name)
	if err != nil || s.Over {
		return err
	}
	ahead, err := tx.occurrences(s)
	if err != nil {
		return err
	}
	rule, err := ParseRepeat(s.Repeat.Rule, s.Repeat.Zone, s.Start)
	if err != nil {
		return fmt.Errorf("%w: standing reservation %s: %v", ErrDamaged, s.Name, err)
	}
	// Occurrences that nobody was there to make, and that are over, are passed over.
	from := max(s.Last, tx.now-(s.End-s.Start))
	for made := len(ahead); made < s.Depth; made++ {
		at, ok := rule.After(from)
		if !ok {
			s.Over = true
			break
		}
		from = at
		if _, err := tx.occur(s, at, true); err != nil {
			if final := tx.skipped(err); final != nil {
				return final
			}
			s.Note = fmt.Sprintf("the occurrence at %s could not be made: %v", stamp(at), err)
		}
	}
	return tx.putStanding(s)
}

// skipped is nil for a reason for which an occurrence is left out.
func (tx *Tx) skipped(err error) error {
	for _, fine := range []error{placer.ErrNever, placer.ErrNotNow, placer.ErrRequest, ErrNotFound, ErrInvalid, ErrConflict} {
		if errors.Is(err, fine) && tx.spoilt == nil {
			return nil
		}
	}
	return err
}

// occurrences are those of a standing reservation that have not ended.
func (tx *Tx) occurrences(s *Standing) ([]*Reservation, error) {
	var out []*Reservation
	err := tx.eachIn(tableReservations, []byte(s.Name+"."), func(key, row []byte) (bool, error) {
		r, err := decodeReservation(key, row)
		if err == nil && r.Series == s.Name && r.End > tx.now {
			out = append(out, r)
		}
		return true, err
	})
	return out, err
}

// Occurrences are the reservation of a name or, for a standing one, those of its
// occurrences that have not ended.
func (tx *Tx) Occurrences(name string) ([]*Reservation, error) {
	s, err := tx.Standing(name)
	if err == nil {
		return tx.occurrences(s)
	}
	if !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	r, err := tx.Reservation(name)
	return []*Reservation{r}, err
}

// removeStanding forgets a standing reservation and its occurrences.
func (tx *Tx) removeStanding(s *Standing) ([]*Reservation, error) {
	list, err := tx.occurrences(s)
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if err := tx.removeReservation(r); err != nil {
			return nil, err
		}
	}
	return list, tx.remove(tableStandings, []byte(s.Name))
}
