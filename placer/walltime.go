package placer

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// MaxWalltime is the longest walltime, in seconds. It is far beyond any job's, and small enough
// that a start time plus a walltime cannot overflow.
const MaxWalltime = 1 << 40

// walltime reads [[HH:]MM:]SS[.fraction] up to the end of the part, in seconds. Minutes and seconds
// may exceed 59, as in PBS. A fraction counts as a whole second, so that a job never gets less than
// it asked for.
func (p *reader) walltime() (int64, error) {
	start := p.At
	whole, frac, hasFrac := strings.Cut(p.Text[start:p.End], ".")
	var total int64
	fields := 0
	for field := range strings.SplitSeq(whole, ":") {
		n, err := strconv.ParseUint(field, 10, 41)
		if fields++; err != nil || fields > 3 {
			return 0, p.Fail(start, "expected a walltime such as 3600, 30:00 or 1:30:00 ([[HH:]MM:]SS)")
		}
		total = total*60 + int64(n)
	}
	if hasFrac && (frac == "" || strings.Trim(frac, "0123456789") != "") {
		return 0, p.Fail(start+len(whole)+1, "expected digits after the point")
	}
	if strings.Trim(frac, "0") != "" {
		total++
	}
	if total == 0 || total > MaxWalltime {
		return 0, p.Fail(start, "a walltime is from 1 to %d seconds", int64(MaxWalltime))
	}
	p.At = p.End
	return total, nil
}

// wallSeconds reconciles the walltime of a request's own field with that of its resource list, in
// seconds.
func wallSeconds(own time.Duration, listed int64) (int64, error) {
	if own < 0 {
		return 0, fmt.Errorf("%w: the walltime %v is negative", ErrRequest, own)
	}
	seconds := int64(own / time.Second)
	if own%time.Second != 0 {
		seconds++
	}
	if seconds != 0 && listed != 0 && seconds != listed {
		return 0, fmt.Errorf("%w: the walltime is given twice: %d seconds in the resource list, %d beside it", ErrRequest, listed, seconds)
	}
	return max(seconds, listed), nil
}
