package store

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// Candidate is a node that a site's own policy may choose.
type Candidate struct {
	*index.Node
	Left []index.Amount // of its consumables, now
	Jobs int            // on it now
}

// Candidates are the nodes that could serve a request now, or some chunk of it, in
// node order: what the policy local chooses from. The error is a *placer.Refusal
// when it can never run.
func (tx *Tx) Candidates(r placer.Request) ([]Candidate, error) {
	q := tx.asking(r)
	a, err := q.read()
	if err != nil {
		return nil, err
	}
	return q.candidates(a)
}

func (q asking) candidates(a placer.Ask) ([]Candidate, error) {
	tx := q.tx
	snap, err := tx.snapshot(q.r.Queue)
	if err != nil {
		return nil, err
	}
	numbers, err := snap.Candidates(a, tx.now)
	if err != nil {
		return nil, err
	}
	out := make([]Candidate, len(numbers))
	for i, number := range numbers {
		n, err := tx.NodeByNumber(number)
		if err != nil {
			return nil, err
		}
		on, err := tx.Occupancy(n)
		if err != nil {
			return nil, err
		}
		out[i] = Candidate{n, tx.Left(n), on.Jobs}
	}
	return out, nil
}

// Left is what is left of a node's consumables now: all of them where nothing is
// on it, nothing where somebody has it whole.
func (tx *Tx) Left(n *index.Node) []index.Amount { return tx.leftAt(n, tx.calendar().Now()) }

// leftAt is the same at another instant, as far as it is planned.
func (tx *Tx) leftAt(n *index.Node, at int64) []index.Amount {
	c := tx.calendar()
	defs, err := tx.Resources()
	if err != nil {
		return nil // whoever goes on finds out: nothing can be placed or looked at without them
	}
	quantities, capacity := placer.Consumables(defs, n)
	peak := make([]int64, len(quantities))
	standing := c.Taken(n.Number, at, at+1, nil, quantities, peak)
	out := make([]index.Amount, len(quantities))
	for i, q := range quantities {
		out[i].Res = index.ResID(q)
		if standing != timeline.Whole {
			out[i].Value.Num = max(0, capacity[i]-peak[i])
		}
	}
	return out
}

// order asks the site's own policy for its order of nodes, by name.
func (q asking) order(a placer.Ask) ([]string, error) {
	local := q.tx.db.opt.Local
	if q.r.Ranking != nil || local == nil {
		return q.r.Ranking, nil
	}
	list, err := q.candidates(a)
	if err != nil {
		return nil, err
	}
	return local(list), nil
}
