package slurm

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// calendar writes instants in a zone, as SLURM_TIME_FORMAT asks.
type calendar struct {
	zone   *time.Location
	now    time.Time
	format string // of strftime; "": by how far the day is away
}

const (
	standardTime = "%Y-%m-%dT%H:%M:%S"
	longestTime  = 32 // bytes of SLURM_TIME_FORMAT
)

// calendarOf returns the calendar of a command. Like Slurm's, it complains about a format that is none,
// and goes on without it.
func calendarOf(c *fronts.Call, now time.Time) *calendar {
	format := c.Getenv("SLURM_TIME_FORMAT")
	switch {
	case format == "relative":
		format = ""
	case format == "" || format == "standard":
		format = standardTime
	case !strings.Contains(format, "%") || len(format) >= longestTime:
		fmt.Fprintf(c.Stderr, "%s: error: invalid SLURM_TIME_FORMAT = '%s'\n", c.Name, fronts.OneLine(format))
		format = standardTime
	}
	return &calendar{zone: c.Zone, now: now.In(c.Zone), format: format}
}

// stamp writes an instant, or the word none for the zero time.
func (c *calendar) stamp(t time.Time, none string) string {
	if t.IsZero() {
		return none
	}
	t = t.In(c.zone)
	if c.format == "" {
		return strftime(c.near(t), t)
	}
	return strftime(c.format, t)
}

// near returns the format for a day as far away as that of t.
func (c *calendar) near(t time.Time) string {
	switch days := 1000*(t.Year()-c.now.Year()) + t.YearDay() - c.now.YearDay(); {
	case days == -1:
		return "Ystday %H:%M"
	case days == 0:
		return "%H:%M:%S"
	case days == 1:
		return "Tomorr %H:%M"
	case days < -365 || days > 365:
		return "%-d %b %Y"
	case days < -1 || days > 6:
		return "%-d %b %H:%M"
	}
	return "%a %H:%M"
}

// conversions are those of strftime, as layouts of package time.
var conversions = map[byte]string{'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'e': "_2", 'H': "15", 'I': "03",
	'M': "04", 'S': "05", 'p': "PM",
	'z': "-0700", 'Z': "MST", 'j': "002", 'a': "Mon", 'A': "Monday", 'b': "Jan", 'h': "Jan", 'B': "January",
	'F': "2006-01-02", 'T': "15:04:05",
	'R': "15:04", 'D': "01/02/06", 'c': "Mon Jan _2 15:04:05 2006", 'x': "01/02/06", 'X': "15:04:05",
	'r': "03:04:05 PM"}

// strftime writes an instant as strftime(3) does in the C locale. What it does not know stays as it is.
func strftime(format string, t time.Time) string {
	var b strings.Builder
	for {
		text, rest, more := strings.Cut(format, "%")
		b.WriteString(text)
		if !more {
			return b.String()
		}
		rest, bare := strings.CutPrefix(rest, "-")
		if rest == "" {
			b.WriteByte('%')
			return b.String()
		}
		word := conversion(rest[0], t)
		if bare {
			word = strings.TrimLeft(word, " 0")
		}
		b.WriteString(word)
		format = rest[1:]
	}
}

func conversion(letter byte, t time.Time) string {
	_, week := t.ISOWeek()
	switch letter {
	case '%':
		return "%"
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 's':
		return strconv.FormatInt(t.Unix(), 10)
	case 'u':
		return strconv.Itoa((int(t.Weekday())+6)%7 + 1)
	case 'w':
		return strconv.Itoa(int(t.Weekday()))
	case 'V':
		return fmt.Sprintf("%02d", week)
	case 'k':
		return fmt.Sprintf("%2d", t.Hour())
	}
	if layout := conversions[letter]; layout != "" {
		return t.Format(layout)
	}
	return "%" + string(letter)
}
