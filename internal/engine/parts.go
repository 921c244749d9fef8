package engine

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/kernel"
)

// Functions of many goroutines share a commit. While one commit is under way, the next functions gather; then all
// of them are parts of one transaction beside readers. Each part is a transaction of its own: it reads what the
// parts before it have left, and what it changed is dropped if it fails. So no timer decides how long to wait for
// others, and a single caller does not wait. The idea is bbolt's DB.Batch, which runs a failed function again
// alone, as it has no parts.

// The most parts of a transaction, and the time after which none begins: other processes wait for it.
const (
	mostParts = 256
	partsTime = 100 * time.Millisecond
)

// parts are the functions that wait for their transaction.
type parts struct {
	mu      sync.Mutex
	waiting []*part
	led     bool // a goroutine runs transactions until none waits
}

// part is a function in a transaction. What comes of it is set anew each time it runs.
type part struct {
	ctx  context.Context
	fn   func(*Tx) error
	tx   *Tx
	err  error
	died any           // what it panicked with
	left bool          // it ended its goroutine
	over chan struct{} // is closed once all that is final
}

// Batch is Update for functions that many goroutines call at once: they share a commit, and each succeeds or
// fails alone. fn runs in another goroutine; a panic, or the end of that goroutine, is passed on to the caller's.
// Without others it is Update, and so it is if the database is kept in a log.
func (db *DB) Batch(fn func(*Tx) error) error { return db.BatchContext(context.Background(), fn) }

// BatchContext is Batch. It fails with the context's error if that ends before fn begins.
func (db *DB) BatchContext(ctx context.Context, fn func(*Tx) error) error {
	if db.log != nil {
		return db.UpdateContext(ctx, fn)
	}
	p := &part{ctx: ctx, fn: fn, over: make(chan struct{})}
	if db.parts.join(p) {
		go db.lead()
	}
	late := time.NewTimer(db.opt.LockTimeout)
	defer late.Stop()
	select {
	case <-p.over:
	case <-ctx.Done():
		if db.parts.withdraw(p) {
			return context.Cause(ctx)
		}
	case <-late.C: // maybe it is called by a part
		if db.parts.withdraw(p) {
			return waited(ErrLocked, true)
		}
	}
	<-p.over
	switch {
	case p.died != nil:
		panic(p.died)
	case p.left:
		runtime.Goexit()
	}
	return p.err
}

// join adds a part. It reports whether the caller has to see to it that someone leads.
func (ps *parts) join(p *part) (first bool) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.waiting = append(ps.waiting, p)
	first = !ps.led
	ps.led = true
	return first
}

// withdraw removes a part that still waits.
func (ps *parts) withdraw(p *part) (done bool) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	at := slices.Index(ps.waiting, p)
	if at >= 0 {
		ps.waiting = slices.Delete(ps.waiting, at, at+1)
	}
	return at >= 0
}

// take returns the parts that have waited longest.
func (ps *parts) take() []*part {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	n := min(len(ps.waiting), mostParts)
	list := slices.Clone(ps.waiting[:n])
	ps.waiting = slices.Delete(ps.waiting, 0, n)
	return list
}

// all returns the parts that wait.
func (ps *parts) all() []*part {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return slices.Clone(ps.waiting)
}

// giveBack lets parts wait for the next transaction, before all others.
func (ps *parts) giveBack(list []*part) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.waiting = append(slices.Clone(list), ps.waiting...)
}

// alone returns the part that waits if there is just one. Without any it ends the lead.
func (ps *parts) alone() (p *part, more bool) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	switch len(ps.waiting) {
	case 0:
		ps.led = false
		return nil, false
	case 1:
		p, ps.waiting = ps.waiting[0], nil
	}
	return p, true
}

// lead runs transactions until no part waits.
func (db *DB) lead() {
	for {
		p, more := db.parts.alone()
		switch {
		case !more:
			return
		case p != nil:
			db.single(p)
		default:
			db.together()
		}
	}
}

// single runs a part as a transaction.
func (db *DB) single(p *part) {
	p.err = db.write(p.ctx, p.run, true)
	close(p.over)
}

// errNoParts means that no part of the transaction could fail alone: the file is of an older format, or others
// were faster several times.
var errNoParts = errors.New("the transaction has no parts")

// together runs all parts that wait once the file can be had, or those for which there is time.
func (db *DB) together() {
	var list []*part
	changed, asked := false, db.parts.all()
	others := db.running.Add(1) > 1
	defer db.running.Add(-1)
	err := db.file.UpdateContext(context.Background(), true, func(r *file.Recorder) (bool, error) {
		if list == nil {
			list = db.parts.take()
		}
		if err := db.mayWriteNow(r); err != nil {
			return false, err
		}
		until := time.Now().Add(partsTime)
		for i, p := range list {
			if i > 0 && time.Now().After(until) {
				db.parts.giveBack(list[i:])
				list = list[:i]
				break
			}
			var has bool
			if has, p.err = r.Part(func() error { return db.runPart(r, p) }); !has {
				return false, errNoParts
			}
		}
		changed = r.Changed()
		return changed, nil
	})
	switch {
	case errors.Is(err, errNoParts):
		for _, p := range list {
			db.single(p)
		}
		return
	case list == nil: // the file could not be had; who came meanwhile has waited for less
		err = waited(err, others)
		list = slices.DeleteFunc(asked, func(p *part) bool { return !db.parts.withdraw(p) })
	case err == nil && changed:
		db.changed.Store(true)
	}
	for _, p := range list {
		switch {
		case err != nil && p.err == nil:
			p.err = err
		case p.err == nil && changed:
			p.tx.k.Committed(db.file.Last())
		}
		p.err = kernel.OfStore(p.err)
		close(p.over)
	}
}

// runPart runs a part on the rows as those before it have left them.
func (db *DB) runPart(r *file.Recorder, p *part) (err error) {
	if p.tx, err = db.begin(r); err != nil {
		return err
	}
	if err := p.tx.k.Ended(p.run(p.tx)); err != nil {
		return err
	}
	if err := p.tx.flush(); err != nil || !p.tx.k.Changed() {
		return err
	}
	return p.tx.k.Parted()
}

// errLeft means that a part did not return.
var errLeft = errors.New("the function of a transaction ended its goroutine")

// run calls the function, in a goroutine that it may end.
func (p *part) run(tx *Tx) (err error) {
	p.died, p.left = nil, true
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		defer func() {
			if p.left {
				p.died = recover()
			}
		}()
		err = file.Guard(func() error {
			if err := context.Cause(p.ctx); err != nil { // the parts before it took long
				return err
			}
			return p.fn(tx)
		})
		p.left = false
	}()
	<-returned
	if p.left {
		return errLeft
	}
	return err
}
