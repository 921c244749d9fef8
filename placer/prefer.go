package placer

import (
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
)

// A preference corresponds to Maui's PREF(FEATURE:a,FEATURE:b). On our command line it is a list of
// items. A node that matches any item is preferred:
//
//	fast  feature=fast  FEATURE:fast     a feature of the node
//	mem>=64gb  ncpus>8  disk<=1tb        the node's configured amount
//	color=red  aoe!=linux                a word, or one of a string_array's
//	ssd  ssd=yes                         a boolean
//
// A preference orders nodes through the term PREF of a PRIORITYF. It never decides whether a node
// can serve the request.

// Preference says which nodes a request prefers. The zero value prefers none.
type Preference struct{ any []condition }

// condition is one item of a preference.
type condition struct {
	res   index.ResID
	typ   index.Type
	op    compareOp
	also  bool // a node with the feature named by value.Str matches, too
	value index.Value
}

// compareOp is the operator between a node's value and a condition's.
type compareOp uint8

const (
	opEqual compareOp = iota
	opUnequal
	opAtLeast
	opAtMost
	opMore
	opLess
)

var compareOps = map[string]compareOp{
	"=": opEqual, "==": opEqual, "!=": opUnequal, ">=": opAtLeast, "<=": opAtMost, ">": opMore, "<": opLess,
}

// misspeltOps maps operators of other languages to the right ones.
var misspeltOps = map[string]string{"=>": ">=", "=<": "<=", "<>": "!=", "===": "==", "!==": "!=", "!": "!="}

// ParsePrefer reads the items of a preference. A bare word is a feature or, if a boolean resource
// has that name, also that boolean being true. = and == mean the same. The error is a *syntax.Error
// that shows the item.
func ParsePrefer(defs *index.Defs, items []string) (Preference, error) {
	var pref Preference
	for _, item := range items {
		p, err := newReader(defs, "preference", item)
		if err != nil {
			return Preference{}, err
		}
		if len(pref.any) == MaxWants {
			return Preference{}, p.Fail(0, "more than %d preferences", MaxWants)
		}
		c, err := p.condition()
		if err != nil {
			return Preference{}, err
		}
		pref.any = append(pref.any, c)
	}
	return pref, nil
}

// Empty reports whether the preference prefers no nodes.
func (p Preference) Empty() bool { return len(p.any) == 0 }

// Matches reports whether a node is preferred. A value that the node lacks counts as 0, as false,
// or as a word that differs from all others.
func (p Preference) Matches(n *index.Node) bool {
	for i := range p.any {
		if p.any[i].matches(n) {
			return true
		}
	}
	return false
}

func (c *condition) matches(n *index.Node) bool {
	if c.res == index.Feature {
		return slices.Contains(n.Features, c.value.Str) == (c.op == opEqual)
	}
	have, ok := n.Get(c.res)
	switch {
	case c.typ == index.String:
		if !ok && (c.res == index.Host || c.res == index.VNode) {
			have.Str = n.Name // by default, a node is a host of its own
		}
		return (have.Str == c.value.Str) == (c.op == opEqual)
	case c.typ == index.StringArray:
		return hasMember(have.Str, c.value.Str) == (c.op == opEqual)
	case c.also && slices.Contains(n.Features, c.value.Str):
		return true
	}
	return c.op.holds(have.Num, c.value.Num)
}

func (op compareOp) holds(have, want int64) bool {
	switch op {
	case opEqual:
		return have == want
	case opUnequal:
		return have != want
	case opAtLeast:
		return have >= want
	case opAtMost:
		return have <= want
	case opMore:
		return have > want
	}
	return have < want
}

// hasMember searches a string_array's value in place: splitting it would allocate for every node.
func hasMember(members, word string) bool {
	for members != "" {
		var m string
		if m, members, _ = strings.Cut(members, ","); m == word {
			return true
		}
	}
	return false
}

// condition reads one item, which is all of the text.
func (p *reader) condition() (condition, error) {
	p.SkipSpace()
	for p.End > p.At && (p.Text[p.End-1] == ' ' || p.Text[p.End-1] == '\t') {
		p.End--
	}
	at := p.At
	for p.At < p.End && strings.IndexByte("=!<>: \t", p.Text[p.At]) < 0 {
		p.At++
	}
	name := p.Text[at:p.At]
	switch p.SkipSpace(); {
	case name == "":
		return condition{}, p.Fail(at, "expected a feature such as fast, or a condition such as mem>=64gb")
	case !index.ValidNodeName(name):
		return condition{}, p.noFeature(at, name)
	case p.At == p.End:
		return p.bareWord(name)
	case p.Peek() == ':':
		if !strings.EqualFold(name, "feature") {
			return condition{},
				p.Fail(p.At, "a colon comes after feature only: write %s>=, %s= or another of == != >= <= > <", name,
					name)
		}
		p.At++
		return p.feature(opEqual)
	}
	opAt := p.At
	op, err := p.compareOp(name)
	if err != nil {
		return condition{}, err
	}
	def, ok := p.Defs.Lookup(name)
	switch {
	case !ok:
		return condition{}, p.noResource(at, name)
	case def.Directive:
		return condition{}, p.Fail(at, "%s is for the job's launcher: nodes have none of it", def.Name)
	case op > opUnequal && !def.Type.Numeric():
		return condition{}, p.Fail(opAt, "%s is a %s: only = and != can compare it", def.Name, def.Type)
	case def.ID == index.Feature:
		return p.feature(op)
	}
	c := condition{res: def.ID, typ: def.Type, op: op}
	c.value, err = p.compared(def)
	return c, err
}

// bareWord makes a condition of an item without an operator.
func (p *reader) bareWord(word string) (condition, error) {
	def, ok := p.Defs.Lookup(word)
	switch {
	case !ok:
		return condition{res: index.Feature, typ: index.StringArray, value: index.Value{Str: word}}, nil
	case def.Type == index.Boolean:
		return condition{res: def.ID, typ: def.Type, also: true, value: index.Value{Num: 1, Str: word}}, nil
	}
	example := "="
	if def.Type.Numeric() {
		example = ">="
	}
	return condition{}, p.Fail(p.End, "expected a comparison such as %s%s after %s, which is a %s; a feature of that "+
		"name is written feature=%s",
		word, example, word, def.Type, word)
}

// feature reads the rest of the item as the name of a feature.
func (p *reader) feature(op compareOp) (condition, error) {
	at := p.At
	word, err := p.comparedText()
	if err != nil {
		return condition{}, err
	}
	if !index.ValidNodeName(word) {
		return condition{}, p.noFeature(at, word)
	}
	return condition{res: index.Feature, typ: index.StringArray, op: op, value: index.Value{Str: word}}, nil
}

func (p *reader) noFeature(at int, word string) error {
	if word == "" {
		return p.Fail(at, "expected the name of a feature")
	}
	return p.Fail(at, "%q cannot be a feature: expected letters, digits and . - _, or a condition such as mem>=64gb",
		word)
}

// compareOp reads an operator.
func (p *reader) compareOp(name string) (compareOp, error) {
	at := p.At
	for p.At < p.End && strings.IndexByte("=!<>", p.Text[p.At]) >= 0 {
		p.At++
	}
	text := p.Text[at:p.At]
	if op, ok := compareOps[text]; ok {
		return op, nil
	}
	if meant := misspeltOps[text]; meant != "" {
		return 0, p.Fail(at, "no comparison %q; did you mean %s?", text, meant)
	}
	return 0, p.Fail(at, "expected one of == = != >= <= > < after %s", name)
}

// compared reads the rest of the item as a value of a resource, in the notation of our own options.
func (p *reader) compared(def index.Def) (index.Value, error) {
	at := p.At
	text, err := p.comparedText()
	if err != nil {
		return index.Value{}, err
	}
	switch {
	case text == "":
		return index.Value{}, p.Fail(p.End, "expected what to compare %s with", def.Name)
	case def.Type == index.StringArray && strings.Contains(text, ","):
		return index.Value{}, p.Fail(at, "%s is compared with one member of a string_array, not with a list", def.Name)
	}
	value, err := def.ParseLoose(text)
	if err != nil {
		return value, p.Fail(at, "%s: %v", def.Name, err)
	}
	return value, nil
}

// comparedText returns the rest of the item, without blanks around it and without its quotes.
func (p *reader) comparedText() (string, error) {
	p.SkipSpace()
	var text []byte
	for p.At < p.End {
		if c := p.Text[p.At]; c == '"' || c == '\'' {
			inside, err := p.Quoted(c)
			if err != nil {
				return "", err
			}
			text = append(text, inside...)
			continue
		}
		from := p.At
		if err := p.Step(); err != nil {
			return "", err
		}
		text = append(text, p.Text[from:p.At]...)
	}
	return string(text), nil
}
