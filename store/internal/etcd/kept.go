//go:build etcd

package etcd

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"time"
)

// A lease costs a separate commit, and each verb is a process. So once a place is given up,
// its lease is kept in the folder of replicas, and the next process of the machine takes it
// from there. A process removes the lease that it takes, so that no other renews it if the
// process is killed: its place would stay in the line.

// A key in the line is reused, too. Whenever a transaction compares or reads the line, etcd
// goes through all keys that it has ever had there, until it compacts its history.

// lease is a lease for a place in the line, with the key of the place.
type lease struct {
	id      int64 // 0 for none
	granted time.Time
	key     [8]byte // 0 if there is none yet
}

// fresh reports whether a lease lasts until its place begins to renew it.
func (l lease) fresh(within time.Duration) bool {
	age := time.Since(l.granted)
	return l.id != 0 && age >= 0 && age < within
}

// leaseOfPlace takes the kept lease, or makes one.
func (d *driver) leaseOfPlace(ctx context.Context) (l lease, err error) {
	if l = d.takeLease(); l.fresh(d.renewPlace) {
		return l, nil
	}
	if l.key == [8]byte{} {
		_, _ = rand.Read(l.key[:]) // it never fails
	}
	l.granted = time.Now()
	l.id, err = d.grant(ctx, placeLease)
	return l, err
}

func (d *driver) takeLease() (l lease) {
	if d.leases == "" {
		d.mu.Lock()
		defer d.mu.Unlock()
		l, d.kept = d.kept, lease{}
		return l
	}
	mine := d.leases + "." + rand.Text()
	if os.Rename(d.leases, mine) != nil {
		return lease{}
	}
	defer os.Remove(mine)
	text, err := os.ReadFile(mine)
	if err != nil {
		return lease{}
	}
	var granted int64
	var key []byte
	if n, _ := fmt.Sscanf(string(text), "%d %d %x\n", &l.id, &granted, &key); n != 3 || len(key) != len(l.key) {
		return lease{}
	}
	l.granted, l.key = time.Unix(0, granted), [8]byte(key)
	return l
}

// keepLease keeps a lease whose place was certainly deleted.
func (d *driver) keepLease(l lease) {
	if d.leases == "" {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.kept = l
		return
	}
	mine := d.leases + "." + rand.Text()
	if os.WriteFile(mine, fmt.Appendf(nil, "%d %d %x\n", l.id, l.granted.UnixNano(), l.key), 0o600) == nil {
		_ = os.Rename(mine, d.leases)
	}
}
