//go:build etcd

package etcd

import (
	"errors"

	"github.com/placectl/placectl/store/internal/replica"
)

// From one Append to the next, which sends an entry again, the driver remembers that a copy
// may be under way, and the parts that were already put.

func (d *driver) isUnsure(id [16]byte) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.unsure[id]
}

// lose returns the error that the outcome of an entry is unknown.
func (d *driver) lose(id [16]byte, why error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unsure[id] = true
	return &silence{replica.ErrLost, why}
}

// lostBefore returns the error of a call that has not sent an entry. If an earlier call has,
// the entry's outcome is still unknown.
func (d *driver) lostBefore(id [16]byte, err error) error {
	if d.isUnsure(id) && !errors.Is(err, replica.ErrLost) {
		return &silence{replica.ErrLost, err}
	}
	return err
}

// settle forgets an entry whose outcome is known.
func (d *driver) settle(id [16]byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.unsure, id)
	delete(d.deposits, id)
}

func (d *driver) deposited(id [16]byte) *deposit {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.deposits[id]
}

func (d *driver) remember(id [16]byte, p *deposit) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.deposits[id] = p
}

// forget lets the parts of an entry be put again, under another lease.
func (d *driver) forget(id [16]byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.deposits, id)
}
