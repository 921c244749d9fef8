package simulate

import (
	"slices"

	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/text"
)

// Durations are the durations that jobs are planned with.
type Durations uint8

// The durations. No database plans by the last: it is only for comparison.
const (
	AskedDurations  Durations = iota // the requested times
	ActualDurations                  // the run times, as if users knew them
)

// DurationNames holds the name of each kind of durations.
var DurationNames = []string{AskedDurations: "asked", ActualDurations: "actual"}

// readDurations reads the flag for durations.
func (o *Asked) readDurations(c Flags) error {
	word := c.String("durations")
	i := slices.Index(DurationNames, word)
	if i < 0 {
		return usage.Errorf("--durations: %w", text.NotOneOf(word, DurationNames))
	}
	o.Durations = Durations(i)
	return nil
}
