package priorityf

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/placectl/placectl/placer/syntax"

	"github.com/google/go-cmp/cmp"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/syntax/syntaxtest"
	"github.com/placectl/placectl/timeline"
)

// priorityDefs has resources of several types, some with hyphens in their names.
func priorityDefs(t testing.TB) *index.Defs {
	t.Helper()
	defs := index.NewDefs()
	for _, def := range []index.Def{
		{Name: "color", Type: index.String},
		{Name: "bool", Type: index.Boolean},
		{Name: "power", Type: index.Float, Consumable: true},
		{Name: "tokens", Type: index.Long, Consumable: true},
		{Name: "level", Type: index.Long},
		{Name: "gpu", Type: index.Long, Consumable: true},
		{Name: "gpu-mem", Type: index.Size, Consumable: true},
		{Name: "gpu-Load-x", Type: index.Long},
	} {
		if _, err := defs.Add(def); err != nil {
			t.Fatal(err)
		}
	}
	return defs
}

func amount(t testing.TB, defs *index.Defs, name, value string) index.Amount {
	t.Helper()
	def, ok := defs.Lookup(name)
	v, err := def.ParseValue(value)
	if !ok || err != nil {
		t.Fatal(name, value, ok, err)
	}
	return index.Amount{Res: def.ID, Value: v}
}

// nodeState returns a node with resources, and what is taken of them: both as
// ncpus=4 mem=2gb.
func nodeState(t testing.TB, defs *index.Defs, configured, taken string) *Node {
	t.Helper()
	s := &Node{Node: &index.Node{}}
	for w := range strings.FieldsSeq(configured) {
		name, value, _ := strings.Cut(w, "=")
		a := amount(t, defs, name, value)
		s.Node.Set(a.Res, a.Value)
	}
	for w := range strings.FieldsSeq(taken) {
		name, value, _ := strings.Cut(w, "=")
		s.Taken = append(s.Taken, amount(t, defs, name, value))
	}
	return s
}

func mustPriorityF(t testing.TB, defs *index.Defs, text string) *Function {
	t.Helper()
	f, err := Parse(defs, text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The examples of Maui's manual for PRIORITYF (section 5.2.2.4: policy scenarios
// S07 to S09 and S36) with the values that follow from them, and the signs that
// Maui's source accepts (MNodeProcessPrioF, S35).
func TestPriorityFMaui(t *testing.T) {
	defs := index.NewDefs()
	node := func(configured, taken string, more func(*Node)) *Node {
		s := nodeState(t, defs, configured, taken)
		more(s)
		return s
	}
	example1 := func(mem, taken string, speed float64, jobs int) *Node {
		return node("ncpus=4 mem="+mem, "mem="+taken, func(s *Node) { s.Node.Speed, s.Jobs = speed, jobs })
	}
	desktop := func(load, usage float64) *Node {
		return node("ncpus=1 mem=1gb", "", func(s *Node) { s.Load, s.Node.Usage = load, usage })
	}
	batch := func(procs string) *Node {
		return node("ncpus="+procs, "", func(s *Node) { s.Node.Priority = 1000 })
	}
	running := func(jobs int) *Node { return node("ncpus=4", "", func(s *Node) { s.Jobs = jobs }) }
	procs := func(procs string) *Node { return node("ncpus="+procs, "", func(*Node) {}) }
	for _, c := range []struct {
		scenario, text string
		nodes          []*Node
		want           []float64
	}{
		{"S07, S07b", "SPEED+ .01 * AMEM - 10 * JOBCOUNT",
			[]*Node{example1("2000mb", "1000mb", 1, 1), example1("1500mb", "1000mb", 2, 1),
				example1("4500mb", "500mb", 3, 2)},
			[]float64{1, -3, 23}},
		{"S08, desktops", "-LOAD - 5*USAGE", []*Node{desktop(.5, .2), desktop(.1, .6), desktop(.9, 0)},
			[]float64{-1.5, -3.1, -.9}},
		{"S08, batch nodes", "PRIORITY + APROCS", []*Node{batch("2"), batch("1")}, []float64{1002, 1001}},
		{"S35, in the manual", "6*LOAD + -.01*CMEM - JOBCOUNT", []*Node{example1("2000mb", "0mb", 1, 3)},
			[]float64{-23}},
		{"S09", "JOBCOUNT", []*Node{running(0), running(3), running(1)}, []float64{0, 3, 1}},
		{"S35", "- -2*CPROCS", []*Node{procs("2"), procs("8")}, []float64{4, 16}},
		{"S36, the node's own", "-CPROCS", []*Node{procs("4")}, []float64{-4}},
		{"S36, the default", "CPROCS", []*Node{procs("4")}, []float64{4}},
	} {
		f := mustPriorityF(t, defs, c.text)
		for i, s := range c.nodes {
			if got := f.Eval(s); math.Abs(got-c.want[i]) > 1e-12 {
				t.Errorf("%s: %s is %v for node %d, want %v", c.scenario, c.text, got, i+1, c.want[i])
			}
		}
	}
}

func TestPriorityFEval(t *testing.T) {
	defs := priorityDefs(t)
	s := nodeState(t, defs, "ncpus=16 mem=64gb swap=8gb disk=100gb power=2.5 tokens=7 gpu=4 gpu-mem=80gb",
		"gpu-mem=512kb tokens=9 disk=1gb ncpus=6")
	s.Node.Number, s.Node.Priority, s.Node.Usage, s.Node.Features = 9, -3, .25, []string{"ssd", "a]"}
	s.Jobs, s.Load, s.FreeTime, s.Preferred, s.Affinity = 2, 5.5, 600, true, 1
	for _, c := range []struct {
		text, normal string
		want         float64
	}{
		{"priority", "PRIORITY", -3},
		{"Speed", "SPEED", 1}, // none is set
		{"LOAD", "LOAD", 5.5},
		{"USAGE", "USAGE", .25},
		{"JOBCOUNT", "JOBCOUNT", 2},
		{"FREETIME", "FREETIME", 600},
		{"NODEINDEX", "NODEINDEX", 9},
		{"PREF", "PREF", 1},
		{"RESAFFINITY", "RESAFFINITY", 1},
		{"CPROCS", "CPROCS", 16},
		{"APROCS", "APROCS", 10},
		{"CMEM", "CMEM", 65536},
		{"AMEM", "AMEM", 65536},
		{"CSWAP+ASWAP", "CSWAP + ASWAP", 16384},
		{"CDISK-ADISK", "CDISK - ADISK", 1024},
		{"a.NCPUS", "A.ncpus", 10},
		{"C.vmem + A.vmem", "C.vmem + A.vmem", 0}, // the node has none
		{"C.power", "C.power", 2.5},
		{"C.tokens", "C.tokens", 7},
		{"A.tokens", "A.tokens", 0}, // more is taken than there is
		{"C.gpu-mem-A.GPU-MEM", "C.gpu-mem - A.gpu-mem", .5},
		{"C.gpu -LOAD", "C.gpu - LOAD", -1.5},
		{"C.gpu-LOAD", "C.gpu - LOAD", -1.5},
		{"C.gpu--LOAD", "C.gpu + LOAD", 9.5},
		{"feature[ssd]", "FEATURE[ssd]", 1},
		{"FEATURE[SSD]", "FEATURE[SSD]", 0},
		{"FEATURE ['ssd'] + FEATURE[\"a]\"]", "FEATURE[ssd] + FEATURE['a]']", 2},

		{"1.", "1", 1},
		{"+.5e1 + 1E+3 + 2e-1", "5 + 1000 + 0.2", 1005.2},
		{"1e21", "1e+21", 1e21},
		{"\t2 *( 3+4 ) ", "2*(3 + 4)", 14},
		{"((2+3))", "2 + 3", 5},
		{"2+3*4", "2 + 3*4", 14},
		{"7-2-1", "7 - 2 - 1", 4},
		{"7-(2-1)", "7 - (2 - 1)", 6},
		{"7 + + 2 - - 1 + - 3", "7 + 2 + 1 - 3", 7},
		{"8/2/2", "8/2/2", 2},
		{"8/(2/2)", "8/(2/2)", 8},
		{"(8*2)/2", "(8*2)/2", 8},
		{"-2*-3/-1", "-2*3/1", -6},
		{"2*(-JOBCOUNT)*-(1+2)", "2*JOBCOUNT*(1 + 2)", 12},
		{"(2*JOBCOUNT)*3 + 3*(2*JOBCOUNT)", "2*JOBCOUNT*3 + 3*(2*JOBCOUNT)", 24},
		{"1*LOAD*1", "LOAD*1", 5.5},
		{"10 - (-JOBCOUNT)", "10 + JOBCOUNT", 12},
		{"-(1+2)", "-(1 + 2)", -3},
		{"JOBCOUNT + JOBCOUNT + 2*JOBCOUNT", "JOBCOUNT + JOBCOUNT + 2*JOBCOUNT", 8},
		{"MIN(3, -1, (2)) + Max( -4 ,-5) + abs(1-4)", "min(3, -1, 2) + max(-4, -5) + abs(1 - 4)", -2},
		{"min(4) + 2*max(1, 2)", "min(4) + 2*max(1, 2)", 8},

		{"5/0", "5/0", 0},
		{"-5/(1-1)", "-5/(1 - 1)", 0},
		{"0/0 + 1", "0/0 + 1", 1},
		{"0*-1", "-0*1", 0},
		{"1e308*10 - 1e308", "1e+308*10 - 1e+308", math.MaxFloat64 - 1e308},
		{"-1e308*1e308", "-1e+308*1e+308", -math.MaxFloat64},
		{"1e-300*1e-300", "1e-300*1e-300", 0},
		{"1e300/1e-300", "1e+300/1e-300", math.MaxFloat64},
	} {
		f := mustPriorityF(t, defs, c.text)
		if got := f.Eval(s); math.Abs(got-c.want) > 1e-12*math.Abs(c.want) || math.Signbit(got) != (c.want < 0) {
			t.Errorf("%q is %v, want %v", c.text, got, c.want)
		}
		if f.String() != c.normal {
			t.Errorf("%q reads as %q, want %q", c.text, f, c.normal)
		}
		checkPriorityF(t, defs, f, s)
	}
}

func TestPriorityFStates(t *testing.T) {
	defs := index.NewDefs()
	for _, c := range []struct {
		text   string
		change func(*Node)
		want   float64
	}{
		{"APROCS + CPROCS", func(s *Node) { s.Whole = true }, 8},
		{"SPEED", func(s *Node) { s.Node.Speed = 2.5 }, 2.5},
		{"FREETIME", func(s *Node) { s.FreeTime = timeline.Forever }, MaxFreeTime},
		{"FREETIME", func(s *Node) { s.FreeTime = MaxFreeTime - 1 }, MaxFreeTime - 1},
		{"PREF", func(*Node) {}, 0},
		{"RESAFFINITY", func(s *Node) { s.Affinity = -1 }, -1},
		{"RESAFFINITY", func(s *Node) { s.Affinity = 0 }, 0},
		{"RESAFFINITY", func(s *Node) { s.Affinity = 1 }, 1},
		{"LOAD", func(s *Node) { s.Load = math.NaN() }, 0},
		{"LOAD", func(s *Node) { s.Load = math.Inf(-1) }, -math.MaxFloat64},
		{"USAGE + SPEED", func(s *Node) { s.Node.Usage, s.Node.Speed = math.Inf(1), math.NaN() }, math.MaxFloat64},
	} {
		s := nodeState(t, defs, "ncpus=8", "")
		c.change(s)
		if got := mustPriorityF(t, defs, c.text).Eval(s); got != c.want {
			t.Errorf("%s of %+v is %v, want %v", c.text, s, got, c.want)
		}
	}
}

func TestPriorityFByNumber(t *testing.T) {
	for text, want := range map[string]bool{
		Default: false, "min(LOAD, 3*CMEM)": false, "-nodeindex": true, "LOAD + 2*max(1, 1 - NODEINDEX/8)": true,
	} {
		if got := mustPriorityF(t, index.NewDefs(), text).ByNumber(); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestPriorityFTerms(t *testing.T) {
	defs := index.NewDefs()
	s := nodeState(t, defs, "ncpus=8", "")
	s.Jobs, s.Load = 3, 0
	for _, c := range []struct {
		text string
		want []Term
	}{
		{Default, []Term{{"PRIORITY", 0}, {"100*PREF", 0}}},
		{"(-10*jobcount+ .5*CPROCS - -max(1,2))", []Term{{"-10*JOBCOUNT", -30}, {"0.5*CPROCS", 4}, {"max(1, 2)", 2}}},
		{"JOBCOUNT-(LOAD+1)", []Term{{"JOBCOUNT", 3}, {"-(LOAD + 1)", -1}}},
		{"2*(JOBCOUNT+1)", []Term{{"2*(JOBCOUNT + 1)", 8}}},
		{"-LOAD", []Term{{"-LOAD", 0}}},
	} {
		got := mustPriorityF(t, defs, c.text).Terms(s)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.text, diff)
		}
		if slices.ContainsFunc(got, func(term Term) bool { return math.Signbit(term.Value) != (term.Value < 0) }) {
			t.Errorf("%s has a term of -0: %v", c.text, got)
		}
	}
}

func TestPriorityFErrors(t *testing.T) {
	defs := priorityDefs(t)
	deep := strings.Repeat("(", MaxDepth+1)
	for _, c := range []struct {
		in  string
		at  int
		msg string
	}{
		{"", 0, "it is empty: expected an expression such as PRIORITY + 100*PREF"},
		{" \t", 2, "it is empty: expected an expression such as PRIORITY + 100*PREF"},
		{"PRIORITY + 100*PREFS", 15, `no term "PREFS"; did you mean PREF?`},
		{"jobcuont", 0, `no term "jobcuont"; did you mean JOBCOUNT?`},
		{"2*FEATURES[x]", 2, `no term "FEATURES"; did you mean FEATURE?`},
		{"banana", 0, `no term "banana"`},
		{"LOAD2", 0, `no term "LOAD2"; did you mean LOAD?`},
		{"1+Tokens", 2,
			`no term "Tokens": write A.tokens for what is available of it, C.tokens for what is configured`},
		{"B.mem", 0, `no term "B": a resource is A.name for what is available of it, C.name for what is configured`},
		{"A + 1", 1, `expected . and a consumable resource after A, found " "`},
		{"C.", 2, "expected a consumable resource after C., found the end"},
		{"A.4", 2, `expected a consumable resource after A., found "4"`},
		{"A.tokns", 2, `no resource "tokns"; did you mean tokens?`},
		{"1 + A.tokns-3", 6, `no resource "tokns-3"; did you mean tokens?`},
		{"1 + A.tokns-JOBCOUNT", 6, `no resource "tokns"; did you mean tokens?`},
		{"A.gpu-me", 6, `no term "me"`}, // gpu less something
		{"A.level", 2, "level is not a consumable resource"},
		{"C.level-1", 2, "level is not a consumable resource"},
		{"C.mpiprocs", 2, "mpiprocs is not a consumable resource"},
		{"FEATURE", 7, "expected [ and the name of a feature after FEATURE, found the end"},
		{"FEATURE[x", 9, "expected ] after the name of a feature, found the end"},
		{"FEATURE[]", 8, `"" cannot be a feature`},
		{"FEATURE[a b]", 8, `"a b" cannot be a feature`},
		{"FEATURE['x]", 8, "the quote is not closed"},
		{"FEATURE['x'y]", 11, `expected ] after the name of a feature, found "y"`},
		{"LOAD +", 6, "expected a term, a number or (, found the end"},
		{"LOAD + * 2", 7, `expected a term, a number or (, found "*"`},
		{"2 * ü", 4, `expected a term, a number or (, found "ü"`},
		{"LOAD\x00", 4, `expected + - * / or the end, found "\x00"`},
		{"10 LOAD", 3, `expected + - * / or the end, found "L"`},
		{"1e", 1, `expected + - * / or the end, found "e"`},
		{"0x10", 1, `expected + - * / or the end, found "x"`},
		{"1_000", 1, `expected + - * / or the end, found "_"`},
		{"1.2.3", 3, `expected + - * / or the end, found "."`},
		{".", 0, "expected digits before or after the point"},
		{"2 + 1e999", 4, "the number 1e999 is too large"},
		{"LOAD)", 4, `expected + - * / or the end, found ")"`},
		{"LOAD, 2", 4, `expected + - * / or the end, found ","`},
		{"()", 1, `expected a term, a number or (, found ")"`},
		{"2*(LOAD", 7, "expected + - * / or a ) for the ( at character 3, found the end"},
		{"(1, 2)", 2, `expected + - * / or a ) for the ( at character 1, found ","`},
		{"min", 3, "expected ( after min, found the end"},
		{"MAX 1", 4, `expected ( after max, found "1"`},
		{"min()", 4, `expected a term, a number or (, found ")"`},
		{"min(1,)", 6, `expected a term, a number or (, found ")"`},
		{"max(1 2)", 6, `expected + - * / , or a ) for the ( at character 4, found "2"`},
		{"abs(1, 2)", 5, "abs takes one argument"},
		{deep + "1", MaxDepth, "more than 100 parentheses within each other"},
		{strings.Repeat("x", MaxText+1), MaxText, "longer than 4096 bytes"},
		{strings.Repeat("1+", MaxText/2-1) + "1", MaxText - 1,
			"written out with spaces and zeros it is longer than 4096 bytes: 8189"},
	} {
		_, err := Parse(defs, c.in)
		syntaxtest.At(t, c.in, err, c.at, c.msg)
		syntaxtest.Printable(t, err)
	}
	if _, err := Parse(defs, deep[1:]+"1"+strings.Repeat(")", MaxDepth)); err != nil {
		t.Error(err)
	}
	_, err := Parse(defs, "PRIORITY + 100*ü")
	if got, want := err.(*syntax.Error).Caret(), "PRIORITY + 100*ü\n               ^"; got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
}

// A policy fills a state for each of many nodes: neither the state nor what it refers to may
// be on the heap.
func TestPriorityFAllocs(t *testing.T) {
	defs := index.NewDefs()
	f := mustPriorityF(t, defs, "SPEED + .01*AMEM - 10*JOBCOUNT + max(A.ngpus, abs(1 - LOAD))/2 + FEATURE[ssd]")
	n := nodeState(t, defs, "ncpus=4 mem=8gb", "").Node
	sum := 0.0
	allocs := testing.AllocsPerRun(100, func() {
		taken := [...]index.Amount{{Res: index.Mem, Value: index.Value{Num: 1024}}}
		sum += f.Eval(&Node{Node: n, Taken: taken[:], Jobs: 1})
	})
	if allocs != 0 || sum == 0 {
		t.Errorf("%v allocations, sum %v", allocs, sum)
	}
}
