package plan

import (
	"errors"
	"fmt"
	"slices"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/recur"
)

// occurAgain makes a later occurrence, on the nodes that are still free.
func (s Series) occurAgain(at int64) error {
	again := *s.Standing
	note := ""
	if len(s.Nodes) > 0 {
		if again.Nodes, note = s.stillFree(s.at(at)); len(again.Nodes) == 0 {
			return fmt.Errorf("%w: %s", row.ErrConflict, note)
		}
	}
	_, err := Series{Tx: s.Tx, Standing: &again}.occur(at, note)
	if err == nil {
		s.Made = again.Made
	}
	return err
}

// stillFree removes from a list the nodes that no longer exist, or that a job without access
// has.
func (s Series) stillFree(spec row.ReserveSpec) (nodes []uint32, note string) {
	for _, n := range spec.Nodes {
		r := &row.Reservation{ReservationFacts: row.ReservationFacts{Name: spec.Name, Nodes: []uint32{n},
			Access: spec.Access}, Start: spec.Start, End: spec.End, Limit: spec.Limit}
		_, _, err := s.Tx.Loaded.Nodes.Head(n)
		if err == nil {
			err = Booking{s.Tx, r}.keptOut(0)
		}
		if err == nil {
			nodes = append(nodes, n)
		} else if note == "" {
			note = err.Error()
		}
	}
	return nodes, note
}

// Renew makes the missing occurrences of a standing reservation. A window that does not fit is
// tried again until it is over. A missed window is recorded as an event, and none is skipped.
func (s Series) Renew() error {
	made, err := s.occurrences()
	if err != nil {
		return err
	}
	rule, err := recur.Parse(s.Repeat.Rule, s.Repeat.Zone, s.Start)
	if err != nil {
		return fmt.Errorf("%w: standing reservation %s: %v", row.ErrDamaged, s.Name, err)
	}
	s.made = make(map[int64]bool, len(made))
	ahead := 0
	for _, r := range made {
		if s.made[r.Start] = true; r.Start <= s.Last { // an occurrence after Last is counted in its turn
			ahead++
		}
	}
	length := s.lasts()
	missing, why := s.Missing, s.Note
	s.Missing, s.Note = nil, ""
	for _, at := range missing {
		if at+length <= s.Tx.Now {
			if err := s.missed(at, at, why); err != nil {
				return err
			}
			continue
		}
		had, err := s.Try(at)
		if err != nil {
			return err
		}
		if had {
			ahead++
		} else {
			s.Missing = append(s.Missing, at)
		}
	}
	if over, ok := rule.After(s.Last); ok && over+length <= s.Tx.Now {
		s.Last = s.Tx.Now - length
		if err := s.missed(over, s.Last, "no command was given in its time"); err != nil {
			return err
		}
	}
	if err := s.further(rule, ahead); err != nil {
		return err
	}
	return s.put()
}

// further makes occurrences after the last, until there are as many ahead as its depth says.
// It skips unavailable windows.
func (s Series) further(rule *recur.Recurrence, ahead int) error {
	var missing []int64 // windows after the last available one
	lacks := s.Depth - ahead - len(s.Missing)
	last := s.Last
	for ahead < s.Depth && len(missing) < maxMissing {
		at, ok := rule.After(last)
		if !ok {
			s.Over = len(s.Missing)+len(missing) == 0
			break
		}
		last = at
		had, err := s.Try(at)
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

// Try makes the occurrence that begins at an instant, if it is available now. After a reset of the
// clock, it may exist already.
func (s Series) Try(at int64) (had bool, err error) {
	if s.made[at] {
		return true, nil
	}
	err = s.occurAgain(at)
	if err == nil {
		return true, nil
	}
	for _, fine := range []error{placer.ErrNever, placer.ErrNotNow, placer.ErrRequest, row.ErrNotFound, row.ErrInvalid,
		row.ErrConflict} {
		if errors.Is(err, fine) && s.Tx.Spoilt == nil {
			s.Note = err.Error()
			return false, nil
		}
	}
	return false, err
}

// lasts returns the length of an occurrence, in seconds.
func (s Series) lasts() int64 {
	if s.End <= s.Start { // the request says how long
		if a, err := AskFor(s.Tx, s.Request); err == nil {
			return a.Duration
		}
	}
	return max(1, s.End-s.Start)
}

// missed records that an occurrence was missed, and others that began up to last.
func (s Series) missed(first, last int64, why string) error {
	what := s.Name + ": the occurrence at " + kernel.Stamp(first)
	if last > first {
		what += ", and any since,"
	}
	return s.Tx.Happened(row.Event{Event: kernel.ReservationEvents, Node: s.Name, New: "missed",
		Reason: row.Because(row.CauseRoom, what+" could not be made: "+why)})
}

// RetryStandings retries the windows that standing reservations could not get. If over is
// true, it does so only if one of them is over.
func RetryStandings(tx *kernel.Tx, over bool) error {
	var again []*row.Standing
	err := tx.Reservations().EachStanding(func(s *row.Standing) error {
		if len(s.Missing) > 0 && (!over || s.Missing[0]+(Series{Tx: tx, Standing: s}).lasts() <= tx.Now) {
			again = append(again, s)
		}
		return nil
	})
	for _, s := range again {
		if err == nil {
			err = Series{Tx: tx, Standing: s}.Renew()
		}
	}
	return err
}

// RewoundStandings makes standing reservations check windows again that they checked while the
// clock was ahead.
func RewoundStandings(tx *kernel.Tx) error {
	var again []*row.Standing
	err := tx.Reservations().EachStanding(func(s *row.Standing) error {
		if s.Last > tx.Now {
			s.Last, s.Over = tx.Now, false
			s.Missing = slices.DeleteFunc(s.Missing, func(at int64) bool { return at > tx.Now })
			again = append(again, s)
		}
		return nil
	})
	for _, s := range again {
		if err == nil {
			s := Series{Tx: tx, Standing: s}
			if err = s.Renew(); err == nil {
				err = s.removeAfter(s.Last)
			}
		}
	}
	return err
}
