package store

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/store/internal/batches"
	"github.com/placectl/placectl/store/internal/check"
	"github.com/placectl/placectl/store/internal/derived"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/nodehistory"
	"github.com/placectl/placectl/store/internal/nodes"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/rules"
	"github.com/placectl/placectl/store/internal/state"
	"github.com/placectl/placectl/store/internal/tallies"
	"github.com/placectl/placectl/store/internal/usage"
	"github.com/placectl/placectl/timeline"
)

// Tx is a transaction. It reads rows on demand, keeps changes in memory if that is cheaper, and
// writes them when it commits. It is not safe for concurrent use, and ends with the function it was
// given to.
type Tx struct {
	opt        *Options   // of the handle
	path       string     // of the database
	logged     bool       // it is kept in a log
	warned     *sync.Once // of the handle: the warning about a clock that is behind was given
	file       *file.Recorder
	now        int64
	state      row.State
	dirty      bool   // the state has changed and must be saved
	spoilt     error  // a change failed halfway: nothing of the transaction may be kept
	unrecorded uint64 // so many events are a reader's own
	key        string // the idempotency key of the change, or ""
	starts     startCount
	loaded     loaded
}

// loaded is what a transaction has read of the file so far, and changed.
type loaded struct {
	settings     *Settings
	sayings      requestCache
	defs         *index.Defs
	index        *index.Index
	calendar     *timeline.Calendar
	source       *derived.Source
	rooms        *derived.Rooms
	releases     *derived.Releases
	usage        *usage.Nodes
	book         *usage.Book
	nodes        *nodes.Rows
	batches      *batches.Batches
	freed        *derived.Freed
	matcher      *fairshare.Matcher // of the class shares
	overruns     map[uint64]int64   // how long owners that are overdue are taken to go on
	moved        []*row.Job         // placed at an instant, whose plans could not be kept
	queue        *playedQueue       // of a play; nil outside
	kept         state.Kept         // by the parts of the package
	unplaced     []*row.Job         // those of them that have no new plan yet
	displaced    []uint64           // of the queue, whose plans could not be kept: they have their turn before the commit
	counters     *derived.Counters
	tallies      *tallies.Tallies
	jobs         *state.Table[row.Job]
	attempts     *state.Table[row.Attempt]
	reservations *state.Table[row.Reservation]
	answers      *state.Table[row.Answer]
	past         *nodehistory.Log
}

func newLoaded(tx *Tx) loaded {
	rows := nodes.NewRows(tx.file, tx.Resources)
	b := derived.Base{Rows: tx.file, State: &tx.state, Now: &tx.now, Calendar: tx.calendar, Node: rows.Node, Owned: tx.ownerNodes, Overrun: tx.overdue().overrun,
		Fail: tx.failed, Dirty: func() { tx.dirty = true }}
	counters := &derived.Counters{Base: b, Rules: derived.NewRuled(b, rules.Source{Rows: tx.file, Resources: tx.Resources, ClassOf: tx.ClassOf})}
	counts := &tallies.Tallies{Rows: tx.file, EachJob: tx.eachJob}
	return loaded{nodes: rows, source: derived.NewSource(b), rooms: derived.NewRooms(b),
		releases: &derived.Releases{Base: b}, usage: &usage.Nodes{Rows: tx.file, Nodes: rows},
		book:     &usage.Book{Rows: tx.file, Resources: tx.Resources, EachJob: tx.eachJob, Attempt: tx.attempts().of, Decay: tx.Usage().decay},
		counters: counters, tallies: counts, past: &nodehistory.Log{Rows: tx.file, Now: &tx.now}, freed: &derived.Freed{Base: b},
		jobs:     state.NewTable(tx.file, &row.JobRows, counts.Count, counters.Rules.Changed),
		attempts: state.NewTable(tx.file, &row.AttemptRows, nil), reservations: state.NewTable(tx.file, &row.ReservationRows, nil), answers: state.NewTable(tx.file, &row.AnswerRows, nil)}
}

// failed keeps an error from reading derived rows, for the next use of the index to return.
func (tx *Tx) failed(err error) {
	if tx.loaded.index != nil {
		tx.loaded.index.Fail(err)
	}
}

// Format is the file format that this version writes. Older ones are migrated in one
// transaction when first written to; newer ones are refused.
const Format = row.Format

// begin starts a transaction: counters and the clock.
func (db *DB) begin(r *file.Recorder) (*Tx, error) {
	tx, err := db.load(r)
	if err != nil {
		return nil, err
	}
	return tx, tx.pass()
}

// pass brings the transaction to its instant.
func (tx *Tx) pass() error {
	tx.starts.none = tx.written()
	err := (&clockAdvance{tx: tx}).advance()
	tx.starts.clock = tx.written()
	return err
}

// load starts a transaction at the file's own current time.
func (db *DB) load(r *file.Recorder) (*Tx, error) {
	tx := &Tx{opt: &db.opt, path: db.Path(), logged: db.log != nil, warned: &db.behind, file: r}
	if err := tx.read(); err != nil {
		return nil, err
	}
	if r.Migrated() {
		return tx, tx.upgrade()
	}
	return tx, nil
}

// read reads what every transaction needs.
func (tx *Tx) read() error {
	tx.now = tx.opt.Now().Unix()
	tx.loaded = newLoaded(tx)
	tx.state = row.State{NextResource: index.FirstDeclared, NextJob: 1, NextReservation: 1, UsageSince: tx.now, NodesSince: tx.now}
	payload, err := tx.file.Get(row.Meta, row.KeyState)
	if err != nil {
		return err
	}
	if payload != nil {
		if err := tx.state.Decode(payload); err != nil {
			return err
		}
	}
	if !tx.recordsNodes() {
		tx.state.NodesSince = 0
	}
	return nil
}

// recordsNodes reports whether what nodes were is on record: formats before do not keep it.
func (tx *Tx) recordsNodes() bool { return tx.file.Format() >= row.NodePasts.Since() }

// upgrade rebuilds what is derived in a file that has just been migrated.
func (tx *Tx) upgrade() error {
	now := tx.now
	tx.state.NodesSince, tx.now = now, tx.state.AsOf
	owner, known, err := RolesOf(tx).Owner()
	if err == nil && known {
		err = tx.file.PutOwner(&owner)
	}
	if err != nil {
		return err
	}
	if err := adoptKeys(tx); err != nil {
		return err
	}
	err = check.NewFindings(func(string) {}).Repair(tx.checked())
	tx.now, tx.loaded = now, newLoaded(tx)
	tx.loaded.freed.Anywhere()
	return err
}

// Writable reports whether the transaction may change things.
func (tx *Tx) Writable() bool { return tx.file.Writable() }

// Now is the transaction's instant, in whole seconds.
func (tx *Tx) Now() time.Time { return time.Unix(tx.now, 0) }

// spoil notes that a change failed halfway, for callers that go on regardless.
func (tx *Tx) spoil(err error) error {
	if err != nil && tx.spoilt == nil {
		tx.spoilt = fmt.Errorf("the transaction cannot be kept, a change in it failed: %w", err)
	}
	return err
}

// changed reports whether there is something to commit.
func (tx *Tx) changed() bool { return tx.dirty || tx.file.Changed() }

// flush writes changes that were kept in memory.
func (tx *Tx) flush() error {
	if tx.spoilt != nil {
		return tx.spoilt
	}
	if tx.mayStart() {
		tx.state.Startable++
	}
	if err := tx.settle(); err != nil {
		return err
	}
	if b := tx.loaded.batches; b != nil {
		if err := b.Flush(); err != nil {
			return err
		}
	}
	if ix := tx.loaded.index; ix != nil {
		if err := tx.loaded.source.FlushIndex(ix); err != nil {
			return err
		}
	}
	if c := tx.loaded.calendar; c != nil {
		if err := tx.loaded.source.FlushCalendar(c); err != nil {
			return err
		}
	}
	if err := tx.loaded.rooms.Flush(); err != nil {
		return err
	}
	if err := tx.loaded.freed.Flush(); err != nil {
		return err
	}
	if err := tx.loaded.tallies.Flush(); err != nil {
		return err
	}
	if err := tx.loaded.past.Flush(); err != nil {
		return err
	}
	if !tx.changed() {
		return nil
	}
	return tx.file.Put(row.Meta, row.KeyState, tx.state.Encode())
}

// settle decides what changes have left to decide: occurrences of standing reservations that were
// missed, and plans that cannot be kept.
func (tx *Tx) settle() error {
	if tx.loaded.freed.Made() {
		if err := tx.reservations().retryStandings(false); err != nil {
			return err
		}
	}
	return tx.replan(nil)
}

// running knows which goroutines are in a transaction of a handle, and whether that one
// writes. Other goroutines may wait for their turn. The same one would wait for itself,
// and has a Tx to use.
type running struct {
	mu sync.Mutex
	by map[uint64]bool
}

// enter notes that the goroutine begins a transaction, and returns what to call at its
// end. Readers that share the file may be inside each other.
func (r *running) enter(writes, alone bool) (leave func(), err error) {
	id := goroutineID()
	r.mu.Lock()
	defer r.mu.Unlock()
	outer, inside := r.by[id]
	switch {
	case inside && (outer || writes || alone):
		return nil, ErrNested
	case inside:
		return func() {}, nil
	case r.by == nil:
		r.by = make(map[uint64]bool)
	}
	r.by[id] = writes
	return func() {
		r.mu.Lock()
		delete(r.by, id)
		r.mu.Unlock()
	}, nil
}

// goroutineID is the number of the goroutine that calls, which begins its stack trace:
// "goroutine 7 [running]:".
func goroutineID() uint64 {
	var buf [40]byte
	digits, _, _ := bytes.Cut(buf[len("goroutine "):runtime.Stack(buf[:], false)], []byte(" "))
	id, _ := strconv.ParseUint(string(digits), 10, 64)
	return id
}

// index is the node index of the transaction, loaded as it is asked.
func (tx *Tx) index() (*index.Index, error) {
	if tx.loaded.index == nil {
		defs, err := tx.Resources()
		if err != nil {
			return nil, err
		}
		set, err := tx.settings()
		if err != nil {
			return nil, err
		}
		tx.loaded.index = index.New(defs, set.signature(defs), tx.loaded.source, index.Limits{Buckets: tx.state.NextBucket, Nodes: tx.state.NextNode})
		if tx.file.Format() < 2 {
			tx.loaded.index.MarkAll(index.Ranked, index.Ruled)
		}
		if tx.file.Format() < 4 {
			tx.loaded.index.ForgetSpeeds()
		}
		if tx.file.Format() < 6 {
			tx.loaded.index.MarkAll(index.Judged)
		}
	}
	return tx.loaded.index, nil
}

// calendar is the calendar of the nodes, loaded on demand.
func (tx *Tx) calendar() *timeline.Calendar {
	if tx.loaded.calendar == nil {
		tx.loaded.calendar = timeline.NewCalendar(tx.loaded.source, tx.now, derived.Grace)
		tx.loaded.calendar.Overrun = tx.overdue().overrun
	}
	return tx.loaded.calendar
}
