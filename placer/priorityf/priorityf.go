// Package priorityf evaluates priority functions: PRIORITYF of nodes, by which a policy
// orders them, and job_priority, which orders waiting jobs. Both are written
// in one language; their terms differ.
//
// A priority function orders nodes: nodes with higher values are used first. It is Maui's
// PRIORITYF, a sum of signed terms that may have weights,
//
//	SPEED + .01*AMEM - 10*JOBCOUNT
//
// extended with + - * / parentheses, min(x, ...), max(x, ...) and abs(x). Names may be in any
// case; terms.go lists them. Signs may be repeated and may stand after * and /; an even number
// of minus signs is a plus.
//
// The value is always a finite number, whatever the expression and the node, so
// that nodes have an order: x/0 is 0, what is too large becomes the largest
// float64 of its sign, step by step, and a measurement that is not a number
// counts as 0. Every step rounds as a float64 does, and none is fused with the
// next, so that all machines agree on an order.
//
// Parsing turns the text into chains: the operands of a sum, a product or a function, side by
// side in one slice, with their weights. Maui's functions are one chain, which a loop
// evaluates without a call; only parentheses need one. There are no closures: a Node passed to
// a closure by pointer would be allocated on the heap, and callers fill one for each node.
package priorityf

import (
	"math"
	"slices"
	"strconv"

	"github.com/placectl/placectl/index"
)

// Node is what a policy sees of one node at the instant at which a request would start.
type Node struct {
	Node  *index.Node // its row: configured resources, speed, priority, features, number
	Whole bool        // a job has all of it then
	// amounts taken of its consumables then (Value.Num): at most one entry for each resource, in any order
	Taken     []index.Amount
	Jobs      int     // jobs on it then
	Load      float64 // measured load now; planned dedicated cpus for a later start
	FreeTime  int64   // seconds from the start to the node's next event; timeline.Forever if there is none
	Preferred bool
	Affinity  int       // to the reservation it is in: 1, 0 or -1
	Values    []float64 // of the terms of a JobFunction, instead of a node
}

// Default is the function of a store without one.
const Default = "PRIORITY + 100*PREF"

// Function is a parsed priority function. It does not change, so it is safe for concurrent use.
type Function struct {
	terms []expr // added up
	text  string // the normal form
}

// Eval returns the function's value for a node: finite, and never -0.
func (f *Function) Eval(s *Node) float64 { return chain(f.terms, 0, s) + 0 }

// String returns the function's normal form. Parse reads it back.
func (f *Function) String() string { return f.text }

// ByNumber reports whether the function depends on nodes' numbers. Then nodes that are otherwise equal
// have different values.
func (f *Function) ByNumber() bool { return mentions(f.terms, opNodeIndex) }

// ByUsage reports whether the function depends on how much nodes have been used. Then nodes that are
// otherwise equal can have different values.
func (f *Function) ByUsage() bool { return mentions(f.terms, opUsage) }

// Names reports whether the function mentions a resource.
func (f *Function) Names(id index.ResID) bool { return speaksOf(f.terms, id) }

// Looks lists what a function depends on, besides a node's priority and reservation.
type Looks struct {
	Speed, Preferred bool
	Features         []string
	Configured       []index.ResID // the amounts it has of these
	Other            bool          // anything else: its number, or what its jobs change
}

// Looks returns what the function depends on.
func (f *Function) Looks() (l Looks) {
	l.at(f.terms)
	return l
}

func (l *Looks) at(operands []expr) {
	for i := range operands {
		e := &operands[i]
		switch e.op {
		case opNumber, opPriority, opAffinity:
		case opSum, opProduct, opMin, opMax, opAbs:
			l.at(e.kids)
		case opPref:
			l.Preferred = true
		case opSpeed:
			l.Speed = true
		case opFeature:
			l.Features = append(l.Features, e.name)
		case opConfigured:
			l.Configured = append(l.Configured, e.res)
		default:
			l.Other = true
		}
	}
}

func speaksOf(operands []expr, id index.ResID) bool {
	return slices.ContainsFunc(operands, func(e expr) bool {
		return (e.op == opAvailable || e.op == opConfigured) && e.res == id || speaksOf(e.kids, id)
	})
}

func mentions(operands []expr, op op) bool {
	return slices.ContainsFunc(operands, func(e expr) bool { return e.op == op || mentions(e.kids, op) })
}

// Term is one of the terms that a priority function adds up.
type Term struct {
	Text  string  // in normal form, with its sign if that is a minus
	Value float64 // with its sign
}

// Terms returns the function's terms in order. Added up in that order they give the value of Eval,
// unless a sum on the way is too large for a float64.
func (f *Function) Terms(s *Node) []Term {
	terms := make([]Term, len(f.terms))
	for i := range terms {
		one := f.terms[i : i+1]
		terms[i] = Term{Text: string(appendSum(nil, one)), Value: chain(one, 0, s) + 0}
	}
	return terms
}

// expr is an operand: a number, a term, or a chain of operands. Its value is multiplied by its weight
// and then joined to the operands before it.
type expr struct {
	op     op
	join   join
	res    index.ResID // opAvailable, opConfigured: what is counted
	num    float64     // opAvailable, opConfigured: the Value.Num of one unit; a chain: what it starts from
	weight float64     // a number's value
	name   string      // of a term or a function, in normal form; opFeature: just the feature
	kids   []expr      // a chain
}

type op uint8

// Kinds of operands. The terms are in terms.go.
const (
	opNumber op = iota
	opSum
	opProduct
	opMin
	opMax
	opAbs   // a sum of one operand
	opTerms // from here on: from a node's state
)

type join uint8

const (
	joinPlus join = iota
	joinMinus
	joinTimes // also for the first of a product
	joinOver
	joinMin
	joinMax
)

// chain joins operands to a value, at first the neutral one. It converts products, because Go may fuse
// an unconverted one with a sum.
func chain(operands []expr, v float64, s *Node) float64 {
	for i := range operands {
		e := &operands[i]
		x := 1.0 // a number is so many ones; so is a speed that is not set
		switch e.op {
		case opNumber:
		case opSum, opProduct, opMin, opMax:
			x = chain(e.kids, e.num, s)
		case opAbs:
			x = math.Abs(chain(e.kids, e.num, s))
		case opPriority:
			x = float64(s.Node.Priority)
		case opSpeed:
			if s.Node.Speed != 0 {
				x = finite(s.Node.Speed)
			}
		case opLoad:
			x = finite(s.Load)
		case opUsage:
			x = finite(s.Node.Usage)
		case opJobCount:
			x = float64(s.Jobs)
		case opFreeTime:
			x = float64(min(s.FreeTime, MaxFreeTime))
		case opNodeIndex:
			x = float64(s.Node.Number)
		case opPref:
			x = oneIf(s.Preferred)
		case opAffinity:
			x = float64(s.Affinity)
		case opFeature:
			x = oneIf(slices.Contains(s.Node.Features, e.name))
		case opConfigured:
			x = float64(s.has(e.res)) / e.num
		case opAvailable:
			x = float64(s.available(e.res)) / e.num
		case opValue:
			x = finite(s.Values[e.res])
		}
		x = finite(float64(x * e.weight))
		switch e.join {
		case joinPlus:
			v = finite(v + x)
		case joinMinus:
			v = finite(v - x)
		case joinTimes:
			v = finite(float64(v * x))
		case joinOver:
			if x == 0 {
				v = 0
			} else {
				v = finite(v / x)
			}
		case joinMin:
			if x < v {
				v = x
			}
		case joinMax:
			if x > v {
				v = x
			}
		}
	}
	return v
}

// finite limits a value to finite numbers.
func finite(v float64) float64 {
	if v >= -math.MaxFloat64 && v <= math.MaxFloat64 {
		return v
	}
	return saturate(v)
}

func saturate(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return math.Copysign(math.MaxFloat64, v)
}

// appendSum writes the normal form of a sum.
func appendSum(b []byte, terms []expr) []byte {
	for i := range terms {
		switch minus := terms[i].join == joinMinus; {
		case minus && i == 0:
			b = append(b, '-')
		case minus:
			b = append(b, " - "...)
		case i > 0:
			b = append(b, " + "...)
		}
		b = terms[i].append(b, terms[i].op == opSum)
	}
	return b
}

// append writes the normal form of an operand: its weight, and the rest in parentheses if asked for, or
// if the weight needs them.
func (e *expr) append(b []byte, parentheses bool) []byte {
	if e.op == opNumber {
		return appendNumber(b, e.weight)
	}
	if e.weight != 1 {
		b = append(appendNumber(b, e.weight), '*')
		parentheses = e.op == opSum || e.op == opProduct
	}
	if parentheses {
		b = append(b, '(')
	}
	switch e.op {
	case opSum:
		b = appendSum(b, e.kids)
	case opProduct:
		b = appendProduct(b, e.kids)
	case opFeature:
		b = append(append(append(b, "FEATURE["...), quoteFeature(e.name)...), ']')
	default:
		b = e.appendCall(b)
	}
	if parentheses {
		b = append(b, ')')
	}
	return b
}

// appendProduct writes the normal form of a product. A weighted factor after the first is a product
// within the product.
func appendProduct(b []byte, factors []expr) []byte {
	for i := range factors {
		e := &factors[i]
		switch {
		case e.join == joinOver:
			b = append(b, '/')
		case i > 0:
			b = append(b, '*')
		}
		if i > 0 && e.weight != 1 && e.op != opNumber {
			b = append(e.append(append(b, '('), false), ')')
		} else {
			b = e.append(b, e.op == opSum || e.op == opProduct)
		}
	}
	return b
}

// appendCall writes a term, or a function and its arguments.
func (e *expr) appendCall(b []byte) []byte {
	b = append(b, e.name...)
	if len(e.kids) == 0 {
		return b
	}
	b = append(b, '(')
	for i := range e.kids {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = e.kids[i].append(b, false)
	}
	return append(b, ')')
}

// appendNumber writes a number so that it reads back exactly, without an exponent if that is short.
func appendNumber(b []byte, v float64) []byte {
	if v == 0 || v >= 1e-6 && v < 1e15 {
		return strconv.AppendFloat(b, v, 'f', -1, 64)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}
