// Package kernel is a transaction on the rows of a database. It has the rows that the transaction
// has read, the settings, the index and the calendar. The packages above work on it, each on those
// before it: access, booking, jobs, cycle, batch and cluster, ask.
package kernel

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/batches"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/limits"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/state"
	"github.com/placectl/placectl/internal/usage"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/timeline"
)

// Tx is a transaction. It reads rows on demand, keeps changes in memory if that is cheaper, and
// writes them when it commits. It is not safe for concurrent use, and ends with the function it was
// given to.
type Tx struct {
	Opt        *Options   // of the handle
	Path       string     // of the database
	Logged     bool       // it is kept in a log
	Warned     *sync.Once // of the handle: warns once about a clock that is behind
	File       *file.Recorder
	Now        int64
	State      row.State
	Dirty      bool   // the state has changed and must be saved
	Spoilt     error  // a change failed halfway, so the transaction must not be committed
	Unrecorded uint64 // number of events that only this reader sees
	Key        string // the idempotency key of the change, or ""
	Starts     startCount
	Loaded     loaded
	stands     *standing // nil until something asks
	executed   bool      // it gives an attempt to a process
}

// loaded holds what a transaction has read and changed so far.
type loaded struct {
	Settings *Settings
	Reset    []string // names of the settings that were changed
	Sayings  RequestCache
	Defs     *index.Defs
	Index    *index.Index
	Calendar *timeline.Calendar
	Source   *nodes.Source
	Rooms    *nodes.Rooms
	Releases *nodes.Releases
	Usage    *usage.Nodes
	Book     *usage.Book
	Nodes    *nodes.Rows
	Absences absences
	Batches  *batches.Batches
	Freed    *nodes.Freed
	Matcher  *fairshare.Matcher // of the class shares
	Overruns map[uint64]int64   // how long overdue owners are expected to continue
	Moved    []*row.Job         // jobs placed at an instant, whose plans could not be kept
	Queue    *PlayedQueue       // during a play; otherwise nil
	Unplaced []*row.Job         // the displaced jobs without a new plan
	// placed jobs whose nodes went out of service; they keep their plans until the change is complete
	Stranded     []uint64
	Displaced    []uint64 // queued jobs whose plans could not be kept: they have their turn before the commit
	Counters     *nodes.Counters
	Tallies      *usage.Tallies
	Jobs         *state.Table[row.Job]
	Attempts     *state.Table[row.Attempt]
	Reservations *state.Table[row.Reservation]
	Answers      *state.Table[row.Answer]
	Past         *nodes.Log
	kept         map[any]any // for the packages above: see Slot
	failure      error       // the first error from reading rows where none can be returned
}

// NewLoaded returns the state of a transaction that has not read anything yet.
func NewLoaded(tx *Tx) loaded {
	rows := nodes.NewRows(tx.File, tx)
	b := nodes.Base{Transaction: tx, Rows: tx.File, Nodes: rows, State: &tx.State, Now: &tx.Now}
	counters := &nodes.Counters{Base: b, Rules: nodes.NewRuled(b, limits.Source{Transaction: tx, Rows: tx.File})}
	counts := &usage.Tallies{Rows: tx.File}
	return loaded{Nodes: rows, Source: nodes.NewSource(b), Rooms: nodes.NewRooms(b),
		Releases: &nodes.Releases{Base: b}, Usage: &usage.Nodes{Rows: tx.File, Nodes: rows},
		Book:     &usage.Book{Transaction: tx, Attempts: tx.Attempts(), Rows: tx.File},
		Counters: counters, Tallies: counts, Past: &nodes.Log{Rows: tx.File, Now: &tx.Now},
		Freed:        &nodes.Freed{Base: b},
		Jobs:         state.NewTable(tx.File, &row.JobRows, counts.Count, counters.Rules.Changed),
		Attempts:     state.NewTable(tx.File, &row.AttemptRows, nil),
		Reservations: state.NewTable(tx.File, &row.ReservationRows, nil),
		Answers:      state.NewTable(tx.File, &row.AnswerRows, nil)}
}

// MarkDirty records that the state has changed.
func (tx *Tx) MarkDirty() { tx.Dirty = true }

// Fail records an error from reading derived rows. The next use of the index returns it, and
// so does the end of the transaction.
func (tx *Tx) Fail(err error) {
	if tx.Loaded.failure == nil {
		tx.Loaded.failure = err
	}
	if tx.Loaded.Index != nil {
		tx.Loaded.Index.Fail(err)
	}
}

// Ended returns the error that a function on the transaction ends with. That is its own error,
// unless it used rows that could not be read at a place where no error can be returned.
func (tx *Tx) Ended(err error) error {
	l := &tx.Loaded
	failure := l.failure
	if failure == nil && l.Index != nil {
		failure = l.Index.Err()
	}
	if failure == nil && l.Calendar != nil {
		failure = l.Calendar.Err()
	}
	return cmp.Or(failure, err)
}

// NewTx starts a transaction on rows, at the file's own current time.
func NewTx(opt *Options, path string, logged bool, warned *sync.Once, rows *file.Recorder) (*Tx, error) {
	tx := &Tx{Opt: opt, Path: path, Logged: logged, Warned: warned, File: rows}
	tx.Now = tx.Opt.Now().Unix()
	tx.Loaded = NewLoaded(tx)
	tx.State = row.State{NextResource: index.FirstDeclared, NextJob: 1, NextReservation: 1}
	payload, err := tx.File.Get(row.Meta, row.KeyState)
	if err == nil && payload != nil {
		err = row.StateRow.Read(&tx.State, row.KeyState, payload)
	}
	if err != nil {
		return nil, err
	}
	if tx.State.AsOf == 0 {
		tx.State.UsageSince, tx.State.NodesSince = tx.Now, tx.Now
	}
	return tx, nil
}

// Writable reports whether the transaction may change things.
func (tx *Tx) Writable() bool { return tx.File.Writable() }

// Time returns the transaction's instant, in whole seconds.
func (tx *Tx) Time() time.Time { return time.Unix(tx.Now, 0) }

// Spoil records that a change failed halfway, in case the caller continues regardless.
func (tx *Tx) Spoil(err error) error {
	if err != nil && tx.Spoilt == nil {
		tx.Spoilt = fmt.Errorf("the transaction cannot be kept, a change in it failed: %w", err)
	}
	return err
}

// Changed reports whether there is something to commit.
func (tx *Tx) Changed() bool { return tx.Dirty || tx.File.Changed() }

// Flush writes changes that were kept in memory.
func (tx *Tx) Flush() error {
	l := &tx.Loaded
	if err := tx.agree(); err != nil {
		return err
	}
	if l.Batches != nil {
		if err := l.Batches.Flush(); err != nil {
			return err
		}
	}
	if l.Index != nil {
		if err := l.Source.FlushIndex(l.Index); err != nil {
			return err
		}
	}
	if l.Calendar != nil {
		if err := l.Source.FlushCalendar(l.Calendar); err != nil {
			return err
		}
	}
	for _, flush := range []func() error{l.Rooms.Flush, l.Freed.Flush, l.Tallies.Flush, l.Past.Flush} {
		if err := flush(); err != nil {
			return err
		}
	}
	if !tx.Changed() {
		return nil
	}
	if what := tx.State.Exhausted(); what != "" {
		return fmt.Errorf("%w: no %s numbers are left", row.ErrConflict, what)
	}
	return tx.File.Put(row.Meta, row.KeyState, row.StateRow.Encode(&tx.State))
}

// Index returns the transaction's node index, loaded on demand.
func (tx *Tx) Index() (*index.Index, error) {
	if tx.Loaded.Index == nil {
		defs, err := tx.Resources()
		if err != nil {
			return nil, err
		}
		set, err := tx.Settings()
		if err != nil {
			return nil, err
		}
		tx.Loaded.Index = index.New(defs, set.IndexedBy(defs), tx.Loaded.Source,
			index.Limits{Buckets: tx.State.NextBucket, Nodes: tx.State.NextNode})
	}
	return tx.Loaded.Index, nil
}

// Calendar returns the calendar of the nodes, loaded on demand.
func (tx *Tx) Calendar() *timeline.Calendar {
	if tx.Loaded.Calendar == nil {
		tx.Loaded.Calendar = timeline.NewCalendar(tx.Loaded.Source, tx.Now, nodes.Grace)
		tx.Loaded.Calendar.Overrun = tx.Overrun
	}
	return tx.Loaded.Calendar
}

// Written returns a number that grows with each change of the transaction.
func (tx *Tx) Written() uint64 {
	return uint64(tx.File.AllWrites()) + tx.State.Invalidations + tx.State.NextJob
}

// startCount counts the changes of a transaction that let something start, for its commit.
type startCount struct {
	Clock uint64 // the number of changes when the clock was up to date
	None  uint64 // the number of changes that let nothing start
}

// StartsNone makes a change that lets nothing start or stop.
func (tx *Tx) StartsNone(change func() error) error {
	was := tx.Written()
	err := change()
	tx.Starts.None += tx.Written() - was
	return err
}

// StartsLooked records that a cycle has examined the queue, at this number of changes. What the
// clock did before is settled, too.
func (tx *Tx) StartsLooked(since uint64) {
	if since == tx.Starts.Clock {
		tx.Starts.None = tx.Written()
		return
	}
	tx.Starts.None += tx.Written() - since
}

// MayStart reports whether the transaction has changed anything that may let something start or
// stop.
func (tx *Tx) MayStart() bool { return tx.Written() > tx.Starts.None }

// Decay returns the accounting in which older use counts less.
func (tx *Tx) Decay() (usage.Decay, error) {
	set, err := tx.Settings()
	if err != nil {
		return usage.Decay{}, err
	}
	return usage.Decay{Kept: set.Decays, HalfLife: Seconds(set.HalfLife), Unit: set.ShareUnit}, nil
}

// Batches returns the batches of the transaction.
func (tx *Tx) Batches() *batches.Batches {
	if tx.Loaded.Batches == nil {
		tx.Loaded.Batches = batches.New(tx.File, tx.Now, tx)
	}
	return tx.Loaded.Batches
}

// MaxText is the longest reason or other description, in bytes.
const MaxText = 1024

// CheckText refuses a reason, comment or the like that is too long to store.
func CheckText(what, text string) error {
	if len(text) > MaxText {
		return fmt.Errorf("%w: the %s has %d bytes; at most %d are kept", row.ErrInvalid, what, len(text), MaxText)
	}
	return nil
}

// Wish returns the reason for an action that the transaction's actor requests.
func (tx *Tx) Wish(why string) row.Reason {
	r := row.Because(row.CauseRequest, why)
	if a := tx.Opt.Actor; a != nil {
		r.By = a.User
	}
	return r
}

// Outrun is the reason of a job that has lost its plan to jobs before it.
var Outrun = row.Because(row.CauseDisplaced, "jobs before it took its place")
