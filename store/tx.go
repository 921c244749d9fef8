package store

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer/fairshare"
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
	state      counters
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
	reaches   map[uint32]reachRow
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

// counters are the clock and the numbers never used yet. One row.
type counters struct {
	asOf            int64 // the instant that the bitmaps stand for
	nextNode        uint32
	nextBucket      uint32
	nextResource    index.ResID
	nextJob         uint64
	nextReservation uint64
	usageSince      int64 // when usage.go began to count, 0 in a file that has never counted
	events          uint64
	wakes           uint64 // how often nodes were given back, or something else made room
	planned         uint64 // the waking as of which a cycle has looked at all plans
}

const stateVersion = 1

func (c *counters) encode() []byte {
	e := encoder{}
	e.byte(stateVersion)
	e.int(c.asOf)
	e.uint(uint64(c.nextNode))
	e.uint(uint64(c.nextBucket))
	e.uint(uint64(c.nextResource))
	e.uint(c.nextJob)
	e.uint(c.nextReservation)
	e.int(c.usageSince)
	e.uint(c.events)
	e.uint(c.wakes)
	e.uint(c.planned)
	return e.b
}

func (c *counters) decode(b []byte) error {
	d := decoder{b: b}
	d.byte()
	c.asOf = d.int()
	c.nextNode = uint32(d.uint())
	c.nextBucket = uint32(d.uint())
	c.nextResource = index.ResID(d.uint())
	c.nextJob = d.uint()
	c.nextReservation = d.uint()
	if len(d.b) > 0 { // the first files had no more
		c.usageSince = d.int()
	}
	if len(d.b) > 0 {
		c.events, c.wakes, c.planned = d.uint(), d.uint(), d.uint()
	}
	return d.done(tableMeta, keyState)
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
	tx.state = counters{nextResource: index.FirstDeclared, nextJob: 1, nextReservation: 1, usageSince: tx.now}
	row, err := tx.get(tableMeta, keyState)
	if err != nil {
		return nil, err
	}
	if row != nil {
		if err := tx.state.decode(row); err != nil {
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
	tx.format, tx.state.usageSince = Format, tx.now
	now := tx.now
	tx.now = tx.state.asOf
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
func (tx *Tx) get(t table, key []byte) ([]byte, error) {
	row, err := tx.file.get(t, key)
	if row == nil || err != nil {
		return nil, err
	}
	return unseal(t, key, row)
}

// put writes a row. A reader changes its own view while time passes, and nothing after
// that.
func (tx *Tx) put(t table, key, payload []byte) error {
	tx.dirty = true
	return tx.file.put(t, key, seal(key, payload))
}

// remove deletes a row, if there is one.
func (tx *Tx) remove(t table, key []byte) error {
	tx.dirty = true
	return tx.file.remove(t, key)
}

// empty deletes every row of a table.
func (tx *Tx) empty(t table) error {
	tx.dirty = true
	return tx.file.clear(t)
}

// mark writes a row whose key says all.
func (tx *Tx) mark(t table, key []byte) error { return tx.put(t, key, []byte{1}) }

// each goes through the rows of a table whose keys begin with prefix, in key
// order, until fn fails or says stop. What fn changes meanwhile is no matter: see
// walk.go.
func (tx *Tx) each(t table, prefix []byte, fn func(key, payload []byte) (more bool, err error)) error {
	return tx.eachFrom(t, prefix, prefix, fn)
}

// eachIn is each for a table that a file of an older format may lack.
func (tx *Tx) eachIn(t table, prefix []byte, fn func(key, payload []byte) (more bool, err error)) error {
	if tx.file.table(t) == nil && tx.format < tables[t].since {
		return nil
	}
	return tx.each(t, prefix, fn)
}

// eachFrom is each, beginning at a key.
func (tx *Tx) eachFrom(t table, from, prefix []byte, fn func(key, payload []byte) (more bool, err error)) error {
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
	return tx.put(tableMeta, keyState, tx.state.encode())
}
