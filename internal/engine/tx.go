package engine

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"sort"
	"time"

	"github.com/placectl/placectl/internal/answers"
	"github.com/placectl/placectl/internal/ask"
	"github.com/placectl/placectl/internal/batch"
	"github.com/placectl/placectl/internal/check"
	"github.com/placectl/placectl/internal/cluster"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
)

// Format is the file format that this version writes. Older ones are migrated in one
// transaction when first written to; newer ones are refused.
const Format = row.Format

// Tx is a transaction. It reads rows on demand, keeps changes in memory if that is cheaper,
// and writes them when it commits. It is not safe for concurrent use, and ends with the
// function it was given to. Its methods are grouped by topic: Jobs, Nodes, Reservations and so
// on.
type Tx struct{ k *kernel.Tx }

// TxOf and DBOf return what is below a transaction and a handle of package store, which sets them. So
// the packages beside store get at it, and programs do not.
var (
	TxOf func(tx any) *Tx
	DBOf func(db any) *DB
)

// Writable reports whether the transaction may change things.
func (tx *Tx) Writable() bool { return tx.k.Writable() }

// Now returns the transaction's instant, in whole seconds.
func (tx *Tx) Now() time.Time { return tx.k.Time() }

// Identity returns the identity that tells the database from others. Files of older formats
// have none until they are first written to.
func (tx *Tx) Identity() (Identity, error) { return tx.k.Identity() }

// Copy says why nothing is executed from the database: its file is a copy of it. It returns "" for
// the database itself.
func (tx *Tx) Copy() (why string, err error) { return tx.k.Copy() }

// Executing fails with ErrCopy, which is also an ErrConflict, if the database is a copy.
func Executing(tx *Tx) error { return tx.k.Executing() }

// Suppose runs fn on a separate transaction that sees what this reader sees and may change
// anything. Its changes exist only in memory and are gone when fn returns. Other processes
// read and write meanwhile. In it, the policy local takes nodes in the order of their
// declaration.
func (tx *Tx) Suppose(fn func(*Tx) error) error {
	return queue.Suppose(tx.k, func(k *kernel.Tx) error { return fn(&Tx{k}) })
}

// Rest makes the rest of the transaction take the expected starts that are kept: it never plays the queue.
func Rest(tx *Tx) { queue.Rest(tx.k) }

// begin starts a transaction: counters and the clock.
func (db *DB) begin(r *file.Recorder) (*Tx, error) {
	tx, err := db.load(r)
	if err != nil {
		return nil, err
	}
	db.sayCopy(tx)
	return tx, queue.Pass(tx.k)
}

// sayCopy says once that nothing is executed from the database.
func (db *DB) sayCopy(tx *Tx) {
	if db.opt.Copied == nil || tx.k.Logged {
		return
	}
	db.copied.Do(func() {
		if err := Executing(tx); errors.Is(err, ErrCopy) {
			db.opt.Copied(err)
		}
	})
}

// load starts a transaction at the file's own current time.
func (db *DB) load(r *file.Recorder) (*Tx, error) {
	k, err := kernel.NewTx(&db.opt, db.Path(), db.log != nil, &db.behind, r)
	if err != nil {
		return nil, err
	}
	tx := &Tx{k}
	if r.Migrated() {
		err = tx.upgrade()
	}
	return tx, err
}

// upgrade rebuilds what is derived in a file that has just been migrated.
func (tx *Tx) upgrade() error {
	now := tx.k.Now
	tx.k.Now = tx.k.State.AsOf
	err := check.NewFindings(func(string) {}).Repair(check.Of(tx.k))
	tx.k.Now, tx.k.Loaded = now, kernel.NewLoaded(tx.k)
	tx.k.Loaded.Freed.Anywhere()
	return err
}

// flush settles what the changes left open, and writes those kept in memory.
func (tx *Tx) flush() error {
	if tx.k.Spoilt != nil {
		return tx.k.Spoilt
	}
	if tx.k.MayStart() {
		tx.k.State.Startable++
	}
	if err := tx.k.Ended(queue.Settle(tx.k)); err != nil {
		return err
	}
	return tx.k.Flush()
}

// EachEvent calls fn for the events with numbers greater than after, in order, until fn fails
// or returns false.
func (tx *Tx) EachEvent(after uint64, fn func(*Event) (more bool, err error)) error {
	return tx.k.EachEvent(after, fn)
}

// EventsSince finds a number such that the events after it are all those since an instant, and
// maybe some earlier ones. If the clock was set back, several numbers separate earlier and
// later events, and the search finds one of them. known is false if events of that time may
// have been dropped.
func EventsSince(tx *Tx, since time.Time) (after uint64, known bool, err error) {
	var first *Event
	if err := tx.EachEvent(0, func(e *Event) (bool, error) { first = e; return false, nil }); err != nil ||
		first == nil {
		return 0, false, err
	}
	if !first.Time.Before(since) {
		return 0, first.ID == 1, nil
	}
	last := tx.RecordedEvents()
	if last < first.ID {
		return first.ID - 1, true, nil
	}
	n := sort.Search(int(last-first.ID), func(i int) bool {
		late := true // true if no event is behind
		if err == nil {
			err = tx.EachEvent(first.ID+uint64(i), func(e *Event) (bool, error) {
				late = !e.Time.Before(since)
				return false, nil
			})
		}
		return late
	})
	return first.ID + uint64(n), true, err
}

// RecordedEvents returns the number of the latest event in the file. A reader also sees later
// events, which only the passing of time caused. They get their numbers when a writer records
// them.
func (tx *Tx) RecordedEvents() uint64 { return tx.k.State.Events - tx.k.Unrecorded }

// Once runs fn, unless it has run with the key before: then it puts the answer of that run
// into o. It fails with ErrKey if that run was for another request, and with ErrInvalid if the
// key is empty or too long. If fn fails, the key is not stored.
func (tx *Tx) Once(o *Once, fn func() error) error {
	if !tx.Writable() {
		return ErrReadOnly
	}
	if err := o.Valid(); err != nil {
		return err
	}
	o.Repeated, o.Refused = false, false
	request := sha256.Sum256(o.Request)
	first, err := tx.answers().Find(o.Key)
	switch {
	case err != nil:
		return err
	case first == nil:
		return tx.onceFirst(o, request, fn)
	case first.Request != request:
		return fmt.Errorf("%w: %q, of %s", ErrKey, o.Key, kernel.Stamp(first.At))
	}
	o.Answer, o.Repeated, o.First, o.Jobs = first.Text, true, first.First, first.Jobs
	return nil
}

// onceFirst runs fn and keeps its answer.
func (tx *Tx) onceFirst(o *Once, request [32]byte, fn func() error) error {
	outer, next := tx.k.Key, tx.k.State.NextJob
	tx.k.Key = o.Key
	err := fn()
	tx.k.Key = outer
	if err != nil || o.Refused {
		return err
	}
	return tx.k.Spoil(tx.keepAnswer(&row.Answer{Key: o.Key, Request: request, At: tx.k.Now, First: next,
		Jobs: tx.k.State.NextJob - next, Text: o.Answer}))
}

// keepAnswer stores an answer, and deletes some expired ones.
func (tx *Tx) keepAnswer(a *row.Answer) error {
	if there, err := tx.k.File.Get(row.Answers, []byte(a.Key)); err != nil || there != nil {
		return cmp.Or(err, fmt.Errorf("%w: %q is given twice in one transaction", ErrKey, a.Key))
	}
	set, err := tx.k.Settings()
	if err != nil {
		return err
	}
	keep := int64(set.KeepKeys / time.Second)
	if err := tx.answers().Forget(keep); err != nil {
		return err
	}
	a.Until = tx.k.Now + keep
	return tx.answers().Put(a)
}

func (tx *Tx) answers() answers.Answers {
	return answers.Answers{Rows: tx.k.File, Table: tx.k.Loaded.Answers, Now: tx.k.Now}
}

// Amend changes the stored answer of a key, if there is one: what follows a commit, such as
// launching, may add to it.
func (tx *Tx) Amend(key string, answer []byte) error {
	if !tx.Writable() {
		return ErrReadOnly
	}
	a, err := tx.answers().Find(key)
	if a == nil || err != nil {
		return err
	}
	a.Text = answer
	return tx.k.Spoil(tx.answers().Put(a))
}

// The parts of a transaction, by topic.
type (
	// Jobs are the jobs: placed at an instant, or submitted to the queue.
	Jobs = jobs.Jobs
	// Attempts are the starts of jobs: who executes them, and how they ended.
	Attempts = jobs.Attempts
	// Cycle runs the queue, says when the next cycle is needed, and plays the queue forward.
	Cycle = queue.Cycle
	// Reservations are reservations of nodes: single and standing ones, with their occurrences.
	Reservations = plan.Reservations
	// Nodes are the nodes, and what is on them.
	Nodes = cluster.Nodes
	// Devices are the devices of nodes, and which jobs have them.
	Devices = cluster.Devices
	// Config is the configuration of the database: its settings and resources.
	Config = cluster.Config
	// Queues are the queues: parts of the cluster, and what jobs in them get.
	Queues = cluster.Queues
	// Shares are the class shares.
	Shares = cluster.Shares
	// Ask answers questions: when something starts, why it waits, how the cluster is used.
	Ask = ask.Ask
	// Batches are the batches of package locality.
	Batches = batch.Batches
)

// Hook returns the program that receives the events.
func (tx *Tx) Hook() Hook { return cluster.HookOf(tx.k) }

// Hosts returns the hosts that execute attempts.
func (tx *Tx) Hosts() Hosts { return jobs.HostsOf(tx.k) }

// Limits returns the limits on how much users, groups, accounts, classes and queues may have
// at once.
func (tx *Tx) Limits() Limits { return cluster.LimitsOf(tx.k) }

// Pools returns the pools of the cluster.
func (tx *Tx) Pools() Pools { return cluster.PoolsOf(tx.k) }

// Accounts returns the accounts.
func (tx *Tx) Accounts() Accounts { return cluster.AccountsOf(tx.k) }

// Preemption returns the rules by which jobs make way for others.
func (tx *Tx) Preemption() Preemption { return cluster.PreemptionOf(tx.k) }

// Usage returns what jobs used.
func (tx *Tx) Usage() Usage { return cluster.UsageOf(tx.k) }

// Roles returns the roles of users: who may do what.
func (tx *Tx) Roles() Roles { return users.RolesOf(tx.k) }

// Priorities returns the order of jobs, and the numbers that it uses besides the jobs' own.
func (tx *Tx) Priorities() Priorities { return queue.PrioritiesOf(tx.k) }

// Jobs returns the jobs: placed at an instant, or submitted to the queue.
func (tx *Tx) Jobs() jobs.Jobs { return jobs.JobsOf(tx.k) }

// Attempts returns the starts of jobs: who executes them, and how they ended.
func (tx *Tx) Attempts() jobs.Attempts { return jobs.AttemptsOf(tx.k) }

// Cycle returns the part that runs the queue, tells when the next cycle is needed, and plays
// the queue forward.
func (tx *Tx) Cycle() queue.Cycle { return queue.CycleOf(tx.k) }

// Reservations returns the reservations of nodes: single ones, and standing ones with their
// occurrences.
func (tx *Tx) Reservations() plan.Reservations { return plan.ReservationsOf(tx.k) }

// Nodes returns the nodes, and what is on them.
func (tx *Tx) Nodes() cluster.Nodes { return cluster.NodesOf(tx.k) }

// Devices returns the devices of nodes, and which jobs have them.
func (tx *Tx) Devices() cluster.Devices { return cluster.DevicesOf(tx.k) }

// Config returns the configuration of the database: its settings and resources.
func (tx *Tx) Config() cluster.Config { return cluster.ConfigOf(tx.k) }

// Queues returns the queues: parts of the cluster, and what jobs in them get.
func (tx *Tx) Queues() cluster.Queues { return cluster.QueuesOf(tx.k) }

// Shares returns the class shares.
func (tx *Tx) Shares() cluster.Shares { return cluster.SharesOf(tx.k) }

// Ask returns the part that answers questions: when something starts, why it waits, how the
// cluster is used.
func (tx *Tx) Ask() ask.Ask { return ask.AskOf(tx.k) }

// Batches returns the batches of package locality.
func (tx *Tx) Batches() batch.Batches { return batch.BatchesOf(tx.k) }
