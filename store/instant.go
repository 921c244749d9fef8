package store

import "time"

// Rows, the calendar and the placer count in whole Unix seconds, 0 for none. What goes
// in and out of the package is time.Time, its zero value for none, and time.Duration.

// instant is an instant as callers get it.
func instant(unix int64) time.Time {
	if unix == 0 {
		return time.Time{}
	}
	return time.Unix(unix, 0)
}

// unix is an instant as callers give it.
func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// lasting is so many seconds.
func lasting(seconds int64) time.Duration { return time.Duration(seconds) * time.Second }

// seconds is how long something lasts, in whole seconds, rounded away from 0: as the
// placer reads a walltime.
func seconds(d time.Duration) int64 {
	s := int64(d / time.Second)
	switch rest := d % time.Second; {
	case rest > 0:
		s++
	case rest < 0:
		s--
	}
	return s
}
