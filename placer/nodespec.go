package placer

import (
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
)

// A node specification is what Torque and old PBS scripts write behind -l nodes=. It has parts
// joined by +. A part is a count or a host, then properties, joined by colons. #excl or #shared may
// end the whole:
//
//	2:ppn=4           two chunks of ncpus=4:mpiprocs=4
//	n7:ppn=12+1       one chunk on host n7, one of ncpus=1 anywhere
//	8:ppn=8:ssd#excl  each with ssd=True if ssd is a boolean, else feature=ssd
//
// The chunks are scattered: one on each host.

// nodePart is one part of a node specification.
type nodePart struct {
	count    int
	ppn, cpp int64 // processes per node, cpus per process; 0 if not given
	wants    []Want
}

// nodes reads a node specification up to the end of the reader's part. listed are the resources
// beside it in the list.
func (p *reader) nodes(listed []listWant) ([]Chunk, Place, error) {
	start := p.At
	place, err := p.nodeSharing()
	if err != nil {
		return nil, place, err
	}
	var parts []nodePart
	for {
		if len(parts) == MaxChunks {
			return nil, place, p.Fail(p.At, "more than %d chunks", MaxChunks)
		}
		part, err := p.nodePart()
		if err != nil {
			return nil, place, err
		}
		parts = append(parts, part)
		if p.At == p.End {
			break
		}
		p.At++ // the + at which nodePart stopped
	}
	chunks, err := p.nodeChunks(parts, listed)
	if err != nil {
		return nil, place, err
	}
	return chunks, place, p.checkSums(start, chunks)
}

// nodeSharing removes #excl or #shared from the end.
func (p *reader) nodeSharing() (Place, error) {
	place := Place{Arrange: Scatter}
	spec, suffix, ok := strings.Cut(p.Text[p.At:p.End], "#")
	if !ok {
		return place, nil
	}
	p.End = p.At + len(spec)
	switch {
	case strings.EqualFold(suffix, "excl"):
		place.Share = Excl
	case strings.EqualFold(suffix, "shared"):
		place.Share = Shared
	default:
		return place, p.Fail(p.End+1, "expected excl or shared after #, at the end of nodes=")
	}
	return place, nil
}

// nodePart reads one part and stops at the end or at a +.
func (p *reader) nodePart() (nodePart, error) {
	part := nodePart{count: 1}
	for first := true; ; first = false {
		var err error
		at := p.At
		for p.At < p.End && p.Text[p.At] != ':' && p.Text[p.At] != '+' {
			p.At++
		}
		word := p.Text[at:p.At]
		switch name, value, isPair := strings.Cut(word, "="); {
		case word == "":
			err = p.Fail(at, "expected a count, a host, ppn=N or a property")
		case first && strings.Trim(word, "0123456789") == "":
			p.At = at
			part.count, err = p.count("nodes")
		case word[0] == '^':
			err = p.Fail(at, "%q excludes nodes, which a request cannot do: name what the nodes should have", word)
		case isPair:
			err = p.nodePair(&part, at, name, value)
		default:
			err = p.nodeWord(&part, at, word, first)
		}
		if err != nil {
			return part, err
		}
		if p.Peek() != ':' {
			return part, nil
		}
		p.At++
	}
}

// nodePair handles name=value. ppn and cpp (which old PBS also calls ncpus) count
// cpus; Torque's gpus are our ngpus.
func (p *reader) nodePair(part *nodePart, at int, name, value string) error {
	valueAt := at + len(name) + 1
	switch strings.ToLower(name) {
	case "ppn":
		return p.cpuFactor(&part.ppn, at, valueAt, name)
	case "cpp", "ncpus":
		return p.cpuFactor(&part.cpp, at, valueAt, name)
	}
	def, ok := p.Defs.Lookup(name)
	if !ok && strings.EqualFold(name, "gpus") {
		def, ok = p.Defs.Lookup("ngpus")
	}
	if !ok {
		known := append(p.Defs.Names(), "ppn", "cpp", "gpus")
		return p.FailAs(at, index.NoResource(name, known))
	}
	v := *p
	v.At, v.End = valueAt, p.At
	text, err := v.value()
	if err != nil {
		return err
	}
	typed, err := p.typed(def, valueAt, text)
	if err != nil {
		return err
	}
	part.wants, err = p.add(part.wants, 0, def, typed, at)
	return err
}

// cpuFactor reads the value of ppn or cpp, which ends where the reader is.
func (p *reader) cpuFactor(to *int64, at, valueAt int, name string) error {
	v := *p
	v.At, v.End = valueAt, p.At
	n, err := v.count(name)
	switch {
	case *to != 0:
		return p.Fail(at, "%s is given twice", name)
	case err != nil:
		return err
	case v.At < v.End:
		return p.Fail(valueAt, "%s is a whole number", name)
	}
	*to = int64(n)
	return nil
}

// nodeWord handles a word without =. The first word of a part is a host; later ones are properties.
// A declared boolean is a property in both positions.
func (p *reader) nodeWord(part *nodePart, at int, word string, first bool) error {
	if !index.ValidNodeName(word) {
		return p.Fail(at, "%q is neither a host nor a property", word)
	}
	def, ok := p.Defs.Lookup(word)
	switch {
	case ok && def.Type == index.Boolean:
		yes := Want{Res: def.ID, Value: index.Value{Num: 1}}
		if slices.Contains(part.wants, yes) { // the same property twice is one property
			return nil
		}
		var err error
		part.wants, err = p.add(part.wants, 0, def, yes.Value, at)
		return err
	case first:
		part.wants = append(part.wants, Want{Res: index.Host, Value: index.Value{Str: word}})
		return nil
	}
	feature, _ := p.Defs.Get(index.Feature)
	var err error
	part.wants, err = p.add(part.wants, 0, feature, index.Value{Str: word}, at)
	return err
}

// nodeChunks turns parts into chunks. Wants are in the order of PBS: ncpus, the resources beside
// nodes=, the part's own wants, then mpiprocs.
//
// A consumable resource beside nodes= is for the whole job: it is divided equally among the nodes,
// rounded up. Any other is asked of each node.
func (p *reader) nodeChunks(parts []nodePart, listed []listWant) ([]Chunk, error) {
	var nodes int64
	for _, part := range parts {
		nodes += int64(part.count)
	}
	factor, err := p.cpuTotal(parts, listed)
	if err != nil {
		return nil, err
	}
	chunks := make([]Chunk, len(parts))
	for i, part := range parts {
		ppn := max(part.ppn, 1)
		wants := []Want{{Res: index.NCPUs, Value: index.Value{Num: ppn * max(part.cpp, 1) * factor}}}
		for _, w := range listed {
			if w.def.ID == index.NCPUs {
				continue
			}
			if w.def.Consumable && w.Value.Num > 0 {
				w.Value.Num = (w.Value.Num-1)/nodes + 1
			}
			if wants, err = p.add(wants, 0, w.def, w.Value, w.at); err != nil {
				return nil, err
			}
		}
		for _, w := range part.wants {
			def, _ := p.Defs.Get(w.Res)
			if wants, err = p.add(wants, 0, def, w.Value, p.listedAt(listed, w.Res)); err != nil {
				return nil, err
			}
		}
		if ppn > 1 && !names(wants, index.MPIProcs) { // PBS assumes one process per node anyway
			wants = append(wants, Want{Res: index.MPIProcs, Value: index.Value{Num: ppn}})
		}
		chunks[i] = Chunk{Count: part.count, Wants: wants}
	}
	return chunks, nil
}

// listedAt returns the position of a resource beside nodes=, for the error that nodes= names it
// too.
func (p *reader) listedAt(listed []listWant, id index.ResID) int {
	for _, w := range listed {
		if w.def.ID == id {
			return w.at
		}
	}
	return p.At
}

// cpuTotal handles ncpus beside nodes=: the whole job's cpus, which must be a multiple of its
// processes. It returns the cpus per process.
func (p *reader) cpuTotal(parts []nodePart, listed []listWant) (int64, error) {
	at, total, known := 0, uint64(0), false
	for _, w := range listed {
		if w.def.ID == index.NCPUs {
			at, total, known = w.at, uint64(w.Value.Num), true
		}
	}
	if !known {
		return 1, nil
	}
	var processes uint64 // at most MaxInt64 + MaxCount²: cannot overflow
	for _, part := range parts {
		if part.cpp != 0 {
			return 0, p.Fail(at, "ncpus is given twice: inside nodes= and beside it")
		}
		processes += uint64(part.count) * uint64(max(part.ppn, 1))
		if processes > total {
			break
		}
	}
	if processes > total || total%processes != 0 {
		return 0, p.Fail(at, "ncpus beside nodes= is for all nodes together: a multiple of the %d processes they run",
			processes)
	}
	return int64(total / processes), nil
}
