package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/recur"
)

// maxDepth is the maximum number of occurrences kept ahead.
const maxDepth = 1000

// maxMissing is the maximum number of unavailable windows in a row to skip.
const maxMissing = 100

// MaxStandingName is the longest name of a standing reservation, in bytes. With a number appended,
// it must still be a valid name.
const MaxStandingName = index.MaxNodeName - len(".18446744073709551615")

// Series makes the occurrences of a standing reservation.
type Series struct {
	Tx *kernel.Tx
	*row.Standing
	made map[int64]bool // during renewal: starts of the existing occurrences
}

func (s Series) put() error {
	return s.Tx.File.Put(row.Standings, []byte(s.Name), row.StandingRow.Encode(s.Standing))
}

// Standing returns a standing reservation by its name.
func (rs Reservations) Standing(name string) (*kernel.Standing, error) {
	s, err := rs.tx.Reservations().Standing(name)
	if err != nil {
		return nil, err
	}
	return kernel.StandingOf(s), nil
}

// EachStanding calls fn for the standing reservations by name, until fn fails.
func (rs Reservations) EachStanding(fn func(*kernel.Standing) error) error {
	return rs.tx.Reservations().EachStanding(func(s *row.Standing) error { return fn(kernel.StandingOf(s)) })
}

// addStanding makes a standing reservation and its first occurrences. If one of them does not
// fit, all are refused.
func addStanding(tx *kernel.Tx, spec row.ReserveSpec) ([]*row.Reservation, error) {
	if err := freeName(tx, spec.Name); err != nil {
		return nil, err
	}
	if len(spec.Name) > MaxStandingName {
		return nil, fmt.Errorf("%w: the name of a standing reservation has %d bytes; the maximum is %d, because its "+
			"occurrences append numbers",
			row.ErrInvalid, len(spec.Name), MaxStandingName)
	}
	if spec.Depth == 0 {
		spec.Depth = kernel.DefaultDepth
	}
	if spec.Depth < 1 || spec.Depth > maxDepth {
		return nil, fmt.Errorf("%w: a depth of %d occurrences; it must be from 1 to %d", row.ErrInvalid, spec.Depth,
			maxDepth)
	}
	rule, err := recur.Parse(spec.Repeat.Rule, spec.Repeat.Zone, spec.Start)
	if errors.Is(err, recur.ErrInvalid) {
		return nil, fmt.Errorf("%w%w", file.Wordless(row.ErrInvalid), err)
	}
	if err != nil {
		return nil, err
	}
	spec.Repeat = rule.Repeat()
	s := Series{Tx: tx, Standing: &row.Standing{ReserveSpec: spec}}
	out, err := s.first(rule)
	if err != nil {
		if len(out) > 0 {
			err = tx.Spoil(err)
		}
		return nil, err
	}
	if err := forgetEnded(tx, s.Name); err != nil {
		return nil, err
	}
	return out, s.put()
}

// first makes the first Depth occurrences. With an error it returns those made before it.
func (s Series) first(rule *recur.Recurrence) ([]*row.Reservation, error) {
	var out []*row.Reservation
	for at, ok := rule.After(s.Start - 1); ok && len(out) < s.Depth; at, ok = rule.After(at) {
		if len(out) > 0 && at < out[len(out)-1].End {
			return out, fmt.Errorf("%w: an occurrence of reservation %s begins at %s, before the one before it ends",
				row.ErrInvalid, s.Name, kernel.Stamp(at))
		}
		note := ""
		if len(out) == 0 && at != s.Start {
			note = fmt.Sprintf("the rule names no occurrence at %s; this is its first", kernel.Stamp(s.Start))
		}
		r, err := s.occur(at, note)
		if err != nil {
			return out, err
		}
		out = append(out, r)
	}
	if s.Over = len(out) < s.Depth; len(out) == 0 {
		return nil, fmt.Errorf("%w: reservation %s never occurs", row.ErrInvalid, s.Name)
	}
	return out, nil
}

// occur makes the occurrence of a standing reservation that begins at an instant.
func (s Series) occur(at int64, note string) (*row.Reservation, error) {
	name, passedOver, err := s.nextName()
	if err != nil {
		return nil, err
	}
	s.Last = max(s.Last, at)
	return addOne(s.Tx, s.at(at), row.ReservationFacts{Name: name, Series: s.Name, Note: joinNotes(note, passedOver)})
}

// at describes the occurrence that begins at start.
func (s Series) at(start int64) row.ReserveSpec {
	spec := s.ReserveSpec
	spec.Start, spec.End = start, start+s.End-s.Start
	return spec
}

// nextName returns the name of the next occurrence. It skips names in use, even those of ended or
// standing reservations, and says so in the note.
func (s Series) nextName() (name, note string, err error) {
	for {
		s.Made++
		name = s.Name + "." + strconv.Itoa(s.Made)
		_, plain := s.Tx.Reservations().Named(name)
		_, standing := s.Tx.Reservations().Standing(name)
		for _, err := range []error{plain, standing} {
			if err != nil && !errors.Is(err, row.ErrNotFound) {
				return "", "", err
			}
		}
		if plain != nil && standing != nil {
			return name, note, nil
		}
		note = joinNotes(note, "the name "+name+" is taken")
	}
}

// joinNotes joins two notes; one may be empty, or both.
func joinNotes(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// removeAfter removes occurrences that begin after an instant.
func (s Series) removeAfter(last int64) error {
	made, err := s.occurrences()
	for _, r := range made {
		if err == nil && r.Start > last {
			err = Booking{s.Tx, r}.withdraw()
		}
	}
	return err
}

// occurrences returns the occurrences of a standing reservation that have not ended.
func (s Series) occurrences() ([]*row.Reservation, error) {
	var out []*row.Reservation
	err := s.Tx.File.Each(row.Reservations, []byte(s.Name+"."), func(key, payload []byte) (bool, error) {
		r, err := row.ReservationRow.Decode(key, payload)
		if err == nil && r.Series == s.Name && r.End > s.Tx.Now {
			out = append(out, r)
		}
		return true, err
	})
	slices.SortFunc(out, func(a, b *row.Reservation) int { return cmp.Compare(a.Start, b.Start) })
	return out, err
}

// Occurrences returns the reservation with a name or, for a standing one, its occurrences that have
// not ended.
func (rs Reservations) Occurrences(name string) ([]*kernel.Reservation, error) {
	return kernel.ReservationsOf(occurrences(rs.tx, name))
}

func occurrences(tx *kernel.Tx, name string) ([]*row.Reservation, error) {
	s, err := tx.Reservations().Standing(name)
	if err == nil {
		return Series{Tx: tx, Standing: s}.occurrences()
	}
	if !errors.Is(err, row.ErrNotFound) {
		return nil, err
	}
	r, err := tx.Reservations().Named(name)
	return []*row.Reservation{r}, err
}

// remove deletes a standing reservation and its occurrences.
func (s Series) remove() ([]*row.Reservation, error) {
	list, err := s.occurrences()
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if err := (Booking{s.Tx, r}).withdraw(); err != nil {
			return nil, err
		}
	}
	return list, s.Tx.File.Remove(row.Standings, []byte(s.Name))
}
