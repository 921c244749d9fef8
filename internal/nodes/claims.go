package nodes

import (
	"maps"
	"slices"

	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/limits"
)

// Jobs that a limit holds back may have claims on room in limits (see placer/cycle). Claims
// have rows of their own, and there are few: at most one for a counter. A counter counts them
// beside its holdings.

// Claims returns the claims, by job.
func (ru *Ruled) Claims() (map[uint64]*row.Claim, error) {
	if ru.claims != nil {
		return ru.claims, nil
	}
	claims := make(map[uint64]*row.Claim)
	err := ru.Rows.Each(row.Claims, nil, func(key, payload []byte) (bool, error) {
		c, err := row.ClaimRow.Decode(key, payload)
		if err == nil {
			claims[c.Job] = c
		}
		return true, err
	})
	if err == nil {
		ru.claims = claims
	}
	return claims, err
}

// claimed calls fn for what claims keep of a counter.
func (ru *Ruled) claimed(key string, fn func(limits.Holder)) error {
	claims, err := ru.Claims()
	for _, c := range claims {
		for _, h := range c.Held {
			if h.Counter == key {
				fn(c.Holder(h))
			}
		}
	}
	return err
}

// count adds a claim to the counters that are known, or removes it from them.
func (ru *Ruled) count(c *row.Claim, counts bool) {
	for _, h := range c.Held {
		counter, sign := ru.timed[h.Counter], int64(-1)
		if counts {
			sign = 1
		}
		switch {
		case counter == nil || counter.Adjust(sign*h.Amount):
		case counts:
			counter.Put(c.Holder(h))
		default:
			counter.Remove(row.JobOwner(c.Job))
		}
	}
}

// Claim makes a claim count, instead of the one that its job has. It does not write a row.
func (ru *Ruled) Claim(c *row.Claim) error {
	if err := ru.Unclaim(c.Job); err != nil {
		return err
	}
	if ru.claims == nil { // a file of an earlier format has no rows of claims
		ru.claims = make(map[uint64]*row.Claim)
	}
	ru.claims[c.Job] = c
	ru.count(c, true)
	return nil
}

// Unclaim makes the claim of a job no longer count.
func (ru *Ruled) Unclaim(job uint64) error {
	claims, err := ru.Claims()
	if c := claims[job]; c != nil {
		delete(claims, job)
		ru.count(c, false)
	}
	return err
}

// Disclaim removes the claim of a job.
func (ru *Ruled) Disclaim(job uint64) error {
	claims, err := ru.Claims()
	if claims[job] == nil || err != nil {
		return err
	}
	ru.count(claims[job], false)
	delete(claims, job)
	return ru.Rows.Remove(row.Claims, row.Key64(job))
}

// Unclaimed calls fn while the claim of a job does not count, because a job's own claim must not
// block it.
func (ru *Ruled) Unclaimed(job uint64, fn func() error) error {
	claims, err := ru.Claims()
	c := claims[job]
	if c == nil || err != nil {
		if err != nil {
			return err
		}
		return fn()
	}
	delete(claims, job)
	ru.count(c, false)
	defer func() {
		claims[job] = c
		ru.count(c, true)
	}()
	return fn()
}

// KeepClaims writes the present claims to the file. Of those that were there before, it
// removes the ones that are gone and rewrites the ones that changed.
func (ru *Ruled) KeepClaims(was map[uint64]*row.Claim) error {
	claims, err := ru.Claims()
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(was)) {
		if claims[id] == nil {
			if err := ru.Rows.Remove(row.Claims, row.Key64(id)); err != nil {
				return err
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(claims)) {
		now := row.ClaimRow.Encode(claims[id])
		if old := was[id]; old != nil && string(row.ClaimRow.Encode(old)) == string(now) {
			continue
		}
		if err := ru.Rows.Put(row.Claims, row.Key64(id), now); err != nil {
			return err
		}
	}
	return nil
}
