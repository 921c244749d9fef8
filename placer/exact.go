package placer

import (
	"fmt"
	"math"

	"github.com/placectl/placectl/index"
)

// First fit hands out chunks in the order of the select, and may fail although another assignment
// exists. On the present cluster the request then waits, as in OpenPBS, unless Rules.ExactFit is
// set. If first fit also fails on the empty cluster, waiting is no use, and any assignment will do.
// So every request that is not refused for good has a start, at the latest when everything planned
// is over. Then the search meets the problem that it solved on the empty cluster.

// ordering says whether first fit in the order of the select could ever serve a request.
type ordering uint8

const (
	unasked ordering = iota
	leadsSomewhere
	leadsNowhere
)

// exactly reports whether to look for any assignment if first fit fails.
func (m *mapping) exactly() bool {
	switch {
	case m.Rules.ExactFit:
		return true
	case m.path == NodePath && m.outer != nil:
		return m.outer.exactly()
	}
	if m.order == unasked {
		if m.order = leadsNowhere; m.firstFitsEmpty() {
			m.order = leadsSomewhere
		}
	}
	return m.order == leadsNowhere
}

// firstFitsEmpty reports whether first fit serves the request on some part of the empty cluster
// where it may be placed, now or later.
func (m *mapping) firstFitsEmpty() bool {
	for _, sm := range m.sureSets() {
		if m.inOrderWhenEmpty(sm.cands) {
			return true
		}
	}
	spans := len(m.sets) == 0 || m.Rules.SetDelay != 0 && !m.Rules.DoNotSpan && !m.Spec.Place.HasGroup
	if spans && m.inOrderWhenEmpty(m.whole) {
		return true
	}
	if m.path == NodePath {
		for _, on := range m.onHosts {
			if on.inOrderWhenEmpty(on.whole) {
				return true
			}
		}
	}
	return false
}

// inOrderWhenEmpty reports whether first fit serves the chunks when all nodes that are
// up are empty.
func (m *mapping) inOrderWhenEmpty(cands [][]index.Candidate) bool {
	if m.oneByOne() {
		return m.seek(m.Now, nil, true).inOrderOfSelect(cands)
	}
	c := collector{mapping: m, empty: true}
	for i := range m.Chunks {
		picks, found := c.chunk(m.Chunks[i].Count, cands[i])
		if found < m.Chunks[i].Count {
			return false
		}
		c.take(picks, cands[i+1:])
	}
	return true
}

// oneByOne reports whether nodes must be examined one by one to decide if the request fits.
func (m *mapping) oneByOne() bool {
	return m.path == NodePath && (m.bucketable == math.MaxInt64 || m.policy == Contiguous)
}

const (
	// searchSteps limits a search for an assignment; past it the answer is "perhaps". If it is
	// unknown whether a request fits the empty cluster, the request is refused for good, because no
	// start can be given.
	searchSteps = 50_000
	// searchesSteps limits the searches at all instants at which a request is tried, except
	// the last. At the last all nodes are free, so the search finds any request that fits the
	// empty cluster.
	searchesSteps = 20 * searchSteps
)

// searching counts the search steps spent on a request.
type searching struct {
	steps int
	last  bool // nothing is given back after the current instant
}

// search calls find with the steps that it may take; find returns the steps that it left.
func (m *mapping) search(find func(steps int) (verdict, int)) verdict {
	if m.path == NodePath && m.outer != nil {
		return m.outer.search(find)
	}
	allowed := searchSteps
	if !m.last {
		if allowed = min(allowed, searchesSteps-m.steps); allowed <= 0 {
			return perhaps
		}
	}
	v, left := find(allowed)
	m.steps += allowed - left
	return v
}

// neverTogether refuses chunks that each fit alone but never all at once.
func (m *mapping) neverTogether(cands [][]index.Candidate) error {
	alone := len(m.Chunks) < 2 || m.apart(cands)
	if m.path == NodePath && (m.policy == Contiguous || !m.ruled.IsEmpty()) {
		alone = false // counting what each node could take is not enough
	}
	verdict := yes
	if !alone {
		verdict = m.assignable(cands)
	}
	if verdict == yes {
		return nil
	}
	need := 0
	for _, c := range m.Chunks {
		need += c.Count
	}
	r := &Refusal{Kind: ErrNever, Chunk: -1, Need: need,
		Why: fmt.Sprintf("the %d chunks of the select fit one by one, but together need more nodes than there are",
			len(m.Chunks))}
	switch {
	case verdict == perhaps:
		r.Why = fmt.Sprintf("the %d chunks of the select fit one by one; no way to place them together was found, "+
			"even on the empty cluster, when the search was given up after %d steps", len(m.Chunks), searchSteps)
	case m.path == NodePath && m.policy == Contiguous:
		r.Why = "there are not so many nodes in a row that could serve it"
	case len(m.Chunks) == 1:
		r.Why = fmt.Sprintf("chunk 1 (%s): the nodes' own rules about sharing leave too few for %d",
			m.Chunks[0].Text(m.Index.Defs()), need)
	}
	return r
}

// apart reports whether no two chunks compete for a bucket. Then each can have at the same time
// what it can have alone.
func (m *mapping) apart(cands [][]index.Candidate) bool {
	for i := range cands {
		for j := range i {
			if compete(cands[i], cands[j]) {
				return false
			}
		}
	}
	return true
}

// compete reports whether two chunks have a bucket in common. Candidates come in
// the order of index.CompareBuckets.
func compete(a, b []index.Candidate) bool {
	for len(a) > 0 && len(b) > 0 {
		switch order := index.CompareBuckets(a[0].Bucket, b[0].Bucket); {
		case order == 0:
			return true
		case order < 0:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return false
}
