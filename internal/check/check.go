// Package check looks for damage and contradictions in the rows of a store, and rebuilds what
// is derived from them. It recomputes every derived table from the other rows alone, without
// looking at what is stored, and compares.
//
// It shares what rows mean with the packages that write them: which nodes and amounts a job
// has, whom a reservation admits.
package check

import (
	"errors"
	"fmt"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/cluster"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/limits"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/timeline"
)

// Store is the store to be checked, at the instant that its bitmaps stand for.
type Store struct {
	tx    *kernel.Tx
	Rows  *file.Recorder
	State *row.State
}

// Of returns the store of a transaction whose instant is that of the file.
func Of(tx *kernel.Tx) *Store { return &Store{tx, tx.File, &tx.State} }

func (s *Store) Resources() (*index.Defs, error) { return s.tx.Resources() }
func (s *Store) signature(defs *index.Defs) ([]index.ResID, error) {
	set, err := s.tx.Settings()
	if err != nil {
		return nil, err
	}
	return set.IndexedBy(defs), nil
}

// spans returns what a job has of its nodes.
func (s *Store) spans(j *row.Job) ([]kernel.Span, error) { return s.tx.Allocations().Spans(j) }

func (s *Store) letsIn(r *row.Reservation, b timeline.Busy) (bool, error) {
	return plan.Booking{Tx: s.tx, Reservation: r}.LetsIn(b)
}

func (s *Store) batch(number uint32) locality.Rows { return s.tx.Batches().Rows(number) }

// attempt returns one of the attempts that a job has started.
func (s *Store) attempt(j *row.Job, number int) (*row.Attempt, error) {
	return s.tx.Attempts().Of(j, number)
}

// rules returns the rules, or nil if there are none.
func (s *Store) rules() (*limits.Rules, error)         { return s.tx.Loaded.Counters.Rules.All() }
func (s *Store) Shares() (*fairshare.Settings, error)  { return cluster.SharesOf(s.tx).Get() }
func (s *Store) shareTimer() (fairshare.Timer, error)  { return cluster.SharesOf(s.tx).Timer() }
func (s *Store) shareState() (*fairshare.State, error) { return cluster.SharesOf(s.tx).State() }

// maxFindings limits how many findings are reported; further ones are dropped.
const maxFindings = 1000

// Findings counts findings and reports them.
type Findings struct {
	report func(string)
	found  int
}

// NewFindings returns findings that are reported to report.
func NewFindings(report func(finding string)) *Findings { return &Findings{report: report} }

// Find reports a finding.
func (f *Findings) Find(format string, args ...any) {
	if f.found++; f.found <= maxFindings {
		f.report(fmt.Sprintf(format, args...))
	}
}

// Look verifies the checksum of every row, every derived table against the rows, and what must
// hold between rows.
func (f *Findings) Look(s *Store) error {
	damaged, err := f.rows(s)
	if err != nil || len(damaged) > 0 {
		return err
	}
	d, err := f.derive(s)
	if err != nil {
		return err
	}
	for t := range row.TableCount {
		if t.Derived() && t != row.IndexSums {
			if err := d.compare(t); err != nil {
				return err
			}
		}
	}
	_, err = f.rates(s)
	return errors.Join(err, f.pasts(s), f.shares(s), f.events(s))
}

// rows verifies the checksum of every row of every table, and that there are no other rows. It
// returns the damaged tables.
func (f *Findings) rows(s *Store) (damaged map[row.Table]bool, err error) {
	damaged = make(map[row.Table]bool)
	return damaged, s.Rows.CheckRows(func(t row.Table, format string, args ...any) {
		damaged[t] = true
		f.Find(format, args...)
	})
}

// events verifies that no event has a number that will be used again.
func (f *Findings) events(s *Store) error {
	key, err := s.Rows.Last(row.Events)
	if len(key) == 8 && row.Number64(key) > s.State.Events {
		f.Find("there is an event %d, and the last one was %d", row.Number64(key), s.State.Events)
	}
	return err
}

// Repair rebuilds what is derived from the rows, and reports what it found. It does not guess
// about rows: it fails with ErrDamaged if a row does not match its checksum, or if rows
// contradict each other.
func (f *Findings) Repair(s *Store) error {
	damaged, err := f.rows(s)
	if err != nil {
		return err
	}
	if damaged[row.Buckets] { // they get other numbers, so what is remembered of them no longer applies
		damaged[row.Invalidations] = true
	}
	if err := s.Rows.Clear(row.IndexSums); err != nil { // because other indexes are filled, this one is, too
		return err
	}
	for t := range damaged {
		// caches may be lost
		if !t.Derived() && t != row.Invalidations && t != row.Decays && t != row.NodePasts &&
			t != row.PastRuns {
			return fmt.Errorf("%w: rows of table %s are damaged or lost, and only derived data can be rebuilt; "+
				"restore a backup, or salvage the rest", row.ErrDamaged, t)
		}
		if err := s.Rows.Clear(t); err != nil { // its remaining rows are useless
			return err
		}
	}
	d, err := f.derive(s)
	if err != nil {
		return err
	}
	if d.contradictions > 0 {
		return fmt.Errorf("%w: rows contradict each other; restore a backup", row.ErrDamaged)
	}
	for t := range row.TableCount {
		if t.Derived() && t != row.IndexSums {
			if err := d.replace(t); err != nil {
				return err
			}
		}
	}
	for _, n := range d.moved {
		if err := s.Rows.Put(row.Nodes, row.Key32(n.Number), row.EncodeNode(n)); err != nil {
			return err
		}
	}
	for _, p := range d.recounted {
		if err := s.Rows.PutOrRemove(row.Payloads, p.key, p.payload); err != nil {
			return err
		}
	}
	s.State.NextBucket = max(s.State.NextBucket, d.buckets)
	if key, err := s.Rows.Last(row.Events); err != nil {
		return err
	} else if len(key) == 8 {
		s.State.Events = max(s.State.Events, row.Number64(key))
	}
	if damaged[row.NodePasts] {
		s.State.NodesSince = s.State.AsOf
	}
	if err := f.mendPasts(s); err != nil {
		return err
	}
	mend := func() error { return f.mendRates(s) }
	if damaged[row.Decays] {
		mend = s.tx.Loaded.Book.DecayAnew
	}
	if err := mend(); err != nil {
		return err
	}
	return s.Rows.Put(row.Meta, row.KeyState, row.StateRow.Encode(s.State))
}

// replace replaces the content of a derived table with what it should hold.
func (d *recomputed) replace(t row.Table) error {
	if err := d.compare(t); err != nil {
		return err
	}
	if err := d.store.Rows.Clear(t); err != nil {
		return err
	}
	return d.each(t, func(key, payload []byte) error { return d.store.Rows.Put(t, key, payload) })
}
