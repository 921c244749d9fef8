package main

import (
	"slices"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
)

// printStretches answers programs: a row for each stretch of the window, by
// node and then by start. An overdue job's end is when it is expected to end.
func (r *runner) printStretches(g *ganttData, w ganttWindow) error {
	p := r.printer(output.Result{Columns: []output.Column{{Name: "node"}, {Name: "kind"}, {Name: "job"}, {Name: "reservation"}, {Name: "state"},
		{Name: "start", Kind: output.Time}, {Name: "end", Kind: output.Time}, {Name: "now", Kind: output.Boolean}}})
	for i := range g.nodes {
		n := &g.nodes[i]
		now := n.barNow(w.now)
		for k := range n.bars {
			b := &n.bars[k]
			if !w.shows(b) {
				continue
			}
			owner := &g.owners[b.owner]
			kind := "job"
			if owner.Job == 0 {
				kind = "reservation"
			}
			if err := p.Row(n.name, kind, orNil(jobWord(owner.Job)), orNil(owner.Reservation), b.state(w.now), b.start, b.end, k == now); err != nil {
				return err
			}
		}
	}
	return p.Close()
}

// barNow is the stretch that a node is in, -1 for none. Of an overdue job and
// what was to follow it, that is the job.
func (n *ganttNode) barNow(now int64) int {
	return slices.IndexFunc(n.bars, func(b ganttBar) bool { return b.start <= now && now < b.end })
}

// state is the word for what becomes of a stretch; those of reservations are
// the ones that `reservation list` has.
func (b *ganttBar) state(now int64) string {
	switch {
	case b.kind != ganttReserved:
		return ganttWords[b.kind]
	case b.start > now:
		return "planned"
	}
	return "active"
}

// printBucketSteps answers programs that ask by bucket: a row for each stretch
// of time in which as many of a bucket's nodes are taken.
func (r *runner) printBucketSteps(g *ganttData, w ganttWindow) error {
	p := r.printer(output.Result{Columns: []output.Column{{Name: "bucket", Kind: output.Integer}, {Name: "signature"}, {Name: "queue"}, {Name: "priority", Kind: output.Integer},
		{Name: "start", Kind: output.Time}, {Name: "end", Kind: output.Time}, {Name: "taken", Kind: output.Integer}, {Name: "free", Kind: output.Integer}, {Name: "not_up", Kind: output.Integer}}})
	for i := range g.buckets {
		b := &g.buckets[i]
		c := curve(b.nodes, max(w.from, w.now))
		for k, s := range c.steps {
			end := w.to
			if k+1 < len(c.steps) {
				end = min(end, c.steps[k+1].start)
			}
			if s.start >= end {
				break
			}
			if err := p.Row(b.id, b.signature, orNil(b.queue), b.priority, s.start, end, s.taken, c.up-s.taken, c.notUp); err != nil {
				return err
			}
		}
	}
	return p.Close()
}
