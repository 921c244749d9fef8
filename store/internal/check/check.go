// Package check looks for damage and contradictions in the rows of a store, and rebuilds
// what is derived from them: it recomputes every derived table from the rows that are
// not, with no eye on what is stored, and compares.
//
// It knows nothing of transactions. Of what rows mean it is told what it shares with
// those that write them: what a job has of its nodes, whom a reservation lets in.
package check

import (
	"errors"
	"fmt"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
)

// Store is what is checked: a store at the instant that its bitmaps stand for.
type Store struct {
	Rows  *file.Recorder
	State *row.State
	Grace int64 // seconds that a job past its end is taken to go on

	Resources func() (*index.Defs, error)
	Signature func(*index.Defs) ([]index.ResID, error)
	Spans     func(*row.Job) ([]Span, error) // what a job has
	LetsIn    func(*row.Reservation, timeline.Busy) (bool, error)
	Batch     func(number uint32) locality.Rows

	Shares     func() (*fairshare.Settings, error)
	ShareTimer func() (fairshare.Timer, error)
	ShareState func() (*fairshare.State, error)
}

// Span is a stretch of time on a node.
type Span struct {
	Node uint32
	timeline.Busy
}

// maxFindings bounds what is reported; past it, nobody is told.
const maxFindings = 1000

// Findings counts what was found, and tells of it.
type Findings struct {
	report func(string)
	found  int
}

// NewFindings tells report of each finding.
func NewFindings(report func(finding string)) *Findings { return &Findings{report: report} }

// Find reports a finding.
func (f *Findings) Find(format string, args ...any) {
	if f.found++; f.found <= maxFindings {
		f.report(fmt.Sprintf(format, args...))
	}
}

// Look verifies the checksum of every row, every derived table against what the rows
// say, and what holds between rows.
func (f *Findings) Look(s *Store) error {
	if sound, err := f.rows(s); err != nil || !sound {
		return err
	}
	d, err := f.derive(s)
	if err != nil {
		return err
	}
	for t := range row.TableCount {
		if t.Derived() && s.Rows.Format() >= t.Since() {
			if err := d.compare(t); err != nil {
				return err
			}
		}
	}
	return errors.Join(f.keys(s), f.shares(s))
}

// rows verifies the checksum of every row of every table, and that there are no
// others.
func (f *Findings) rows(s *Store) (sound bool, err error) {
	before := f.found
	err = s.Rows.CheckRows(f.Find)
	return f.found == before, err
}

// keys verifies that every idempotency key leads to a job that carries it.
func (f *Findings) keys(s *Store) error {
	return s.Rows.Each(row.Keys, nil, func(key, payload []byte) (bool, error) {
		id, ok := row.DecodeNumber64(payload)
		if !ok {
			f.Find("key %q leads nowhere", key)
			return true, nil
		}
		job, err := s.Rows.Get(row.Jobs, row.Key64(id))
		if err != nil {
			return false, err
		}
		carries := false
		if job != nil {
			j, err := row.DecodeJob(row.Key64(id), job)
			if err != nil {
				return false, err
			}
			carries = j.Key == string(key)
		}
		if !carries {
			f.Find("key %q leads to job %d, which does not carry it", key, id)
		}
		return true, nil
	})
}

// Repair rebuilds what is derived from the rows, and tells what it found. It refuses with
// ErrDamaged to guess about rows: when one of them does not match its checksum, or they
// contradict each other.
func (f *Findings) Repair(s *Store) error {
	if sound, err := f.rows(s); err != nil || !sound {
		return errors.Join(err, fmt.Errorf("%w: rows are damaged, and only what is derived from them can be rebuilt; restore a backup", row.ErrDamaged))
	}
	d, err := f.derive(s)
	if err != nil {
		return err
	}
	if d.contradictions > 0 {
		return fmt.Errorf("%w: rows contradict each other; restore a backup", row.ErrDamaged)
	}
	for t := range row.TableCount {
		if t.Derived() {
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
	s.State.NextBucket = max(s.State.NextBucket, d.buckets)
	return s.Rows.Put(row.Meta, row.KeyState, s.State.Encode())
}

// replace puts what a derived table should hold in the place of what it does.
func (d *derived) replace(t row.Table) error {
	if err := d.compare(t); err != nil {
		return err
	}
	if err := d.store.Rows.Clear(t); err != nil {
		return err
	}
	return d.each(t, func(key, payload []byte) error { return d.store.Rows.Put(t, key, payload) })
}
