// Package priority orders waiting jobs by a function of package priorityf: it supplies the values of the
// terms that do not come from the job itself, and evaluates. It is pure: the caller converts its rows to
// plain values once for a pass, and evaluates each job.
package priority

import (
	"cmp"
	"slices"
	"sort"

	"github.com/placectl/placectl/placer/priorityf"
	"github.com/placectl/placectl/placer/subject"
)

// Numbers are the priority numbers of users, groups, accounts, classes and queues.
type Numbers map[subject.Subject]float64

// most returns the largest number of a kind, at least 0.
func (n Numbers) most(kind subject.Kind) (most float64) {
	for whose, number := range n {
		if whose.Kind == kind {
			most = max(most, number)
		}
	}
	return most
}

// Job is a job as the terms see it.
type Job struct {
	priorityf.JobFacts
	ID uint64 // the first submitted has the lowest
	subject.Names
	Asks func(name string) int64 // the requested amount of a consumable or a pool, in its own unit
}

// Order evaluates an expression. Fields that the expression does not use may be left out.
type Order struct {
	Expr    *priorityf.JobFunction
	CPUs    float64 // of the cluster
	Nodes   float64
	Numbers Numbers
	Use     *Use
	Begun   []uint64 // the numbers of jobs that have begun, ascending

	terms  []priorityf.JobTerm
	values []float64 // of the terms, for the current job
}

// Prepare fills in the values that all jobs share.
func (o *Order) Prepare() {
	o.terms = o.Expr.Terms()
	o.values = make([]float64, len(o.terms))
	for i, t := range o.terms {
		switch t.Kind {
		case priorityf.JobTermTotalCPUs:
			o.values[i] = o.CPUs
		case priorityf.JobTermTotalNodes:
			o.values[i] = o.Nodes
		case priorityf.JobTermMaxQueue:
			o.values[i] = o.Numbers.most(subject.Queue)
		case priorityf.JobTermMaxClass:
			o.values[i] = o.Numbers.most(subject.Class)
		}
	}
}

// Value returns the value of a job.
func (o *Order) Value(j *Job) float64 {
	for i, t := range o.terms {
		if v, ok := t.Fact(&j.JobFacts); ok {
			o.values[i] = v
			continue
		}
		whose := t.Whom.Of(j.Names[t.Whom])
		switch t.Kind {
		case priorityf.JobTermAsk:
			o.values[i] = float64(j.Asks(t.Of)) / t.One
		case priorityf.JobTermNumber:
			o.values[i] = o.Numbers[whose]
		case priorityf.JobTermFairshare:
			o.values[i] = o.Use.ranks[[2]string{j.Names[subject.Account], j.Names[subject.User]}]
		case priorityf.JobTermUsage:
			o.values[i] = o.Use.parts[whose]
		case priorityf.JobTermTarget:
			o.values[i] = 100 * (o.Use.shares[whose] - o.Use.parts[whose])
		case priorityf.JobTermBypass:
			o.values[i] = float64(len(o.Begun) - sort.Search(len(o.Begun), func(k int) bool {
				return o.Begun[k] > j.ID
			}))
		}
	}
	return o.Expr.Eval(o.values)
}

// Parts returns the terms of the outermost sum, for the job evaluated last.
func (o *Order) Parts() []priorityf.Term { return o.Expr.Parts(o.values) }

// Valued is something with its job's value and number.
type Valued[T any] struct {
	Is    T
	ID    uint64
	Value float64
}

// Sort puts the highest value first, and of equal ones the one submitted first.
func Sort[T any](list []Valued[T]) {
	slices.SortFunc(list, func(a, b Valued[T]) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.ID, b.ID))
	})
}
