package dates

import (
	"fmt"
	"strings"
)

// Format writes an instant; ok is false for an unknown format.
func Format(format string, t Instant) (string, bool) {
	c := t.civil()
	second := c.millis / 1000
	weekday := int((int64(t) + 129600000) / dayMillis % 7)
	jan1 := civil{year: c.year, month: 1, day: 1}.instant()
	yearDay := int((t - jan1) / dayMillis)
	hour12 := (c.hour+11)%12 + 1
	thursday := t + Instant((3-(weekday+6)%7)*dayMillis) // ISO 8601 takes year and week from the Thursday
	iso := thursday.civil().year
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		if i++; i >= len(format) {
			return "", false
		}
		switch format[i] {
		case 'd':
			fmt.Fprintf(&b, "%02d", c.day)
		case 'e':
			fmt.Fprintf(&b, "%2d", c.day)
		case 'f':
			fmt.Fprintf(&b, "%02d.%03d", second, c.millis%1000)
		case 'F':
			fmt.Fprintf(&b, "%04d-%02d-%02d", c.year, c.month, c.day)
		case 'g':
			fmt.Fprintf(&b, "%02d", iso%100)
		case 'G':
			fmt.Fprintf(&b, "%04d", iso)
		case 'H':
			fmt.Fprintf(&b, "%02d", c.hour)
		case 'I':
			fmt.Fprintf(&b, "%02d", hour12)
		case 'J':
			fmt.Fprintf(&b, "%.16g", float64(t)/dayMillis)
		case 'k':
			fmt.Fprintf(&b, "%2d", c.hour)
		case 'l':
			fmt.Fprintf(&b, "%2d", hour12)
		case 'j':
			fmt.Fprintf(&b, "%03d", yearDay+1)
		case 'm':
			fmt.Fprintf(&b, "%02d", c.month)
		case 'M':
			fmt.Fprintf(&b, "%02d", c.minute)
		case 'p', 'P':
			half := "am"
			if c.hour >= 12 {
				half = "pm"
			}
			if format[i] == 'p' {
				half = strings.ToUpper(half)
			}
			b.WriteString(half)
		case 'R':
			fmt.Fprintf(&b, "%02d:%02d", c.hour, c.minute)
		case 's':
			fmt.Fprintf(&b, "%d", t.Seconds())
		case 'S':
			fmt.Fprintf(&b, "%02d", second)
		case 'T':
			fmt.Fprintf(&b, "%02d:%02d:%02d", c.hour, c.minute, second)
		case 'u':
			fmt.Fprintf(&b, "%d", (weekday+6)%7+1)
		case 'U':
			fmt.Fprintf(&b, "%02d", (yearDay+7-weekday)/7)
		case 'V':
			fmt.Fprintf(&b, "%02d", int(thursday-civil{year: iso, month: 1, day: 1}.instant())/dayMillis/7+1)
		case 'w':
			fmt.Fprintf(&b, "%d", weekday)
		case 'W':
			fmt.Fprintf(&b, "%02d", (yearDay+7-(weekday+6)%7)/7)
		case 'Y':
			fmt.Fprintf(&b, "%04d", c.year)
		case '%':
			b.WriteByte('%')
		default:
			return "", false
		}
	}
	return b.String(), true
}
