package cluster

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/usage"
	"github.com/placectl/placectl/internal/users"
)

// Usage is the use by existing and archived jobs: month by month, for each user, group,
// account, class and queue. It is added up in the commits in which attempts and jobs end. Use that
// spans months is split at the ends of months in UTC.
type Usage struct{ tx *kernel.Tx }

// UsageOf returns the usage records of a transaction.
func UsageOf(tx *kernel.Tx) Usage { return Usage{tx} }

// Since returns the instant since which the use of nodes is counted: see Nodes.Used.
func (u Usage) Since() time.Time { return kernel.Instant(u.tx.State.UsageSince) }

// Reset restarts counting the use of nodes.
func (u Usage) Reset() error {
	if err := users.Operates(u.tx, "statistics"); err != nil {
		return err
	}
	u.tx.State.UsageSince = u.tx.Now
	return u.tx.File.Clear(row.Usage)
}

// UsageSpec selects usage. The zero value selects all of it, by user.
type UsageSpec struct {
	By       usage.By
	From, To time.Time // zero From: from the first use; zero To: up to now
}

// UsageTotal is the use of one subject, or of all in a day or month.
type UsageTotal struct {
	Name      string // the subject, or "" for jobs without one; a day is 2026-11-20, a month 2026-11
	Jobs      int64  // jobs that began and ended in the period
	Failed    int64  // of those jobs
	Preempted int64  // number of times that they made way for others
	Waits     time.Duration
	Held      map[string]int64 // units x seconds, by consumable, pool, or "nodes"; a unit of a size is 1024 kb
}

// UsageReport is the answer to a UsageSpec.
type UsageReport struct {
	Totals []UsageTotal // by name
	Left   int64        // jobs in no total: they were archived, and archived use counts only by whole months
}

// Total adds up the use in a period, including running jobs.
func (u Usage) Total(spec UsageSpec) (*UsageReport, error) {
	if spec.By == "" {
		spec.By = usage.ByUser
	}
	from, to := kernel.Unix(spec.From), kernel.Unix(spec.To)
	if !spec.To.IsZero() && from > to {
		return nil, fmt.Errorf("%w: usage from %s to %s", row.ErrInvalid, kernel.Stamp(from), kernel.Stamp(to))
	}
	if spec.To.IsZero() || to > u.tx.Now {
		to = u.tx.Now
	}
	totals, left, err := u.tx.Loaded.Book.Report(spec.By, from, to, u.tx.Now)
	if err != nil {
		return nil, err
	}
	out := &UsageReport{Left: left}
	for _, name := range slices.Sorted(maps.Keys(totals)) {
		t := totals[name]
		held := make(map[string]int64, len(t.Held))
		for _, h := range t.Held {
			held[h.Name] = h.Seconds
		}
		out.Totals = append(out.Totals, UsageTotal{name, t.Jobs, t.Failed, t.Preempted, kernel.Lasting(t.Waits), held})
	}
	return out, nil
}
