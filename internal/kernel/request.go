package kernel

import (
	"errors"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
)

// RequestCache caches the texts of requests that a transaction has read, because callers that place
// many jobs repeat them. Their meaning changes when a resource or a pool is added or removed.
type RequestCache struct {
	known map[requestText]*parsedRequest
}

type requestText struct {
	sel, place string
	walltime   time.Duration
	pools      string // besides those in a resource list
}

// parsedRequest is a parsed text and its normal form. It is read-only.
type parsedRequest struct {
	Spec       placer.Spec
	sel, place string // "" until the first request
}

// maxSayings is the maximum number of cached texts.
const maxSayings = 1024

// Read parses the texts of a request.
func (s *RequestCache) Read(defs *index.Defs, r placer.Request) (*parsedRequest, error) {
	text := requestText{r.Select, r.Place, r.Walltime, placer.FormatPools(r.Pools)}
	if again := s.known[text]; again != nil {
		return again, nil
	}
	spec, err := placer.Parse(defs, r)
	if err != nil {
		return nil, err
	}
	if s.known == nil || len(s.known) == maxSayings {
		s.known = make(map[requestText]*parsedRequest)
	}
	s.known[text] = &parsedRequest{Spec: spec}
	return s.known[text], nil
}

// Normal writes a parsed request in normal form.
func (s *RequestCache) Normal(defs *index.Defs, r placer.Request, spec placer.Spec) (sel, place string) {
	known := s.known[requestText{r.Select, r.Place, r.Walltime, placer.FormatPools(r.Pools)}]
	if known == nil || len(spec.Chunks) == 0 || &known.Spec.Chunks[0] != &spec.Chunks[0] {
		return spec.Text(defs), spec.Place.Format(defs) // it was read elsewhere
	}
	if known.sel == "" {
		known.sel, known.place = spec.Text(defs), spec.Place.Format(defs)
	}
	return known.sel, known.place
}

// Numbers converts names of nodes to numbers. It skips unknown names: the site's program may know
// more nodes than the database.
func (r rows) Numbers(names []string) ([]uint32, error) {
	var out []uint32
	for _, name := range names {
		number, ok, err := r.NodeNumber(name)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, number)
		}
	}
	return out, nil
}

// rows gives the placer access to rows.
type rows struct{ tx *Tx }

func SnapshotRows(tx *Tx) rows { return rows{tx} }

func (r rows) Node(number uint32) (*index.Node, error) {
	k, err := r.tx.Loaded.Nodes.Kept(number)
	if err != nil {
		return nil, err
	}
	return k.Node, nil
}

func (r rows) Traits(number uint32, n *index.Node) error { return r.tx.Loaded.Nodes.Traits(number, n) }

func (r rows) NodeNumber(name string) (uint32, bool, error) { return r.tx.NodeNumber(name) }

func (r rows) User(owner uint64) (string, error) {
	if row.IsReservation(owner) {
		return "", nil
	}
	j, err := r.tx.ListedJob(owner >> 1)
	if err != nil {
		return "", err
	}
	return j.User, nil
}

// Candidate is a node that a site's own policy may choose.
type Candidate struct {
	*index.Node
	Left []index.Amount // of its consumables, free now
	Jobs int            // running on it now
}

// PassOver returns nil for errors that only mean that a request cannot be varied this way.
func PassOver(err error) error {
	for _, fine := range []error{placer.ErrRequest, row.ErrNotFound, row.ErrInvalid, row.ErrConflict} {
		if errors.Is(err, fine) {
			return nil
		}
	}
	return err
}

// IsRefusal reports whether an error is about the request, not about the store.
func IsRefusal(err error) bool {
	for _, kind := range []error{placer.ErrNever, placer.ErrNotNow, placer.ErrRequest, row.ErrNotFound, row.ErrInvalid,
		row.ErrConflict} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
