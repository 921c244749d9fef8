package tables

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// plainReader reads times and durations for those who bring no Reader of their own;
// it is the instant now.
type plainReader int64

// Time reads RFC 3339, 2026-11-20[ 10:00[:30]] in UTC, @epoch, now, now+1h and now-1h.
func (now plainReader) Time(text string) (time.Time, error) {
	if rest, ok := strings.CutPrefix(text, "@"); ok {
		n, err := strconv.ParseInt(rest, 10, 64)
		return time.Unix(n, 0), err
	}
	if rest, ok := strings.CutPrefix(text, "now"); ok {
		if rest == "" {
			return time.Unix(int64(now), 0), nil
		}
		d, err := time.ParseDuration(rest)
		return time.Unix(int64(now)+int64(d/time.Second), 0), err
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time: write 2026-11-20 10:00, now+2h, @1795167000 or RFC 3339", text)
}

// Duration reads 90 (seconds), 1h30m, 1:30:00 and 30:00, up to the 292 years that a
// time.Duration holds.
func (plainReader) Duration(text string) (time.Duration, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return d, nil
	}
	total, err := strconv.ParseInt(text, 10, 64)
	if err != nil && strings.Contains(text, ":") {
		total, err = clock(text)
	}
	if err != nil || total < -longest || total > longest {
		return 0, fmt.Errorf("%q is not a duration: write 90 (seconds), 1h30m or 1:30:00", text)
	}
	return time.Duration(total) * time.Second, nil
}

// clock reads 1:30:00 and 30:00 as seconds.
func clock(text string) (total int64, err error) {
	for part := range strings.SplitSeq(text, ":") {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil || total > longest {
			return 0, strconv.ErrRange
		}
		total = total*60 + int64(n)
	}
	return total, nil
}

// longest is how many seconds a time.Duration holds.
const longest = int64(math.MaxInt64 / time.Second)
