package tables

import (
	"fmt"

	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// secondsADay is the length of a day in UTC.
const secondsADay = 24 * 60 * 60

// maxDays is the most days into which a stretch of time is split.
const maxDays = 100_000

// dayPart is the part of a stretch of time in one day.
type dayPart struct{ day, start, end int64 }

// perDay splits a stretch of time at midnight UTC, into a row a day, in order. If its begin or
// end is unknown, there are no rows.
func perDay(c *Catalog) tables.Function {
	return &listFunction[dayPart]{[]getter[dayPart]{
		unitColumn("day", "its first instant, by UTC", tables.Time, func(p *dayPart) int64 { return p.day }),
		unitColumn("start", "since when, in that day", tables.Time, func(p *dayPart) int64 { return p.start }),
		unitColumn("end", "until when", tables.Time, func(p *dayPart) int64 { return p.end }),
		unitColumn("seconds", "how long that is", tables.Duration, func(p *dayPart) int64 { return p.end - p.start }),
	}, func(args []values.Value, add func(dayPart)) error {
		if args[0].IsNull() || args[1].IsNull() {
			return nil
		}
		start, err := c.instant(args[0])
		if err != nil {
			return err
		}
		end, err := c.instant(args[1])
		if err != nil {
			return err
		}
		if end-start > maxDays*secondsADay {
			return fmt.Errorf("%w stretch of time from %s to %s: per_day splits up to %d days", row.ErrInvalid,
				row.Stamp(start), row.Stamp(end), maxDays)
		}
		for start < end {
			day := start - mod(start, secondsADay)
			add(dayPart{day, start, min(end, day+secondsADay)})
			start = day + secondsADay
		}
		return nil
	}}
}

// mod is never negative.
func mod(n, by int64) int64 { return ((n % by) + by) % by }

// instant reads an argument as an instant.
func (c *Catalog) instant(v values.Value) (int64, error) {
	if v.Kind() == values.Text {
		t, err := c.time(v.String())
		return t.Unix(), err
	}
	if v.Kind() != values.Integer {
		return 0, notAnInstant(v)
	}
	return v.Int64(), nil
}
