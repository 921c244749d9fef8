package placer

import (
	"errors"
	"strings"
	"testing"

	"github.com/placectl/placectl/placer/syntax"
	"github.com/placectl/placectl/placer/syntax/syntaxtest"

	"github.com/placectl/placectl/index"
)

// preferNode returns a node of testDefs' resources.
func preferNode(t testing.TB, defs *index.Defs, name, resources string, features ...string) *index.Node {
	t.Helper()
	n := &index.Node{Name: name, Features: features}
	for _, pair := range strings.Fields(resources) {
		key, text, _ := strings.Cut(pair, "=")
		def, ok := defs.Lookup(key)
		if !ok {
			t.Fatalf("no resource %s", key)
		}
		v, err := def.ParseValue(text)
		if err != nil {
			t.Fatal(err)
		}
		n.Set(def.ID, v)
	}
	return n
}

func TestPrefer(t *testing.T) {
	defs := testDefs(t)
	full := preferNode(t, defs, "n1", "ncpus=8 mem=64gb disk=1tb color=red aoe=linux,bsd bool=True power=1.5 host=h7",
		"fast", "bool2", "10g")
	bare := preferNode(t, defs, "n2", "")
	off := preferNode(t, defs, "n3", "bool=False color=blue aoe=linuxes mem=65535mb", "bool", "FAST")
	for _, c := range []struct {
		items           string // joined by |
		full, bare, off bool
	}{
		{"", false, false, false},
		{"fast", true, false, false},
		{" fast ", true, false, false},
		{"FEATURE:fast", true, false, false},
		{"feature : fast", true, false, false},
		{"Feature=FAST", false, false, true}, // features are case-sensitive
		{"feature==fast", true, false, false},
		{"feature!=fast", false, true, true},
		{"10g", true, false, false},
		{"slow|fast", true, false, false}, // any will do
		{"slow|color=blue|fast", true, false, true},
		{"slow", false, false, false},

		{"ncpus>8", false, false, false},
		{"ncpus>=8", true, false, false},
		{"ncpus>=8.0", true, false, false},
		{"ncpus = 8", true, false, false},
		{"ncpus!=8", false, true, true}, // an amount that a node does not have is 0
		{"ncpus<8", false, true, true},
		{"ncpus<=0", false, true, true},
		{"NCPUS==0", false, true, true},
		{"mem>=64gb", true, false, false},
		{"mem>=64GiB", true, false, false},
		{"mem<64gb", false, true, true},
		{"mem > 63.5g", true, false, true},
		{"disk<=1tb", true, true, true},
		{"disk<1tb", false, true, true},
		{"power>1.4999", true, false, false},
		{"power<=1.5", true, true, true},
		{"tokens=0", true, true, true},

		{"color=red", true, false, false},
		{"color=Red", false, false, false},
		{`color="red"`, true, false, false},
		{`color='re'"d"`, true, false, false},
		{"color!=red", false, true, true}, // none is not red either
		{"aoe=linux", true, false, false},
		{"aoe==bsd", true, false, false},
		{"aoe=lin", false, false, false},
		{"aoe!=linux", false, true, true},
		{"host=h7", true, false, false},
		{"host=n1", false, false, false},
		{"host=n2", false, true, false},
		{"vnode=n1", true, false, false},
		{"vnode!=n1", false, true, true},

		{"bool=true", true, false, false},
		{"bool=yes", true, false, false},
		{"bool=0", false, true, true}, // unset is false
		{"bool!=true", false, true, true},
		{"bool", true, false, true}, // true, or a feature of that name
		{"feature=bool", false, false, true},
		{"bool2", true, false, false},
	} {
		var items []string
		if c.items != "" {
			items = strings.Split(c.items, "|")
		}
		p, err := ParsePrefer(defs, items)
		if err != nil {
			t.Errorf("%q: %v", c.items, err)
			continue
		}
		if p.Empty() != (c.items == "") {
			t.Errorf("%q: empty is %v", c.items, p.Empty())
		}
		for _, n := range []struct {
			node *index.Node
			want bool
		}{{full, c.full}, {bare, c.bare}, {off, c.off}} {
			if got := p.Matches(n.node); got != n.want {
				t.Errorf("%q prefers %s: %v", c.items, n.node.Name, got)
			}
		}
	}
}

func TestPreferRefused(t *testing.T) {
	defs := testDefs(t)
	for _, c := range []struct{ item, caret, msg string }{
		{"", "^", "expected a feature such as fast, or a condition such as mem>=64gb"},
		{"  ", "  ^", "expected a feature"},
		{">=64gb", "^", "expected a feature"},
		{"mem", "   ^", "expected a comparison such as mem>= after mem, which is a size; a feature of that name is " +
			"written feature=mem"},
		{"color", "     ^", "such as color= after"},
		{"feature", "       ^", "such as feature="},
		{"memm>=64gb", "^", `no resource "memm"; did you mean mem?`},
		{"zzz=1", "^", `no resource "zzz"`},
		{"walltime>5", "^", "belongs to the whole request"},
		{"mem>=64xb", "     ^", `mem: "64xb" is not a size`},
		{"ncpus>-1", "      ^", "not a whole number of 0 or more"},
		{"ncpus>2.5", "      ^", "not a whole number"},
		{"mem>=", "     ^", "expected what to compare mem with"},
		{`color=""`, "        ^", "expected what to compare color with"},
		{"mem=>64gb", "   ^", `no comparison "=>"; did you mean >=?`},
		{"mem=<64gb", "   ^", "did you mean <=?"},
		{"color<>red", "     ^", "did you mean !=?"},
		{"color===red", "     ^", "did you mean ==?"},
		{"mem>>1", "   ^", "expected one of == = != >= <= > < after mem"},
		{"fast node", "     ^", "expected one of"},
		{"mem:64gb", "   ^", "a colon comes after feature only"},
		{"color>red", "     ^", "color is a string: only = and != can compare it"},
		{"bool>=1", "    ^", "bool is a boolean: only"},
		{"aoe<linux", "   ^", "aoe is a string_array: only"},
		{"feature>=fast", "       ^", "feature is a string_array: only"},
		{"bool=maybe", "     ^", `"maybe" is neither True nor False`},
		{"aoe='a,b'", "    ^", "one member of a string_array"},
		{"mpiprocs>=2", "^", "nodes have none of it"},
		{"feature=", "        ^", "expected the name of a feature"},
		{"FEATURE:", "        ^", "expected the name of a feature"},
		{"feature=a b", "        ^", `"a b" cannot be a feature`},
		{"PREF(FEATURE:a", "^", `"PREF(FEATURE" cannot be a feature`},
		{"color='red", "      ^", "the quote is not closed"},
		{"color=\x1b", "      ^", "cannot be printed"},
		{strings.Repeat("x", MaxText+1), "", "longer than"},
	} {
		_, err := ParsePrefer(defs, []string{"fast", c.item})
		var se *syntax.Error
		if !errors.As(err, &se) || !errors.Is(err, ErrRequest) {
			t.Errorf("%.40q: %v", c.item, err)
			continue
		}
		if _, caret, _ := strings.Cut(se.Caret(), "\n"); c.caret != "" && caret != c.caret {
			t.Errorf("%q: %s\n%s", c.item, se.Msg, se.Caret())
		}
		if !strings.Contains(se.Error(), c.msg) {
			t.Errorf("%.40q: %v\nwant %s", c.item, se, c.msg)
		}
	}
	if _, err := ParsePrefer(defs, make([]string, MaxWants+1)); !errors.Is(err, ErrRequest) {
		t.Error(err)
	}
	many := strings.Split(strings.Repeat("fast,", MaxWants)+"fast", ",")
	if _, err := ParsePrefer(defs, many); !errors.Is(err, ErrRequest) || !strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
}

func TestPreferAllocates(t *testing.T) {
	defs := testDefs(t)
	n := preferNode(t, defs, "n1", "ncpus=8 mem=64gb color=red aoe=linux,bsd bool=True", "slow")
	p, err := ParsePrefer(defs, []string{"fast", "aoe=beos", "mem>=65gb", "color=blue", "bool=no", "host=n2"})
	if err != nil {
		t.Fatal(err)
	}
	if allocs := testing.AllocsPerRun(100, func() {
		if p.Matches(n) {
			t.Error("it matches")
		}
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func FuzzPrefer(f *testing.F) {
	for _, s := range []string{"fast", "FEATURE:fast", "mem >= 64gb", "color='a\"b'", "bool", "aoe!=x", "ncpus=>1"} {
		f.Add(s)
	}
	defs := testDefs(f)
	nodes := []*index.Node{{Name: "n"}, preferNode(f, defs, "m", "ncpus=8 mem=64gb color=red aoe=linux,bsd bool=True",
		"fast")}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePrefer(defs, []string{s})
		if err != nil {
			syntaxtest.Printable(t, err)
			return
		}
		if p.Empty() {
			t.Fatal("nothing is preferred")
		}
		for _, n := range nodes {
			p.Matches(n)
		}
	})
}
