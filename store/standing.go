package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/recur"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// Standing is a repeating reservation. Its occurrences are reservations named NAME.1, NAME.2 and so
// on. A name that is taken is skipped. Depth occurrences are kept ahead, including those under way.
// When one ends, the next is made: on the same nodes, without those that a job has by then, or by a
// new search. If that fails, it is tried again whenever there is new room, until its window is
// over.
type Standing struct {
	ReserveSpec
	Made    int         // the number of the latest occurrence
	Last    time.Time   // when the latest one starts that was tried
	Over    bool        // the rule has no more
	Note    string      // why the latest of Missing cannot be made
	Missing []time.Time // occurrences up to Last that cannot be made now, and are tried again
}

// maxDepth bounds how many occurrences are kept ahead.
const maxDepth = 1000

// maxMissing bounds how many windows in a row that cannot be had are looked behind.
const maxMissing = 100

// maxStandingName bounds the name of a standing reservation, in bytes: with a number
// behind it, it must still be one.
const maxStandingName = index.MaxNodeName - len(".18446744073709551615")

// DefaultDepth is how many occurrences are kept ahead where nothing is said.
const DefaultDepth = 2

// standingOf is a standing reservation as callers get it.
func standingOf(s *row.Standing) *Standing {
	spec := ReserveSpec{s.Name, s.Nodes, s.Request, time.Unix(s.Start, 0), time.Unix(s.End, 0), s.Access, lasting(s.Limit), s.Repeat, s.Depth}
	return &Standing{spec, s.Made, time.Unix(s.Last, 0), s.Over, s.Note, converted(s.Missing, instant)}
}

// series makes the occurrences of a standing reservation.
type series struct {
	tx *Tx
	*row.Standing
	made map[int64]bool // renew: when the occurrences that there are start
}

func (s series) put() error {
	return s.tx.file.Put(row.Standings, []byte(s.Name), row.EncodeStanding(s.Standing))
}

// Standing finds a standing reservation by its name.
func (tx *Tx) Standing(name string) (*Standing, error) {
	s, err := tx.reservations().standing(name)
	if err != nil {
		return nil, err
	}
	return standingOf(s), nil
}

func (rs reservations) standing(name string) (*row.Standing, error) {
	payload, err := rs.file.Get(row.Standings, []byte(name))
	if err != nil {
		return nil, err
	}
	if payload == nil {
		return nil, row.Missing("reservation", name)
	}
	return row.DecodeStanding([]byte(name), payload)
}

// EachStanding goes through the standing reservations by name, until fn fails.
func (tx *Tx) EachStanding(fn func(*Standing) error) error {
	return tx.reservations().eachStanding(func(s *row.Standing) error { return fn(standingOf(s)) })
}

func (rs reservations) eachStanding(fn func(*row.Standing) error) error {
	return rs.file.Each(row.Standings, nil, func(key, payload []byte) (bool, error) {
		s, err := row.DecodeStanding(key, payload)
		if err != nil {
			return false, err
		}
		return true, fn(s)
	})
}

// addStanding makes a standing reservation and its first occurrences. Each of them must fit, or all
// are refused now.
func (rs reservations) addStanding(spec row.ReserveSpec) ([]*row.Reservation, error) {
	if err := rs.freeName(spec.Name); err != nil {
		return nil, err
	}
	if len(spec.Name) > maxStandingName {
		return nil, fmt.Errorf("%w: the name of a reservation that repeats has %d bytes; it may have %d, as its occurrences get numbers behind it",
			ErrInvalid, len(spec.Name), maxStandingName)
	}
	if spec.Depth == 0 {
		spec.Depth = DefaultDepth
	}
	if spec.Depth < 1 || spec.Depth > maxDepth {
		return nil, fmt.Errorf("%w: a depth of %d occurrences; it must be from 1 to %d", ErrInvalid, spec.Depth, maxDepth)
	}
	rule, err := recur.Parse(spec.Repeat.Rule, spec.Repeat.Zone, spec.Start)
	if errors.Is(err, recur.ErrInvalid) {
		return nil, fmt.Errorf("%w%w", file.Wordless(ErrInvalid), err)
	}
	if err != nil {
		return nil, err
	}
	spec.Repeat = rule.Repeat()
	s := series{tx: rs.Tx, Standing: &row.Standing{ReserveSpec: spec}}
	out, err := s.first(rule)
	if err != nil {
		if len(out) > 0 {
			err = rs.spoil(err)
		}
		return nil, err
	}
	if err := rs.forgetEnded(s.Name); err != nil {
		return nil, err
	}
	return out, s.put()
}

// first makes the first Depth occurrences. With an error it returns those made before it.
func (s series) first(rule *recur.Recurrence) ([]*row.Reservation, error) {
	var out []*row.Reservation
	for at, ok := rule.After(s.Start - 1); ok && len(out) < s.Depth; at, ok = rule.After(at) {
		if len(out) > 0 && at < out[len(out)-1].End {
			return out, fmt.Errorf("%w: an occurrence of reservation %s begins at %s, before the one before it ends", ErrInvalid, s.Name, stamp(at))
		}
		note := ""
		if len(out) == 0 && at != s.Start {
			note = fmt.Sprintf("the rule names no occurrence at %s; this is its first", stamp(s.Start))
		}
		r, err := s.occur(at, note)
		if err != nil {
			return out, err
		}
		out = append(out, r)
	}
	if s.Over = len(out) < s.Depth; len(out) == 0 {
		return nil, fmt.Errorf("%w: reservation %s never occurs", ErrInvalid, s.Name)
	}
	return out, nil
}

// occur makes the occurrence of a standing reservation that begins at an instant.
func (s series) occur(at int64, note string) (*row.Reservation, error) {
	name, passedOver, err := s.nextName()
	if err != nil {
		return nil, err
	}
	s.Last = max(s.Last, at)
	r, err := s.tx.reservations().addOne(s.at(at), name)
	if err != nil {
		return nil, err
	}
	r.Series, r.Note = s.Name, joinNotes(note, passedOver)
	return r, s.tx.loaded.reservations.Put(r)
}

// at describes the occurrence that begins at start.
func (s series) at(start int64) row.ReserveSpec {
	spec := s.ReserveSpec
	spec.Start, spec.End = start, start+s.End-s.Start
	return spec
}

// nextName is the name of the next occurrence. Names that are given already, be it to
// a reservation that has ended or to a standing one, are passed over, with a note.
func (s series) nextName() (name, note string, err error) {
	for {
		s.Made++
		name = s.Name + "." + strconv.Itoa(s.Made)
		_, plain := s.tx.reservations().named(name)
		_, standing := s.tx.reservations().standing(name)
		for _, err := range []error{plain, standing} {
			if err != nil && !errors.Is(err, ErrNotFound) {
				return "", "", err
			}
		}
		if plain != nil && standing != nil {
			return name, note, nil
		}
		note = joinNotes(note, "the name "+name+" is taken")
	}
}

// joinNotes joins two notes, either of which may be empty.
func joinNotes(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// occurAgain makes a later occurrence, on the nodes that are still free.
func (s series) occurAgain(at int64) error {
	again := *s.Standing
	note := ""
	if len(s.Nodes) > 0 {
		if again.Nodes, note = s.stillFree(s.at(at)); len(again.Nodes) == 0 {
			return fmt.Errorf("%w: %s", ErrConflict, note)
		}
	}
	_, err := series{tx: s.tx, Standing: &again}.occur(at, note)
	if err == nil {
		s.Made = again.Made
	}
	return err
}

// stillFree removes nodes from a list that are gone, or that a job without access has.
func (s series) stillFree(spec row.ReserveSpec) (nodes []uint32, note string) {
	for _, n := range spec.Nodes {
		r := &row.Reservation{Name: spec.Name, Start: spec.Start, End: spec.End, Nodes: []uint32{n}, Access: spec.Access, Limit: spec.Limit}
		_, _, err := s.tx.loaded.nodes.Head(n)
		if err == nil {
			err = booking{s.tx, r}.keptOut(0)
		}
		if err == nil {
			nodes = append(nodes, n)
		} else if note == "" {
			note = err.Error()
		}
	}
	return nodes, note
}

// renew makes the missing occurrences of a standing reservation. A window that does not fit is
// tried again until it is over. A missed one is an event, and none is skipped.
func (s series) renew() error {
	made, err := s.occurrences()
	if err != nil {
		return err
	}
	rule, err := recur.Parse(s.Repeat.Rule, s.Repeat.Zone, s.Start)
	if err != nil {
		return fmt.Errorf("%w: standing reservation %s: %v", ErrDamaged, s.Name, err)
	}
	s.made = make(map[int64]bool, len(made))
	ahead := 0
	for _, r := range made {
		if s.made[r.Start] = true; r.Start <= s.Last { // one behind is counted in its turn
			ahead++
		}
	}
	length := s.lasts()
	missing, why := s.Missing, s.Note
	s.Missing, s.Note = nil, ""
	for _, at := range missing {
		if at+length <= s.tx.now {
			if err := s.missed(at, at, why); err != nil {
				return err
			}
			continue
		}
		had, err := s.try(at)
		if err != nil {
			return err
		}
		if had {
			ahead++
		} else {
			s.Missing = append(s.Missing, at)
		}
	}
	if over, ok := rule.After(s.Last); ok && over+length <= s.tx.now {
		s.Last = s.tx.now - length
		if err := s.missed(over, s.Last, "no command was given in its time"); err != nil {
			return err
		}
	}
	if err := s.further(rule, ahead); err != nil {
		return err
	}
	return s.put()
}

// further makes occurrences behind the last, until so many are ahead as its depth says. It
// looks behind windows that cannot be had for some that can.
func (s series) further(rule *recur.Recurrence, ahead int) error {
	var missing []int64 // behind the last that can be had
	lacks := s.Depth - ahead - len(s.Missing)
	last := s.Last
	for ahead < s.Depth && len(missing) < maxMissing {
		at, ok := rule.After(last)
		if !ok {
			s.Over = len(s.Missing)+len(missing) == 0
			break
		}
		last = at
		had, err := s.try(at)
		switch {
		case err != nil:
			return err
		case !had:
			missing = append(missing, at)
		default:
			ahead++
			s.Missing, s.Last, missing = append(s.Missing, missing...), at, nil
		}
	}
	if n := min(lacks, len(missing)); n > 0 {
		s.Missing, s.Last = append(s.Missing, missing[:n]...), missing[n-1]
	}
	return nil
}

// try makes the occurrence that begins at an instant, if it can be had now. After the clock
// was reset it may be there already.
func (s series) try(at int64) (had bool, err error) {
	if s.made[at] {
		return true, nil
	}
	err = s.occurAgain(at)
	if err == nil {
		return true, nil
	}
	for _, fine := range []error{placer.ErrNever, placer.ErrNotNow, placer.ErrRequest, ErrNotFound, ErrInvalid, ErrConflict} {
		if errors.Is(err, fine) && s.tx.spoilt == nil {
			s.Note = err.Error()
			return false, nil
		}
	}
	return false, err
}

// lasts is how long an occurrence lasts.
func (s series) lasts() int64 {
	if s.End <= s.Start { // its request says it
		if a, err := s.tx.Ask(s.Request); err == nil {
			return a.Duration
		}
	}
	return max(1, s.End-s.Start)
}

// missed writes down that an occurrence never was, nor others that began up to the last.
func (s series) missed(first, last int64, why string) error {
	what := s.Name + ": the occurrence at " + stamp(first)
	if last > first {
		what += ", and any since,"
	}
	return s.tx.happened(row.Event{Event: reservationEvents, Node: s.Name, New: "missed", Reason: row.Because(row.CauseRoom, what+" could not be made: "+why)})
}

// retryStandings tries windows again that standing reservations could not have, with over
// only where one of them is over.
func (rs reservations) retryStandings(over bool) error {
	var again []*row.Standing
	err := rs.eachStanding(func(s *row.Standing) error {
		if len(s.Missing) > 0 && (!over || s.Missing[0]+(series{tx: rs.Tx, Standing: s}).lasts() <= rs.now) {
			again = append(again, s)
		}
		return nil
	})
	for _, s := range again {
		if err == nil {
			err = series{tx: rs.Tx, Standing: s}.renew()
		}
	}
	return err
}

// rewound has standing reservations look again at windows that a clock that was ahead has
// looked at.
func (rs reservations) rewound() error {
	var again []*row.Standing
	err := rs.eachStanding(func(s *row.Standing) error {
		if s.Last > rs.now {
			s.Last, s.Over = rs.now, false
			s.Missing = slices.DeleteFunc(s.Missing, func(at int64) bool { return at > rs.now })
			again = append(again, s)
		}
		return nil
	})
	for _, s := range again {
		if err == nil {
			s := series{tx: rs.Tx, Standing: s}
			if err = s.renew(); err == nil {
				err = s.removeAfter(s.Last)
			}
		}
	}
	return err
}

// removeAfter removes occurrences that begin after an instant.
func (s series) removeAfter(last int64) error {
	made, err := s.occurrences()
	for _, r := range made {
		if err == nil && r.Start > last {
			err = booking{s.tx, r}.remove()
		}
	}
	return err
}

// occurrences are those of a standing reservation that have not ended.
func (s series) occurrences() ([]*row.Reservation, error) {
	var out []*row.Reservation
	err := s.tx.file.Each(row.Reservations, []byte(s.Name+"."), func(key, payload []byte) (bool, error) {
		r, err := row.DecodeReservation(key, payload)
		if err == nil && r.Series == s.Name && r.End > s.tx.now {
			out = append(out, r)
		}
		return true, err
	})
	slices.SortFunc(out, func(a, b *row.Reservation) int { return cmp.Compare(a.Start, b.Start) })
	return out, err
}

// Occurrences are the reservation of a name or, for a standing one, those of its
// occurrences that have not ended.
func (tx *Tx) Occurrences(name string) ([]*Reservation, error) {
	return reservationsOf(tx.reservations().occurrences(name))
}

func (rs reservations) occurrences(name string) ([]*row.Reservation, error) {
	s, err := rs.standing(name)
	if err == nil {
		return series{tx: rs.Tx, Standing: s}.occurrences()
	}
	if !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	r, err := rs.named(name)
	return []*row.Reservation{r}, err
}

// remove forgets a standing reservation and its occurrences.
func (s series) remove() ([]*row.Reservation, error) {
	list, err := s.occurrences()
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if err := (booking{s.tx, r}).remove(); err != nil {
			return nil, err
		}
	}
	return list, s.tx.file.Remove(row.Standings, []byte(s.Name))
}
