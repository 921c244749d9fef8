package locality

import (
	"fmt"
	"slices"
)

// Asked is the last request of a host with a key, and its answer. A host that did not get the
// answer asks again with the same key, and gets the same answer while it still holds any of
// it.
type Asked struct {
	Key    string // "" for none
	Slots  []int
	Fetch  []Span
	Delete []Span
}

// MaxKey limits the length of a key, in bytes.
const MaxKey = 255

func asked(key string, slots []int, g Grant) Asked {
	if key == "" || len(slots) == 0 {
		return Asked{}
	}
	return Asked{key, slots, g.Fetch, g.Delete}
}

// repeat returns what is left of the last grant of a host, if it was for the same key. It
// changes nothing.
func (o *Op) repeat(h *Host, m *Member, key string) (Grant, error) {
	if len(key) > MaxKey {
		return Grant{}, fmt.Errorf("%w: a key of %d bytes; at most %d", ErrInvalid, len(key), MaxKey)
	}
	if key == "" || key != m.Asked.Key {
		return Grant{}, nil
	}
	g := Grant{Fetch: m.Asked.Fetch, Delete: m.Asked.Delete}
	for _, slot := range m.Asked.Slots {
		if !slices.Contains(m.Live, slot) {
			continue
		}
		n, layer := o.Batch.JobOf(slot)
		e, err := o.find(h, m, n)
		if err != nil {
			return g, fmt.Errorf("%w: %v", ErrCorrupt, err) // a NotHeld here is no refusal
		}
		g.Again = true
		g.Jobs = append(g.Jobs, Given{n, layer, Span{e.j.A, e.j.B}, e.x.Until})
	}
	return g, nil
}
