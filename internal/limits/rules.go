// Package limits says which limits apply to a job, and how much of each it counts for. The code
// that moves counters and the code that checks them both use it.
package limits

import (
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/placer/subject"
)

// Transaction is the transaction whose rules are read.
type Transaction interface {
	Resources() (*index.Defs, error)
	// ClassOf returns the class of a user who names none.
	ClassOf(user string) (string, error)
}

// Source is where rules are read from.
type Source struct {
	Transaction
	Rows *file.Recorder
}

// Rules are the limits of a store, as one transaction reads them.
type Rules struct {
	*limits.Rules
	src     Source
	parents map[string]string // of accounts
	asked   map[asking]placer.Spec
	under   map[subject.Names][]limits.Applied
}

type asking struct{ sel, place string }

// Read reads the rules. It returns nil if there are none.
func Read(src Source) (*Rules, error) {
	var list []*limits.Rule
	err := src.Rows.Each(row.Limits, nil, func(key, payload []byte) (bool, error) {
		r, err := row.LimitRow.Decode(key, payload)
		list = append(list, r)
		return true, err
	})
	if len(list) == 0 || err != nil {
		return nil, err
	}
	rs := &Rules{Rules: limits.NewRules(list), src: src, asked: make(map[asking]placer.Spec),
		under: make(map[subject.Names][]limits.Applied)}
	if !rs.Look(subject.Account) {
		return rs, nil
	}
	rs.parents = make(map[string]string)
	return rs, src.Rows.Each(row.Accounts, nil, func(key, payload []byte) (bool, error) {
		a, err := row.AccountRow.Decode(key, payload)
		if err == nil {
			rs.parents[a.Name] = a.Parent
		}
		return true, err
	})
}

// Under lists the rules that apply to jobs of the same names.
func (rs *Rules) Under(who subject.Names) ([]limits.Applied, error) {
	if list, known := rs.under[who]; known {
		return list, nil
	}
	has := who
	if rs.Look(subject.Class) && has[subject.Class] == "" {
		class, err := rs.src.ClassOf(has[subject.User])
		if err != nil {
			return nil, err
		}
		has[subject.Class] = class
	}
	var above []string
	for up := rs.parents[has[subject.Account]]; up != "" && !slices.Contains(above, up); up = rs.parents[up] {
		above = append(above, up)
	}
	list := rs.Apply(&has, above)
	rs.under[who] = list
	return list, nil
}

// Asked holds what a request asks for, as rules measure it.
type Asked struct {
	placer.Spec
	Walltime int64 // seconds
}

// Asked returns what a job asks for. Its request means the same as at submission, unless one
// of its resources no longer exists.
func (rs *Rules) Asked(j *row.Job) (Asked, error) {
	a := asking{j.Select, j.Place}
	spec, known := rs.asked[a]
	if !known {
		defs, err := rs.src.Resources()
		if err != nil {
			return Asked{}, err
		}
		spec, err = placer.Parse(defs, placer.Request{Select: j.Select, Place: j.Place})
		if err != nil { // one of its resources no longer exists: it counts as a job
			spec = placer.Spec{}
		}
		rs.asked[a] = spec
	}
	spec.Pools = j.Pools
	return Asked{spec, j.Walltime}, nil
}

// Amount returns how much of a measure a request asks for.
func (rs *Rules) Amount(m limits.Measure, a Asked) (int64, error) {
	switch m.Resource {
	case "":
		return 1, nil
	case limits.Walltime:
		return a.Walltime, nil
	case limits.Nodes:
		return nodes(a.Spec), nil
	}
	defs, err := rs.src.Resources()
	if err != nil {
		return 0, err
	}
	sum := int64(0)
	if def, ok := defs.Lookup(m.Resource); ok {
		for _, c := range a.Chunks {
			for _, w := range c.Wants {
				if w.Res == def.ID {
					sum = min(sum+min(w.Value.Num, limits.MaxAmount)*int64(min(c.Count, 1<<20)), limits.MaxAmount)
				}
			}
		}
		return sum, nil
	}
	for _, p := range a.Pools {
		if p.Pool == m.Resource {
			sum += p.Amount
		}
	}
	return sum, nil
}

// nodes returns the number of chunks, because the number of nodes is unknown before placement.
// Packed chunks share one node.
func nodes(s placer.Spec) (n int64) {
	if s.Place.Arrange == placer.Pack {
		return 1
	}
	for _, c := range s.Chunks {
		n += int64(c.Count)
	}
	return n
}

// Of calls fn for each rule that applies to a job, with the amount that counts. It omits zero
// amounts.
func (rs *Rules) Of(j *row.Job, fn func(a *limits.Applied, amount int64) error) error {
	list, err := rs.Under(j.Whose())
	if err != nil || len(list) == 0 {
		return err
	}
	asked, err := rs.Asked(j)
	if err != nil {
		return err
	}
	for i := range list {
		n, err := rs.Amount(list[i].Measure, asked)
		if n > 0 && err == nil {
			err = fn(&list[i], n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Text returns the function that formats amounts of a measure, or nil for plain numbers.
func (rs *Rules) Text(m limits.Measure) func(int64) string {
	defs, err := rs.src.Resources()
	if err != nil {
		return nil
	}
	def, ok := defs.Lookup(m.Resource)
	if !ok || def.Type == index.Long {
		return nil
	}
	return func(n int64) string { return def.Format(index.Value{Num: n}) }
}
