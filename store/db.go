package store

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/kernel"
)

// DB is a handle on a database. Several goroutines may use it. The file is locked only during
// transactions.
type DB struct {
	db    *engine.DB
	open  context.Context // ends with Close
	close context.CancelFunc
}

// Options configure a handle. The zero value and nil work.
type Options struct {
	LockTimeout time.Duration              // how long a transaction waits for others; 0: 30 s
	Now         func() time.Time           // the clock; nil: time.Now
	Actor       *Actor                     // whose rights apply; nil: everything is permitted
	Local       func([]Candidate) []string // see Candidate; nil: nodes are taken as declared
	Log         *slog.Logger               // receives problems that do not stop work; may be nil
	Simulation  bool                       // Create: any clock may write, for tests and simulations
}

// Actor is a user on whose behalf transactions run, with the rights of the user's role.
type Actor struct {
	UID    uint32                  // events keep it
	User   string                  // its name
	Member func(group string) bool // reports whether the user is in a group; nil: in none
}

// Candidate is a node that the policy local may take. Options.Local gets all of them, and returns their names
// in the order in which to take them; those that it omits come last. It must not begin a transaction.
type Candidate struct {
	*index.Node
	Left []index.Amount // of what jobs use up, free now
	Jobs int            // running on it now
}

// engine returns the options of the handle below.
func (o *Options) engine() *engine.Options {
	if o == nil {
		return new(engine.Options)
	}
	out := &engine.Options{LockTimeout: o.LockTimeout, Now: o.Now, AnyTime: o.Simulation}
	if a := o.Actor; a != nil {
		out.Actor = &engine.Actor{UID: a.UID, User: a.User, Member: a.Member}
	}
	if o.Local != nil {
		out.Local = func(list []engine.Candidate) []string {
			return o.Local(kernel.Converted(list, func(c engine.Candidate) Candidate { return Candidate(c) }))
		}
	}
	if log := o.Log; log != nil {
		out.Warn = func(text string) { log.Warn(text) }
		out.LocksFail = func(text string) { log.Error(text) }
		out.Copied = func(err error) { log.Warn(err.Error()) }
		out.Detail = func(text string) { log.Debug(text) }
	}
	return out
}

// Create makes a new database and runs setup, which may be nil, on it before it gets its name. It
// fails with ErrExists if the name is taken; then setup does not run.
func Create(path string, opt *Options, setup func(*Tx) error) error {
	return engine.Create(path, opt.engine(), toEngine(setup))
}

// Open returns a handle on a database. It fails with ErrNotFound, ErrNotOurs, ErrUnsafe, ErrNewer,
// ErrDamaged or ErrLocked.
func Open(path string, opt *Options) (*DB, error) {
	db, err := engine.Open(path, opt.engine())
	if err != nil {
		return nil, err
	}
	out := &DB{db: db}
	out.open, out.close = context.WithCancel(context.Background())
	return out, nil
}

// Close releases the handle. Its methods then fail with ErrClosed. Close does not wait for transactions that have begun
// or wait for the file: they are carried out, or fail with ErrClosed too.
func (db *DB) Close() error {
	db.close()
	return db.db.Close()
}

// Path returns the name of the database's file, absolute if the working directory has changed since Open.
func (db *DB) Path() string { return db.db.Path() }

// View runs fn on the present state. Changes in it fail with ErrReadOnly.
func (db *DB) View(fn func(*Tx) error) error { return db.db.View(toEngine(fn)) }

// ViewContext is View, but stops waiting for the file when ctx ends; fn, once begun, runs to its end.
func (db *DB) ViewContext(ctx context.Context, fn func(*Tx) error) error {
	return db.db.ViewContext(ctx, toEngine(fn))
}

// Update runs fn and commits its changes, all or none. It returns nil once they are on disk, and
// ErrUnknown if the commit failed on its way there, so that the changes may or may not be there: see
// UpdateOnce.
func (db *DB) Update(fn func(*Tx) error) error { return db.db.Update(toEngine(fn)) }

// UpdateContext is Update, but stops waiting for the file when ctx ends; fn, once begun, runs to its
// end. So it may return nil though ctx has ended: give back what nothing will read.
func (db *DB) UpdateContext(ctx context.Context, fn func(*Tx) error) error {
	return db.db.UpdateContext(ctx, toEngine(fn))
}

// Batch is Update for functions that many goroutines call at once: they share a commit, and each succeeds or fails
// alone. Use it where requests come faster than the disk commits; without others it is Update. fn runs in another
// goroutine: if it panics or ends that, so does the caller's. Do not call Batch inside a transaction.
func (db *DB) Batch(fn func(*Tx) error) error { return db.db.Batch(toEngine(fn)) }

// BatchContext is Batch, but fails with the context's error if ctx ends before fn begins. As with UpdateContext,
// nil may come after that.
func (db *DB) BatchContext(ctx context.Context, fn func(*Tx) error) error {
	return db.db.BatchContext(ctx, toEngine(fn))
}

// Once binds a change to a key, so that it happens once however often it is requested. The key is
// kept for the time of the setting keep_keys, and until the jobs that the change made have ended.
type Once struct {
	Key      string // 1 to 200 bytes, drawn by the caller for each change
	Request  []byte // what the change depends on
	Answer   []byte // set by fn, or by the call that made the change
	Repeated bool   // the change was made before
}

// UpdateOnce is Update, unless the key was used before: then it sets the answer of that time in once, and fn does not
// run. Repeat it with the same key after ErrUnknown, or after a crash. It fails with ErrKey if the key was used with
// another request, and with ErrInvalid if the key is empty or too long. If fn fails, the key is not stored.
func (db *DB) UpdateOnce(once *Once, fn func(*Tx) error) error {
	o := &engine.Once{Key: once.Key, Request: once.Request}
	err := db.db.Update(func(tx *engine.Tx) error {
		once.Answer = nil
		err := fn(&Tx{tx})
		o.Answer = once.Answer
		return err
	}, o)
	once.Answer, once.Repeated = o.Answer, o.Repeated
	return err
}

// DryRun runs fn as Update does, and discards its changes.
func (db *DB) DryRun(fn func(*Tx) error) error { return db.db.DryRun(toEngine(fn)) }

// lookEvery is how often Wait looks whether the database has changed.
const lookEvery = 20 * time.Millisecond

// Wait waits until the state of the database is no longer since, which is "" at first, and returns
// the present one. Use it to follow a database. A commit is seen within a fiftieth of a second; what only the passing
// of time changes is not: see Tx.NextChange.
func (db *DB) Wait(ctx context.Context, since string) (state string, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(db.open, stop)()
	state, err = db.wait(ctx, since)
	if db.open.Err() != nil {
		return since, ErrClosed
	}
	return state, err
}

func (db *DB) wait(ctx context.Context, since string) (state string, err error) {
	if log := db.db.Log(); log != nil {
		if state, err = log.Watch(ctx, since); ctx.Err() != nil {
			return since, ctx.Err()
		}
		return state, err
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		is, err := engine.StateOfFile(db.db.Path())
		if state := fmt.Sprint(is); err != nil || state != since {
			return state, err
		}
		select {
		case <-ctx.Done():
			return since, ctx.Err()
		case <-tick.C:
		}
	}
}

// PlayForecasts plays the queue forward and stores the expected starts, which Prospect and the table
// forecasts then show. Call it when idle in the process that runs Cycle: with many waiting jobs it takes seconds of
// this process, while others read and write. When ctx ends, it stores what it has found so far.
func (db *DB) PlayForecasts(ctx context.Context) error {
	err := db.db.Forecast(engine.ForecastSpec{Done: func() bool { return ctx.Err() != nil }})
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// toEngine makes a function of a transaction one of the transaction below.
func toEngine(fn func(*Tx) error) func(*engine.Tx) error {
	if fn == nil {
		return nil
	}
	return func(tx *engine.Tx) error { return fn(&Tx{tx}) }
}

// Packages attempts, batches and runner need what is below.
func init() {
	engine.TxOf = func(tx any) *engine.Tx { return tx.(*Tx).tx }
	engine.DBOf = func(db any) *engine.DB { return db.(*DB).db }
}
