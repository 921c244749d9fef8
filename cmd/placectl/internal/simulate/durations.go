package simulate

import (
	"slices"

	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer/backfill"
)

// Durations are the durations that jobs are planned with.
type Durations uint8

// The durations. No database plans by the last two: they are only for comparison.
const (
	AskedDurations   Durations = iota // the requested times
	ActualDurations                   // the run times, as if users knew them
	LearnedDurations                  // learned from the user's last two jobs, shortest first: EASY++
)

// DurationNames holds the name of each kind of durations.
var DurationNames = []string{AskedDurations: "asked", ActualDurations: "actual", LearnedDurations: "learned"}

// readDurations reads the flag for durations.
func (o *Asked) readDurations(c Flags) error {
	word := c.String("durations")
	i := slices.Index(DurationNames, word)
	if i < 0 {
		return usage.Errorf("--durations: %w", text.NotOneOf(word, DurationNames))
	}
	if o.Durations = Durations(i); o.Durations != LearnedDurations {
		return nil
	}
	for _, flag := range []string{"nodes", "shares", "forecast"} {
		if c.IsSet(flag) {
			return usage.Errorf("--durations learned counts only processors and excludes --%s", flag)
		}
	}
	if slices.ContainsFunc(o.Policies, func(r Rule) bool { return r.Policy != backfill.EASY }) {
		return usage.Errorf("--durations learned needs --policy easy")
	}
	return nil
}

// users returns the users of the jobs.
func (t *Trace) users() []string {
	users := make([]string, len(t.of))
	for i, j := range t.of {
		users[i] = j.User
	}
	return users
}
