package listing

import (
	"time"

	"github.com/placectl/placectl/internal/engine"
)

// Doubt says how sure expected starts are.
type Doubt struct {
	now time.Time
	Few bool // too few starts are recorded: a safe start is by walltimes
}

// DoubtOf reads it.
func DoubtOf(tx *engine.Tx) (Doubt, error) {
	d := Doubt{now: tx.Now(), Few: true}
	fs, err := tx.Cycle().Forecasts()
	if fs != nil {
		_, of := fs.Record()
		d.Few = of < engine.RecordEnough
	}
	return d, err
}

// Start says when a job is expected to start: ~10:00, or between 10:00 and 12:00 if a safe start is more than a tenth
// of the wait after the likely one, or few starts are recorded; by 12:00 if the likely one has passed. at formats
// a time.
func (d Doubt) Start(likely, safe time.Time, at func(time.Time) string) string {
	from, to := at(likely), at(safe)
	if !likely.After(d.now) && safe.After(d.now) {
		return "by " + to
	}
	if from == to || !safe.After(likely) || !d.Few && 10*safe.Sub(likely) <= likely.Sub(d.now) {
		return "~" + from
	}
	return "between " + from + " and " + to
}
