package tables

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// plainReader reads times and durations for those who bring no Reader of their own;
// it is the instant now.
type plainReader int64

// Time reads RFC 3339, 2026-11-20[ 10:00[:30]] in UTC, @epoch, now, now+1h and now-1h.
func (now plainReader) Time(text string) (int64, error) {
	if rest, ok := strings.CutPrefix(text, "@"); ok {
		return strconv.ParseInt(rest, 10, 64)
	}
	if rest, ok := strings.CutPrefix(text, "now"); ok {
		if rest == "" {
			return int64(now), nil
		}
		d, err := time.ParseDuration(rest)
		return int64(now) + int64(d/time.Second), err
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.Unix(), nil
		}
	}
	return 0, fmt.Errorf("%q is not a time: write 2026-11-20 10:00, now+2h, @1795167000 or RFC 3339", text)
}

// Duration reads 90 (seconds), 1h30m, 1:30:00 and 30:00.
func (plainReader) Duration(text string) (int64, error) {
	if strings.Contains(text, ":") {
		total := int64(0)
		for part := range strings.SplitSeq(text, ":") {
			n, err := strconv.ParseUint(part, 10, 32)
			if err != nil || total > 1<<40 {
				return 0, notDuration(text)
			}
			total = total*60 + int64(n)
		}
		return total, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, notDuration(text)
	}
	return int64(d / time.Second), nil
}

func notDuration(text string) error {
	return fmt.Errorf("%q is not a duration: write 90 (seconds), 1h30m or 1:30:00", text)
}
