package keeper

import (
	"slices"

	"github.com/placectl/placectl/internal/engine"
)

// take gives an attempt a free slot.
func (k *keeper) take(key Key) (*slot, error) {
	n := 0
	for ; n < len(k.slots); n++ {
		if sl := k.slots[n]; sl == nil || sl.Key == (Key{}) && !sl.broken {
			break
		}
	}
	if n == len(k.slots) {
		k.slots = append(k.slots, nil)
	}
	if k.slots[n] == nil {
		sl, err := k.state.openSlot(slotName(k.Host, n))
		if err != nil {
			return nil, err
		}
		k.slots[n] = sl
	}
	i := k.intent(k.self.Boot)
	if err := k.slots[n].give(key, i); err != nil {
		k.giveBack(k.slots[n])
		return nil, err
	}
	return k.slots[n], nil
}

// knows reports whether an attempt has a slot, or a result that must be reported.
func (k *keeper) knows(n engine.Nonce) bool {
	return slices.ContainsFunc(k.slots, func(sl *slot) bool { return sl != nil && sl.nonce == n }) ||
		slices.ContainsFunc(k.untold, func(a *attendance) bool { return a.result.Nonce == n })
}

// giveBack takes a slot back.
func (k *keeper) giveBack(sl *slot) {
	if sl.lines == nil { // a refused attempt has no slot
		return
	}
	if err := sl.free(); err != nil && !sl.isRemoved() {
		k.notef("%s: %v", sl.path, err)
	}
	if sl.in != k.state.epoch {
		sl.close()
	}
}
