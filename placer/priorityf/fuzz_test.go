package priorityf

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/syntax/syntaxtest"
	"github.com/placectl/placectl/timeline"
)

// checkPriorityF verifies what is true of every function and every node: the value is finite,
// the terms add up to it, and the normal form reads back as the same function.
func checkPriorityF(t rapid.TB, defs *index.Defs, f *Function, s *Node) {
	t.Helper()
	v := f.Eval(s)
	if math.IsNaN(v) || math.IsInf(v, 0) || v == 0 && math.Signbit(v) {
		t.Fatalf("%s is %v", f, v)
	}
	sum, text := 0.0, ""
	for i, term := range f.Terms(s) {
		sum = clamp(sum + term.Value)
		switch rest, minus := strings.CutPrefix(term.Text, "-"); {
		case i == 0:
			text = term.Text
		case minus:
			text += " - " + rest
		default:
			text += " + " + rest
		}
	}
	if sum != v || text != f.String() {
		t.Fatalf("%s is %v; its terms are %s, together %v", f, v, text, sum)
	}
	again, err := Parse(defs, f.String())
	if err != nil {
		t.Fatalf("the normal form: %v", err)
	}
	if diff := cmp.Diff(f, again, cmp.AllowUnexported(Function{}, expr{})); diff != "" {
		t.Fatalf("%s does not read back (-first +again)\n%s", f, diff)
	}
}

// clamp does what every step of an evaluation does to its result.
func clamp(v float64) float64 { return max(-math.MaxFloat64, min(v, math.MaxFloat64)) }

// naiveExpr is the simplest form of an expression: one operator and its operands.
type naiveExpr struct {
	op   string // + - * / neg min max abs, or "" for a leaf
	text string // of a leaf
	v    float64
	kids []*naiveExpr
}

func drawExpr(t *rapid.T, terms map[string]float64, names []string, depth int) *naiveExpr {
	ops := []string{"", "", "+", "-", "*", "/", "neg", "min", "max", "abs"}
	if depth == 0 {
		ops = ops[:1]
	}
	e := &naiveExpr{op: rapid.SampledFrom(ops).Draw(t, "op")}
	kids := 2
	switch e.op {
	case "":
		if rapid.Bool().Draw(t, "is a number") {
			e.text = rapid.SampledFrom([]string{"0", "1", "1.", ".01", "2", "3.7", "1e3", "1e300", "1E-300",
				"123456789.125"}).Draw(t, "number")
			if _, err := fmt.Sscan(e.text, &e.v); err != nil {
				t.Fatal(err)
			}
			return e
		}
		e.text = rapid.SampledFrom(names).Draw(t, "term")
		e.v = terms[e.text]
		return e
	case "neg", "abs":
		kids = 1
	case "min", "max":
		kids = rapid.IntRange(1, 3).Draw(t, "arguments")
	}
	for range kids {
		e.kids = append(e.kids, drawExpr(t, terms, names, depth-1))
	}
	return e
}

func (e *naiveExpr) eval() float64 {
	if e.op == "" {
		return e.v
	}
	a := e.kids[0].eval()
	switch e.op {
	case "neg":
		return -a
	case "abs":
		return math.Abs(a)
	case "min", "max":
		for _, k := range e.kids {
			if b := k.eval(); e.op == "min" {
				a = math.Min(a, b)
			} else {
				a = math.Max(a, b)
			}
		}
		return a
	}
	b := e.kids[1].eval()
	switch e.op {
	case "+":
		return clamp(a + b)
	case "-":
		return clamp(a - b)
	case "*":
		return clamp(float64(a * b))
	}
	if b == 0 {
		return 0
	}
	return clamp(a / b)
}

// binding says how tightly operators bind.
var binding = map[string]int{"+": 1, "-": 1, "*": 2, "/": 2, "neg": 3, "": 4, "min": 4, "max": 4, "abs": 4}

// write writes an expression as people do: with unnecessary parentheses, spaces and signs, and
// names in any case.
func (e *naiveExpr) write(t *rapid.T, holds int) string {
	chance := func(what string) bool { return rapid.IntRange(0, 5).Draw(t, what) == 0 }
	if binding[e.op] < holds || chance("parentheses") {
		return "(" + e.write(t, 0) + ")"
	}
	space := ""
	if chance("space") {
		space = " "
	}
	switch e.op {
	case "":
		sign := ""
		if chance("signs") {
			sign = rapid.SampledFrom([]string{"+", "- -", "-+- ", "--"}).Draw(t, "sign")
		}
		if chance("lower case") && !strings.Contains(e.text, "[") {
			return sign + space + strings.ToLower(e.text)
		}
		return sign + space + e.text
	case "neg":
		return "-" + space + e.kids[0].write(t, binding["neg"]+1)
	case "min", "max", "abs":
		args := make([]string, len(e.kids))
		for i, k := range e.kids {
			args[i] = k.write(t, 0)
		}
		return e.op + "(" + strings.Join(args, space+", ") + ")"
	}
	return e.kids[0].write(t, binding[e.op]) + " " + e.op + space + e.kids[1].write(t, binding[e.op]+1)
}

// drawState draws a node, and the values of its terms according to the manual.
func drawState(t *rapid.T) (*Node, map[string]float64) {
	measure := rapid.SampledFrom([]float64{0, .1, .5, 1, 2.5, 1e-9, 1e308, math.NaN(), math.Inf(1)})
	n := &index.Node{
		Number:   rapid.Uint32().Draw(t, "number"),
		Priority: rapid.Int32().Draw(t, "priority"),
		Speed:    measure.Draw(t, "speed"),
		Usage:    measure.Draw(t, "usage"),
		Features: rapid.SampledFrom([][]string{nil, {"ssd"}, {"ib", "ssd"}}).Draw(t, "features"),
	}
	s := &Node{
		Node:      n,
		Whole:     rapid.IntRange(0, 3).Draw(t, "whole") == 0,
		Jobs:      rapid.IntRange(0, 100).Draw(t, "jobs"),
		Load:      measure.Draw(t, "load"),
		FreeTime:  rapid.SampledFrom([]int64{0, 60, 86400, 2 * MaxFreeTime, timeline.Forever}).Draw(t, "free time"),
		Preferred: rapid.Bool().Draw(t, "preferred"),
		Affinity:  rapid.IntRange(-1, 1).Draw(t, "affinity"),
	}
	finite := func(v float64) float64 {
		if v != v {
			return 0
		}
		return clamp(v)
	}
	terms := map[string]float64{
		"PRIORITY": float64(n.Priority), "SPEED": finite(n.Speed), "LOAD": finite(s.Load), "USAGE": finite(n.Usage),
		"JOBCOUNT": float64(s.Jobs), "FREETIME": math.Min(float64(s.FreeTime), MaxFreeTime),
		"NODEINDEX":   float64(n.Number),
		"RESAFFINITY": float64(s.Affinity), "PREF": 0, "FEATURE[ib]": 0,
	}
	if n.Speed == 0 {
		terms["SPEED"] = 1
	}
	if s.Preferred {
		terms["PREF"] = 1
	}
	if len(n.Features) == 2 {
		terms["FEATURE[ib]"] = 1
	}
	for i, r := range []struct {
		id    index.ResID
		names [2]string
		unit  float64
	}{
		{index.NCPUs, [2]string{"CPROCS", "APROCS"}, 1},
		{index.Mem, [2]string{"CMEM", "AMEM"}, 1024},
		{index.Swap, [2]string{"CSWAP", "ASWAP"}, 1024},
		{index.Disk, [2]string{"CDISK", "ADISK"}, 1024},
		{index.NGPUs, [2]string{"C.ngpus", "A.ngpus"}, 1},
	} {
		have := rapid.Int64Range(0, 1<<40).Draw(t, "have")
		taken := rapid.SampledFrom([]int64{0, 1, have / 2, have, have + 1}).Draw(t, "taken")
		if have == 0 && i%2 == 0 {
			taken = 0
		} else {
			n.Set(r.id, index.Value{Num: have})
		}
		if taken > 0 {
			s.Taken = append(s.Taken, index.Amount{Res: r.id, Value: index.Value{Num: taken}})
		}
		terms[r.names[0]] = float64(have) / r.unit
		terms[r.names[1]] = float64(max(have-taken, 0)) / r.unit
		if s.Whole {
			terms[r.names[1]] = 0
		}
	}
	s.Taken = rapid.Permutation(s.Taken).Draw(t, "order")
	return s, terms
}

// Random functions of random nodes have the value that one step at a time gives, to the last
// bit.
func TestPriorityFProperty(t *testing.T) {
	defs := index.NewDefs()
	rapid.Check(t, func(t *rapid.T) {
		s, terms := drawState(t)
		names := make([]string, 0, len(terms))
		for _, known := range oneWordTerms {
			names = append(names, known.name)
		}
		names = append(names, "FEATURE[ib]", "C.ngpus", "A.ngpus")
		e := drawExpr(t, terms, names, 5)
		text := e.write(t, 0)
		f, err := Parse(defs, text)
		if err != nil {
			if len(text) > MaxText/2 { // the normal form may be twice as long
				t.Skip(err)
			}
			t.Fatal(err)
		}
		if got, want := f.Eval(s), e.eval(); got != want {
			t.Fatalf("%s, which reads as %s, is %v, want %v", text, f, got, want)
		}
		checkPriorityF(t, defs, f, s)
	})
}

func FuzzPriorityF(f *testing.F) {
	for _, s := range []string{
		Default, "SPEED+ .01 * AMEM - 10 * JOBCOUNT", "6*LOAD + -.01*CMEM - JOBCOUNT", "- -2*CPROCS",
		"max(0, min(APROCS, 8) - LOAD)/(1 + JOBCOUNT) + 1e3*FEATURE[ssd]", "A.gpu-mem-1*(C.power/0)",
		"3*(2*(-FREETIME))*FEATURE['a]']",
	} {
		f.Add(s)
	}
	defs := priorityDefs(f)
	s := nodeState(f, defs, "ncpus=16 mem=64gb power=2.5 tokens=7 gpu=4 gpu-mem=80gb", "mem=5gb gpu=1")
	s.Node.Features, s.Jobs, s.Load, s.FreeTime = []string{"ssd"}, 3, 1e300, timeline.Forever
	f.Fuzz(func(t *testing.T, text string) {
		f, err := Parse(defs, text)
		if err != nil {
			syntaxtest.Printable(t, err)
			return
		}
		checkPriorityF(t, defs, f, s)
	})
}
