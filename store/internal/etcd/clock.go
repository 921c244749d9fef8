//go:build etcd

package etcd

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/placectl/placectl/store/internal/replica"
)

const (
	clocksAsked  = 3
	clockTimeout = time.Second
	// dateUnit is the unit to which a Date is rounded down. On average, adding half of it is
	// right.
	dateUnit = time.Second
)

// now returns this machine's time.
func (d *driver) now() time.Time { return time.Now() }

// Clock returns how far this machine's clock is ahead of the median of up to three members'.
// It is accurate to about a second, because answers have the time in whole seconds.
func (d *driver) Clock(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, clockTimeout)
	defer cancel()
	n := min(len(d.members), clocksAsked)
	type reading struct {
		ahead time.Duration
		err   error
	}
	came := make(chan reading, n)
	for i := range n {
		member := d.members[(int(d.best.Load())+i)%len(d.members)]
		go func() {
			ahead, err := d.clockOf(ctx, member)
			came <- reading{ahead, err}
		}()
	}
	var all []time.Duration
	var failed error
	for range n {
		if r := <-came; r.err == nil {
			all = append(all, r.ahead)
		} else {
			failed = r.err
		}
	}
	if len(all) == 0 {
		return 0, &silence{replica.ErrAway, failed}
	}
	slices.Sort(all)
	return all[(len(all)-1)/2], nil
}

// clockOf compares this machine's clock with a member's.
func (d *driver) clockOf(ctx context.Context, member string) (time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, member+"/version", nil)
	if err != nil {
		return 0, err
	}
	sent := d.now()
	res, err := d.client.Do(req)
	if err != nil {
		return 0, err
	}
	took := d.now().Sub(sent)
	res.Body.Close()
	date, err := http.ParseTime(res.Header.Get("Date"))
	if err != nil {
		return 0, fmt.Errorf("%s says no time: %w", member, err)
	}
	ours := sent.Add(took / 2).Round(0) // by the wall clock
	return ours.Sub(date.Add(dateUnit / 2)), nil
}
