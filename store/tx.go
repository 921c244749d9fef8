package store

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
	"go.etcd.io/bbolt"
)

// Tx is a transaction. It reads what it needs when it needs it, keeps what it
// changes in memory where that is cheaper, and writes it back when it commits.
// It is not safe for concurrent use, and ends with the function it was given to.
type Tx struct {
	db         *DB
	file       *recorder
	now        int64
	state      row.State
	dirty      bool
	spoilt     error  // a change failed halfway: nothing of the transaction may be kept
	format     uint32 // of the file
	unrecorded uint64 // so many events are a reader's own
	loaded     loaded
}

// loaded is what a transaction has read of the file so far, and changed.
type loaded struct {
	settings  *Settings
	defs      *index.Defs
	index     *index.Index
	calendar  *timeline.Calendar
	reaches   map[uint32]row.ReachBlock
	rooms     map[uint32]*roomBlock
	reader    nodeReader
	batchJobs map[batchBlock]*locality.JobBlock
	makers    []*BatchMaker // of this transaction
	endings   []ending      // by time and owner, nil unless holdEndings was called
	held      []*index.Node // by number, as of heldAt writes; see heldNode
	heldAt    int
	wakes     map[uint32]uint64 // by bucket
	woken     *roaring.Bitmap   // nodes
	wokeAll   uint64
	used      index.Node         // scratch of cpusOf
	matcher   *fairshare.Matcher // of the class shares
	queries   *queryCatalog
}

// begin starts a transaction: format, counters, and the clock.
func (db *DB) begin(b *bbolt.Tx) (*Tx, error) {
	tx, err := db.load(b)
	if err != nil {
		return nil, err
	}
	return tx, tx.advance()
}

// load starts a transaction at the instant the file stands for.
func (db *DB) load(b *bbolt.Tx) (*Tx, error) {
	tx := &Tx{db: db, file: &recorder{bolt: b}, now: db.opt.Now().Unix()}
	if db.committed != nil && b.Writable() {
		tx.file.changes = new(changeSet)
	}
	format, err := readFormat(tx.file)
	if err != nil {
		return nil, err
	}
	if format > Format {
		return nil, fmt.Errorf("%w: format %d, this one knows up to %d", ErrNewer, format, Format)
	}
	if tx.format = format; format < Format && b.Writable() {
		tx.dirty = true
		if err := migrate(tx.file, format); err != nil {
			return nil, err
		}
	}
	tx.state = row.State{NextResource: index.FirstDeclared, NextJob: 1, NextReservation: 1, UsageSince: tx.now}
	payload, err := tx.get(row.Meta, row.KeyState)
	if err != nil {
		return nil, err
	}
	if payload != nil {
		if err := tx.state.Decode(payload); err != nil {
			return nil, err
		}
	}
	return tx, tx.upgrade()
}

// upgrade rebuilds what is derived in a file that has just been migrated.
func (tx *Tx) upgrade() error {
	if tx.format >= Format || !tx.Writable() {
		return nil
	}
	tx.format, tx.state.UsageSince = Format, tx.now
	now := tx.now
	tx.now = tx.state.AsOf
	err := tx.repair(&checker{report: func(string) {}})
	tx.now, tx.loaded = now, loaded{}
	return err
}

// Writable reports whether the transaction may change things.
func (tx *Tx) Writable() bool { return tx.file.writable() }

// Now is the transaction's instant, in Unix seconds.
func (tx *Tx) Now() int64 { return tx.now }

// get finds a row's payload, nil when there is none. It lives as long as the
// transaction and must not be changed.
func (tx *Tx) get(t row.Table, key []byte) ([]byte, error) {
	payload, err := tx.file.get(t, key)
	if payload == nil || err != nil {
		return nil, err
	}
	return row.Unseal(t, key, payload)
}

// put writes a row. A reader changes its own view while time passes, and nothing after
// that.
func (tx *Tx) put(t row.Table, key, payload []byte) error {
	tx.dirty = true
	return tx.file.put(t, key, row.Seal(key, payload))
}

// remove deletes a row, if there is one.
func (tx *Tx) remove(t row.Table, key []byte) error {
	tx.dirty = true
	return tx.file.remove(t, key)
}

// empty deletes every row of a table.
func (tx *Tx) empty(t row.Table) error {
	tx.dirty = true
	return tx.file.clear(t)
}

// mark writes a row whose key says all.
func (tx *Tx) mark(t row.Table, key []byte) error { return tx.put(t, key, row.EncodeMark()) }

// each goes through the rows of a table whose keys begin with prefix, in key
// order, until fn fails or says stop. What fn changes meanwhile is no matter: see
// walk.go.
func (tx *Tx) each(t row.Table, prefix []byte, fn func(key, payload []byte) (more bool, err error)) error {
	return tx.eachFrom(t, prefix, prefix, fn)
}

// eachIn is each for a table that a file of an older format may lack.
func (tx *Tx) eachIn(t row.Table, prefix []byte, fn func(key, payload []byte) (more bool, err error)) error {
	if tx.file.table(t) == nil && tx.format < t.Since() {
		return nil
	}
	return tx.each(t, prefix, fn)
}

// eachFrom is each, beginning at a key.
func (tx *Tx) eachFrom(t row.Table, from, prefix []byte, fn func(key, payload []byte) (more bool, err error)) error {
	w, err := tx.file.walk(t, from, prefix)
	if err != nil {
		return err
	}
	defer w.end()
	return w.each(fn)
}

func hasPrefix(k, prefix []byte) bool {
	return len(k) >= len(prefix) && string(k[:len(prefix)]) == string(prefix)
}

// spoil notes that a change failed halfway, for callers that go on regardless.
func (tx *Tx) spoil(err error) error {
	if err != nil && tx.spoilt == nil {
		tx.spoilt = fmt.Errorf("the transaction cannot be kept, a change in it failed: %w", err)
	}
	return err
}

// flush writes back what is kept in memory.
func (tx *Tx) flush() error {
	if tx.spoilt != nil {
		return tx.spoilt
	}
	if err := tx.flushMakers(); err != nil {
		return err
	}
	if ix := tx.loaded.index; ix != nil {
		if err := tx.flushIndex(ix); err != nil {
			return err
		}
	}
	if c := tx.loaded.calendar; c != nil {
		if err := tx.flushCalendar(c); err != nil {
			return err
		}
	}
	if err := tx.flushRooms(); err != nil {
		return err
	}
	if err := tx.flushWakes(); err != nil {
		return err
	}
	if !tx.dirty {
		return nil
	}
	return tx.put(row.Meta, row.KeyState, tx.state.Encode())
}
