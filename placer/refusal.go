package placer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
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
	// Overdue is the overdue job that Start rests on, which makes it a guess; 0 if there is none, or
	// unknown.
	Overdue uint64
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

// Guess returns the overdue job that makes the earliest start a guess, or 0.
func (r *Refusal) Guess() uint64 { return r.Overdue }

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
	r.Why = fmt.Sprintf("chunk %d (%s): only %d of %d would fit the cluster when empty", i+1, c.Text(m.Index.Defs()),
		found, c.Count)
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
	with := m.capacity(&m.Ask, m.candidates(&Chunk{Wants: append(before[:len(before):len(before)], w)}),
		index.Unlimited)
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

// A request that the nodes in service could never hold may still fit the cluster as it was declared:
// an operator can put nodes and devices back. Such a request is refused for now, not for ever, and
// the refusal names what has to come back. It is decided on a copy of the index in which some absent
// nodes are up, with all their devices.

// Absent is a node that is not up, or that has devices out of service.
type Absent struct {
	*index.Node
	Back *index.Node // as it would be in service
}

// devices lists the devices that would be back in service, as verbs of nodes name them, ngpus=3, and
// why the first of them is not.
func (n *Absent) devices(defs *index.Defs) (list []string, reason string) {
	for _, d := range n.Devices {
		back := n.Back.DevicesOf(d.Res)
		def, _ := defs.Get(d.Res)
		var ids []string
		for i, one := range d.Set {
			if one.Drained && !back[i].Drained {
				ids, reason = append(ids, one.ID), cmp.Or(reason, one.Reason)
			}
		}
		if ids != nil {
			list = append(list, def.Name+"="+devices.FormatIDs(ids))
		}
	}
	return list, reason
}

// text says what is out of service, and why: n1 is drained: fan.
func (n *Absent) text(defs *index.Defs) string {
	var texts []string
	say := func(what, state, reason string) {
		if what += " is " + state; reason != "" {
			what += ": " + reason
		}
		texts = append(texts, what)
	}
	if n.State != index.Up {
		say(n.Name, n.State.String(), n.Reason)
	}
	if list, reason := n.devices(defs); list != nil {
		say(strings.Join(list, ", ")+" of "+n.Name, index.Drained.String(), reason)
	}
	return strings.Join(texts, ", ")
}

// unlessAbsent turns the refusal of a request that can never run on the nodes in service into one
// for now, if it could run with nodes or devices that are out of service.
func (s *Snapshot) unlessAbsent(a Ask, err error) error {
	var r *Refusal
	if s.Absent == nil || !errors.As(err, &r) || r.Kind != ErrNever {
		return err
	}
	for _, withDevices := range []bool{false, true} {
		list, err := s.Absent(withDevices)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			continue
		}
		serves, err := s.servesWith(a, list)
		if err != nil {
			return err
		}
		if serves {
			return s.forNow(a, list, r)
		}
	}
	return err
}

// forNow returns a refusal as one for now, because a request could run with some nodes back in service.
func (s *Snapshot) forNow(a Ask, list []Absent, r *Refusal) error {
	needed, err := s.needed(a, list)
	if err != nil {
		return err
	}
	slices.SortFunc(needed, func(a, b Absent) int { return cmp.Compare(a.Number, b.Number) })
	out := *r
	out.Kind, out.Absent, out.Until = ErrNotNow, needed, never
	out.Why = s.textOf(needed) + "; " + r.Why
	return &out
}

// servesWith reports whether a request could run if some nodes were back in service.
func (s *Snapshot) servesWith(a Ask, list []Absent) (bool, error) {
	with := s.with(list)
	err := with.Possible(a)
	if err == nil && slices.ContainsFunc(a.Grants, func(g Grant) bool { return g.Affinity == Required }) {
		_, err = with.Earliest(a, s.Now)
	}
	var r *Refusal
	if err == nil || errors.As(err, &r) && r.Kind != ErrNever {
		return true, nil
	}
	if r == nil {
		return false, err
	}
	return false, nil
}

// with returns the snapshot in which some nodes are back in service.
func (s *Snapshot) with(list []Absent) *Snapshot {
	with, rows := *s, backRows{s.Rows, make(map[uint32]*index.Node, len(list))}
	with.Index, with.Absent = s.Index.Copy(), nil
	for _, n := range list {
		back, class := *n.Back, ClassNow(s.Calendar, n.Number)
		if n.State == index.Up {
			class = s.Index.ClassOf(s.Index.Bucket(n.Bucket), n.Number)
		}
		with.Index.Remove(n.Node, class)
		with.Index.Insert(&back, class)
		with.Index.SetRoom(n.Number, nil, RoomNow(s.Calendar, s.Index.Defs(), &back))
		rows.back[n.Number] = &back
	}
	with.Rows = rows
	return &with
}

// backRows are the rows of nodes, some of them back in service.
type backRows struct {
	Rows
	back map[uint32]*index.Node
}

func (r backRows) Node(number uint32) (*index.Node, error) {
	if n := r.back[number]; n != nil {
		return n, nil
	}
	return r.Rows.Node(number)
}

func (r backRows) Traits(number uint32, n *index.Node) error {
	back := r.back[number]
	if back == nil {
		return r.Rows.Traits(number, n)
	}
	res, features := append(n.Res[:0], back.Res...), append(n.Features[:0], back.Features...)
	*n = *back
	n.Name, n.Res, n.Features = "", res, features
	return nil
}

// namedAbsent is how many nodes out of service a refusal names one by one.
const namedAbsent = 3

// needed returns nodes that have to come back, of those with which a request could run. The first
// few are necessary, given the others; the rest is enough. Each step finds the shortest beginning
// of the list that is enough, beside those known to be necessary. Its last node is one of them.
func (s *Snapshot) needed(a Ask, list []Absent) (needed []Absent, err error) {
	serves := func(n int) bool {
		ok, failed := s.servesWith(a, slices.Concat(needed, list[:n]))
		err = cmp.Or(err, failed)
		return ok
	}
	for len(needed) == 0 || !serves(0) && err == nil {
		k := sort.Search(len(list)-1, func(i int) bool { return serves(i + 1) })
		if len(needed) == namedAbsent {
			return slices.Concat(needed, list[:k+1]), err
		}
		needed, list = append(needed, list[k]), list[:k]
	}
	return needed, err
}

// textOf says which nodes are out of service, and why.
func (s *Snapshot) textOf(list []Absent) string {
	var texts []string
	for i := range list[:min(namedAbsent, len(list))] {
		texts = append(texts, list[i].text(s.Index.Defs()))
	}
	if more := len(list) - namedAbsent; more > 0 {
		texts = append(texts, fmt.Sprintf("%d more are out of service", more))
	}
	return strings.Join(texts, ", ")
}

// Resume returns what node resume has to name to put nodes back into service: n1,n2, or g1 --device
// ngpus=3. Several commands are joined by a shell's &&.
func Resume(defs *index.Defs, list []Absent) string {
	var names, commands []string
	for i := range list {
		n := &list[i]
		if n.State != index.Up {
			names = append(names, n.Name)
		}
		of, _ := n.devices(defs)
		for _, d := range of {
			commands = append(commands, n.Name+" --device "+d)
		}
	}
	if names != nil {
		commands = append([]string{index.FoldNodeList(names)}, commands...)
	}
	return strings.Join(commands, " && placectl node resume ")
}
