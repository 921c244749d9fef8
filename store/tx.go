package store

import (
	"fmt"
	"iter"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/placer/fairshare"
)

// Tx is a transaction. It is for one goroutine, and ends with the function that it was given to.
type Tx struct{ tx *engine.Tx }

// Now returns the transaction's instant.
func (tx *Tx) Now() time.Time { return tx.tx.Now() }

// Identity returns a text that tells the database from others, and from its own backups.
func (tx *Tx) Identity() (string, error) {
	id, err := tx.tx.Identity()
	return fmt.Sprintf("%s.%d", id.ID, id.Epoch), err
}

// Suppose runs fn on a copy in memory of what this reader sees. Its changes are gone afterwards. Others go on
// meanwhile.
func (tx *Tx) Suppose(fn func(*Tx) error) error { return tx.tx.Suppose(toEngine(fn)) }

// listed converts a list, unless err is set.
func listed[E, T any](list []E, err error, of func(E) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	out := make([]T, len(list))
	for i, e := range list {
		if out[i], err = of(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Resources returns the resources that nodes may have, the built-in ones included.
func (tx *Tx) Resources() (*index.Defs, error) { return tx.tx.Config().Resources() }

// AddResource declares a resource. It needs the rights of an operator.
func (tx *Tx) AddResource(def index.Def) error { return tx.tx.Config().AddResource(def) }

// RemoveResource deletes a resource that no node has and no setting names, else it fails with a Conflict. It needs the
// rights of an operator.
func (tx *Tx) RemoveResource(name string) error { return tx.tx.Config().RemoveResource(name) }

// Shares returns the class shares, for SetShares after changes.
func (tx *Tx) Shares() (*fairshare.Settings, error) { return tx.tx.Shares().Get() }

// SetShares replaces the class shares. It needs the rights of an operator.
func (tx *Tx) SetShares(s *fairshare.Settings) error { return tx.tx.Shares().Set(s) }

// Settings returns all settings, by name.
func (tx *Tx) Settings() ([]Setting, error) {
	list, err := tx.tx.Config().AllSettings()
	return listed(list, err, func(s engine.Setting) (Setting, error) {
		return Setting{s.Name, s.Value, s.Default, s.Doc}, nil
	})
}

// Events iterates over what has happened, after an event number. A View also shows what only the passing of time has
// caused, and the next Update records.
func (tx *Tx) Events(after uint64) iter.Seq2[*Event, error] {
	list := func(fn func(*engine.Event) error) error {
		return tx.tx.EachEvent(after, func(e *engine.Event) (bool, error) { err := fn(e); return err == nil, err })
	}
	return kernel.Seq(list, func(e *engine.Event) (*Event, error) {
		return &Event{ID: e.ID, Time: e.Time, Job: e.Job, Attempt: e.Attempt, Node: e.Node,
			Reservation: e.Reservation, Kind: e.Event, Old: e.Old, New: e.New, Reason: reasonOf(e.Reason),
			By: e.By}, nil
	})
}

// EventsSince returns a number such that the events after it are those since an instant, and maybe some earlier ones.
func (tx *Tx) EventsSince(at time.Time) (after uint64, err error) {
	after, _, err = engine.EventsSince(tx.tx, at)
	return after, err
}
