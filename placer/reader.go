package placer

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/syntax"
)

// ErrRequest matches every error about a request's text or values. The user must write the request
// differently; the state of the cluster plays no part.
var ErrRequest = syntax.ErrRequest

// reader reads the text of a request.
type reader struct {
	syntax.Scanner
	wants []Want
}

func newReader(defs *index.Defs, what, s string) (reader, error) {
	p := reader{Scanner: syntax.New(defs, what, s)}
	if len(s) > MaxText {
		return p, p.Fail(MaxText, "longer than %d bytes", MaxText)
	}
	return p, nil
}

// noResource returns the error for an unknown name, with a hint if one fits.
func (p *reader) noResource(at int, name string) error {
	switch strings.ToLower(name) {
	case "walltime", "place", "select", "nodes":
		return p.Fail(at, "%s is not a resource of a chunk: it belongs to the whole request", name)
	}
	if pool, ok := p.Defs.Pool(name); ok {
		return p.Fail(at, "%s is a pool of the whole cluster, so ask for it once: --pool %s=2, or in a resource "+
			"list, ncpus=2,%s=2", pool, pool, pool)
	}
	return p.FailAs(at, index.NoResource(name, p.Defs.Names()))
}

// count reads a number from 1 to MaxCount. Errors say what it counts: of.
func (p *reader) count(of string) (int, error) {
	start := p.At
	for syntax.IsDigit(p.Peek()) {
		p.At++
	}
	n, err := strconv.ParseUint(p.Text[start:p.At], 10, 31)
	if err != nil || n == 0 {
		return 0, p.Fail(start, "the count of %s is a whole number from 1 to %d", of, MaxCount)
	}
	return int(n), nil
}

// LastInstant is the end of the year 9999, in Unix seconds: no clock and no planned start goes beyond it.
const LastInstant = 253402300799

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
		return 0, fmt.Errorf("%w: the walltime is given twice: %d seconds in the resource list, %d beside it",
			ErrRequest, listed, seconds)
	}
	return max(seconds, listed), nil
}
