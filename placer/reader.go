package placer

import (
	"strconv"
	"strings"

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
		return p.Fail(at, "%s is a pool of the whole cluster, so ask for it once: --pool %s=2, or in a resource list, ncpus=2,%s=2", pool, pool, pool)
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
