package keeper

import "time"

// The reports of a turn share a commit. If it fails, each is repeated alone. One that fails alone, too, is
// put off, so that it delays no other, and is repeated when its own pause is over.

// firstWait is the first pause before a report is repeated that the database has not accepted. patience
// bounds the pauses.
const (
	firstWait = 250 * time.Millisecond
	patience  = time.Minute
)

// retry says when to repeat a report.
type retry struct {
	wait  time.Duration // the last pause, 0 for a report that was not put off
	again time.Time
	works bool   // the database has accepted something since
	said  string // the last error
}

func longer(pause time.Duration) time.Duration { return min(max(2*pause, firstWait), patience) }

// reports returns what to report in the next turn, and whether nothing else may be in it.
func (k *keeper) reports(now time.Time) (list []*attendance, alone bool) {
	var late *attendance
	for _, a := range k.untold {
		switch {
		case !a.isPostponed():
			list = append(list, a)
		case late == nil && !now.Before(a.retry.again):
			late = a
		}
	}
	if k.careful = k.careful && len(list) > 0; k.careful {
		list = list[:1]
	}
	if k.repeats = late != nil && (!k.repeats || len(list) == 0 && !k.looking); k.repeats {
		return []*attendance{late}, true
	}
	return list, k.careful
}

func (a *attendance) isPostponed() bool { return a.retry.wait > 0 }

// postpone puts a report off. It notes each error once.
func (k *keeper) postpone(a *attendance, why error) {
	r := &a.retry
	if why.Error() != r.said {
		k.notef("%s: %v", a.slot.Key, why)
	}
	r.wait, r.said = longer(r.wait), why.Error()
	r.again = time.Now().Add(r.wait)
}

// accepts repeats at once the reports that were put off while the database accepted nothing. They may have
// failed for the same reason as all others.
func (k *keeper) accepts() {
	for _, a := range k.untold {
		if r := &a.retry; a.isPostponed() && !r.works {
			r.works, r.again = true, time.Time{}
		}
	}
}

// due returns when the next turn may be made: at the end of the pause of turns, or of the first report that
// was put off. It is the zero time if nothing pauses.
func (k *keeper) due() (at time.Time) {
	if !k.again.IsZero() { // no report is repeated before
		return k.again
	}
	for _, a := range k.untold {
		if a.isPostponed() && (at.IsZero() || a.retry.again.Before(at)) {
			at = a.retry.again
		}
	}
	return at
}
