package placer

import (
	"errors"
	"fmt"

	"github.com/placectl/placectl/index"
)

// Errors that a request can meet; *Refusal carries the details of the first two.
var (
	// ErrNotNow: it does not fit now, but would fit an empty cluster with all nodes in service.
	ErrNotNow = errors.New("cannot run now")
	// ErrNever: it cannot fit this cluster, even when empty and with all nodes in service.
	ErrNever = errors.New("can never run")
	// ErrAbsent: it is an ErrNotNow because nodes or devices that it needs are out of service. It is
	// unknown when they come back.
	ErrAbsent = errors.New("nodes are out of service")
	// ErrLimit: it is an ErrNotNow because of a rule, though there may be room.
	ErrLimit = errors.New("a limit is reached")
)

// Refusal says why a request was not placed.
type Refusal struct {
	Kind  error  // ErrNotNow or ErrNever
	Chunk int    // the chunk that fell short, from 0; -1 if several together did
	Found int    // how many of that chunk could be placed
	Need  int    // how many were asked for
	Why   string // the shortage, in words
	// Start is when the request could start, if known: see HasStart.
	Start    int64
	HasStart bool
	// Until is the instant up to which an ErrNotNow holds if nothing is given back. After it,
	// the request may fit just because time has passed. If taking more might change the
	// refusal too, Until is the instant of the refusal itself.
	Until int64
	// Rule says that a rule keeps it from starting, whether or not there is room.
	Rule bool
	// Absent are the nodes without which it can never run: see ErrAbsent.
	Absent []Absent
}

func (r *Refusal) Error() string { return fmt.Sprintf("%v: %s", r.Kind, r.Why) }

// Shortage returns why a request was refused, without the kind of refusal. Of any other error, it
// returns the text.
func Shortage(err error) string {
	if r, ok := err.(*Refusal); ok { // one that is wrapped has more to say than its shortage
		return r.Why
	}
	return err.Error()
}

// Is lets errors.Is match ErrLimit if a rule is in the way, and ErrAbsent if nodes are out of service.
func (r *Refusal) Is(target error) bool {
	return target == ErrLimit && r.Rule && r.Kind == ErrNotNow || target == ErrAbsent && len(r.Absent) > 0
}

// Unwrap returns the kind, so that errors.Is matches it.
func (r *Refusal) Unwrap() error { return r.Kind }

// Earliest returns when the request could start, in Unix seconds, and whether that is known.
func (r *Refusal) Earliest() (int64, bool) { return r.Start, r.HasStart }

// Possible returns a *Refusal of the kind ErrNever if this cluster could not hold the request even
// when empty, and an ErrAbsent if only nodes out of service could.
func (s *Snapshot) Possible(a Ask) error {
	var m mapping
	return s.unlessAbsent(a, m.prepare(s, a))
}

// explainNever finds which demand of a chunk keeps it from ever running.
func (m *mapping) explainNever(i, found int) *Refusal {
	c := m.Chunks[i]
	r := &Refusal{Kind: ErrNever, Chunk: i, Found: found, Need: c.Count}
	for j, w := range c.Wants {
		short, had := m.lacking(c, c.Wants[:j], w)
		if short == "" {
			continue
		}
		r.Why = fmt.Sprintf("chunk %d (%s): %s", i+1, c.Text(m.Index.Defs()), short)
		if had > 0 {
			r.Why += fmt.Sprintf(" (%d of %d such chunks would fit)", found, c.Count)
		}
		return r
	}
	r.Why = fmt.Sprintf("chunk %d (%s): only %d of %d would fit the cluster when empty", i+1, c.Text(m.Index.Defs()), found, c.Count)
	if why := m.noneUp(); found == 0 && why != "" {
		r.Why = fmt.Sprintf("chunk %d (%s): %s", i+1, c.Text(m.Index.Defs()), why)
	}
	return r
}

// noneUp says why a request has no node at all: there are none, they belong to others, or all are
// down. It is "" if a node is up.
func (m *mapping) noneUp() string {
	up, others := 0, 0
	for _, b := range m.Index.Buckets() {
		if b.Queue == m.Queue {
			up += b.Up()
		} else {
			others += int(b.Total)
		}
	}
	of := ""
	if m.Queue != "" {
		of = " of queue " + m.Queue
	}
	switch n := m.Index.CountNodes(m.Queue); {
	case up > 0:
		return ""
	case n == 1:
		return "the only node" + of + " is not up"
	case n > 1:
		return fmt.Sprintf("none of the %d nodes%s is up", n, of)
	case others > 0:
		return "every node belongs to a queue, and none has been asked for"
	}
	return "there are no nodes"
}

// lacking says how one demand falls short, given the demands before it; "" if the chunk does not
// fail because of it.
func (m *mapping) lacking(c Chunk, before []Want, w Want) (string, int) {
	without := m.capacity(&m.Ask, m.candidates(&Chunk{Wants: before}), index.Unlimited)
	with := m.capacity(&m.Ask, m.candidates(&Chunk{Wants: append(before[:len(before):len(before)], w)}), index.Unlimited)
	if with >= c.Count || without < c.Count && with == without {
		return "", with
	}
	def, _ := m.Index.Defs().Get(w.Res)
	asked := def.Name + "=" + def.Format(w.Value)
	if !def.Type.Numeric() {
		return fmt.Sprintf("not enough nodes with %s: room for %d", asked, with), with
	}
	most := m.most(before, def)
	if most < w.Value.Num {
		return fmt.Sprintf("insufficient %s: %s asked for, %s is the most a node has", def.Name,
			def.Format(w.Value), def.Format(index.Value{Num: most})), with
	}
	return fmt.Sprintf("insufficient %s: room for %d with %s", def.Name, with, asked), with
}

// most returns the largest amount on a node that meets the other demands.
func (m *mapping) most(before []Want, def index.Def) int64 {
	lo, hi := int64(0), int64(1)
	has := func(n int64) bool {
		w := Want{Res: def.ID, Value: index.Value{Num: n}}
		return len(m.candidates(&Chunk{Wants: append(before[:len(before):len(before)], w)})) > 0
	}
	for hi > 0 && has(hi) {
		lo, hi = hi, hi*2
	}
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; has(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}
