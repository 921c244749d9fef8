package keeper

import (
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/engine"
)

// lookEvery returns how often to check whether the database has changed.
func (k *keeper) lookEvery() time.Duration {
	if strings.HasPrefix(k.Database, engine.URLScheme) {
		return 10 * time.Second
	}
	return time.Second
}

// look reads the database if it has changed, or if asked is set. It finds out whether attempts must
// stop, and whether there are any to claim.
func (k *keeper) look(ctx context.Context, asked bool) {
	stamp := k.Stamp()
	if !asked && stamp == k.seen {
		return
	}
	view, err := k.DB.Look(ctx)
	if err != nil {
		k.notef("%v", err)
		k.outdated = errors.Is(err, engine.ErrNewer)
		return
	}
	k.seen, k.health = stamp, view.Health
	lost := maps.Clone(k.running)
	maps.DeleteFunc(lost, func(n engine.Nonce, _ *attendance) bool { return k.adopted[n] != nil })
	for _, h := range view.Held {
		delete(lost, h.Nonce)
		a := k.running[h.Nonce]
		switch {
		case a != nil:
			if h.Ending || len(h.Signals) > 0 {
				a.tell(h)
			}
		case !k.knows(h.Nonce):
			if err := k.settleLost(h); err != nil {
				k.notef("%v", err)
			}
		}
	}
	for _, a := range lost {
		a.hear(func(n *news) { n.lost = true })
	}
	if len(view.Unclaimed) > 0 {
		k.looking, k.distrusts = true, view.Distrusted != "" && !k.Trust
	}
}
