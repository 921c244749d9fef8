package store

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/placer"
)

// Ask reads a request and gives it the store's defaults.
func (tx *Tx) Ask(r placer.Request) (placer.Ask, error) {
	defs, err := tx.Resources()
	if err != nil {
		return placer.Ask{}, err
	}
	set, err := tx.Settings()
	if err != nil {
		return placer.Ask{}, err
	}
	spec, err := placer.Parse(defs, r)
	if err != nil {
		return placer.Ask{}, err
	}
	if err := laterOnly(r); err != nil {
		return placer.Ask{}, err
	}
	a := placer.Ask{Spec: spec, Duration: spec.Walltime}
	if a.Duration == 0 {
		a.Duration = set.DefaultWalltime
	}
	if a.Duration < 1 || a.Duration > maxWalltime {
		return placer.Ask{}, fmt.Errorf("%w walltime of %d s: it must be from 1 s to %d s", ErrInvalid, a.Duration, maxWalltime)
	}
	if r.Queue == "" {
		return a, nil
	}
	if _, err := tx.Queue(r.Queue); err != nil {
		return placer.Ask{}, err
	}
	owns, err := tx.ownsNodes(r.Queue)
	if owns {
		a.Queue = r.Queue
	}
	return a, err
}

// laterOnly refuses what is understood and not served yet, rather than ignore it.
func laterOnly(r placer.Request) error {
	switch {
	case r.Policy != "" && !strings.EqualFold(r.Policy, "firstavailable") && !strings.EqualFold(r.Policy, "InReportedOrder"):
		return fmt.Errorf("policy %s: %w; there is firstavailable", r.Policy, ErrLater)
	case len(r.Prefer) > 0:
		return fmt.Errorf("preferring nodes: %w", ErrLater)
	case r.Reservation != "":
		return fmt.Errorf("running inside reservation %s: %w", r.Reservation, ErrLater)
	}
	return nil
}

// snapshot is what the placer decides a request of a queue on.
func (tx *Tx) snapshot(queue string) (*placer.Snapshot, error) {
	ix, err := tx.Index()
	if err != nil {
		return nil, err
	}
	set, err := tx.Settings()
	if err != nil {
		return nil, err
	}
	key := set.GroupKey
	if queue != "" {
		q, err := tx.Queue(queue)
		if err != nil {
			return nil, err
		}
		if len(q.GroupKey) > 0 {
			key = q.GroupKey
		}
	}
	return &placer.Snapshot{Index: ix, Calendar: tx.Calendar(), Now: tx.now, Endings: tx.endings,
		Rules: placer.Rules{GroupKey: resIDs(ix.Defs(), key), ExplicitSets: set.ExplicitSets, DoNotSpan: set.DoNotSpan, ExactFit: set.ExactFit}}, nil
}
