package priorityf

import (
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
)

// The terms of a priority function. "Then" is when the request would start.
//
//	PRIORITY            the node's priority
//	SPEED               its speed, 1 if none is set
//	LOAD                its load: measured now, or the cpus planned on it for a later start
//	USAGE               how much of its time it was busy, 0 to 1
//	JOBCOUNT            jobs on it then
//	FREETIME            seconds from then to its next event, MaxFreeTime at most
//	NODEINDEX           its number: nodes are numbered as they are declared
//	PREF                1 if the request prefers it, else 0
//	RESAFFINITY         1, 0 or -1: the affinity to the reservation it is in; a required one is 1
//	FEATURE[x]          1 if it has the feature x, written exactly so, else 0; in quotes if x contains a ]
//	CPROCS CMEM CSWAP CDISK   cpus, and MB of memory, swap and disk, that it has
//	APROCS AMEM ASWAP ADISK   of these, the part not taken then; 0 if a job has the whole node
//	C.name A.name       the same of any consumable resource: a size in MB, a long or float as it is
//
// A MB is 1024 kb. A node that does not name a resource has 0 of it. Names of resources may
// have hyphens, so the name after A. or C. is the longest one declared: A.gpu-mem is the
// resource gpu-mem if there is one, else gpu minus the term mem.

// MaxFreeTime is the FREETIME, in seconds, of a node whose next event is later or does not exist: about
// 31 years. It is beyond any plan, and small enough for a sum not to lose the other terms in rounding.
const MaxFreeTime = 1_000_000_000

// The terms.
const (
	opPriority op = opTerms + iota
	opSpeed
	opLoad
	opUsage
	opJobCount
	opFreeTime
	opNodeIndex
	opPref
	opAffinity
	opFeature
	opConfigured
	opAvailable
	opValue // of a job: one of the caller's values
)

// oneWordTerms are the terms of one word: all but FEATURE, A and C.
var oneWordTerms = []struct {
	name string
	op   op
	res  index.ResID
	doc  string
}{
	{"PRIORITY", opPriority, 0, "the node's priority"},
	{"SPEED", opSpeed, 0, "its speed, 1 if none is set"},
	{"LOAD", opLoad, 0, "its load: measured now, or the cpus planned on it for a later start"},
	{"USAGE", opUsage, 0, "how much of its time it was busy, 0 to 1; Maui's manual has a percentage, so multiply its " +
		"weights by 100"},
	{"JOBCOUNT", opJobCount, 0, "jobs on it when the request would start"},
	{"FREETIME", opFreeTime, 0, "seconds from then to its next event, a billion at most"},
	{"NODEINDEX", opNodeIndex, 0, "its number, in the order of declaration"},
	{"PREF", opPref, 0, "1 if the request prefers it, else 0"},
	{"RESAFFINITY", opAffinity, 0, "1, 0 or -1: the affinity to the reservation it is in"},
	{"CPROCS", opConfigured, index.NCPUs, "its cpus"},
	{"CMEM", opConfigured, index.Mem, "its memory in MB"},
	{"CSWAP", opConfigured, index.Swap, "its swap in MB"},
	{"CDISK", opConfigured, index.Disk, "its disk in MB"},
	{"APROCS", opAvailable, index.NCPUs, "cpus not taken when the request would start; 0 if a job has the whole node"},
	{"AMEM", opAvailable, index.Mem, "memory not taken then, in MB"},
	{"ASWAP", opAvailable, index.Swap, "swap not taken then, in MB"},
	{"ADISK", opAvailable, index.Disk, "disk not taken then, in MB"},
}

// Component is a component of the priority function of a node.
type Component struct{ Name, Doc string }

// Components lists the components, Maui's seventeen first.
func Components() []Component {
	var list []Component
	for _, t := range oneWordTerms {
		list = append(list, Component{t.name, t.doc})
	}
	return append(list, Component{"FEATURE[x]", "1 if the node has the feature x, else 0"},
		Component{"C.name, A.name", "what it has of any consumable resource, and the part not taken"})
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// has searches the row from the front, where the built-in resources are. A binary search takes
// longer, and needs a closure.
func (s *Node) has(id index.ResID) int64 {
	for i := range s.Node.Res {
		if s.Node.Res[i].Res == id {
			return s.Node.Res[i].Value.Num
		}
	}
	return 0
}

// available returns what is left of a resource, at least 0: a node may have been reduced to
// less than its jobs hold.
func (s *Node) available(id index.ResID) int64 {
	if s.Whole {
		return 0
	}
	left := s.has(id)
	for i := range s.Taken {
		if s.Taken[i].Res == id {
			return max(left-s.Taken[i].Value.Num, 0)
		}
	}
	return max(left, 0)
}

// oneWordTerm finds a term, in any case.
func oneWordTerm(defs *index.Defs, word string) (expr, bool) {
	for _, t := range oneWordTerms {
		if !strings.EqualFold(word, t.name) {
			continue
		}
		if t.op == opConfigured || t.op == opAvailable {
			def, _ := defs.Get(t.res)
			return counting(t.op, def, t.name), true
		}
		return expr{op: t.op, weight: 1, name: t.name}, true
	}
	return expr{}, false
}

// counting returns a term that counts a resource. Its unit is one MB of a size, 1 of anything else.
func counting(op op, def index.Def, name string) expr {
	one := "1"
	if def.Type == index.Size {
		one = "1mb"
	}
	unit, err := def.ParseValue(one)
	if err != nil {
		panic(err) // every numeric type has a 1
	}
	return expr{op: op, res: def.ID, num: float64(unit.Num), weight: 1, name: name}
}

// noTerm returns the error for an unknown word before the reader.
func (p *exprReader) noTerm(at int, word string) error {
	if p.Peek() == '.' {
		return p.Fail(at, "no term %q: a resource is A.name for what is available of it, C.name for what is configured",
			word)
	}
	if def, ok := p.Defs.Lookup(word); ok && def.Consumable {
		return p.Fail(at, "no term %q: write A.%s for what is available of it, C.%[2]s for what is configured", word,
			def.Name)
	}
	known := []string{"FEATURE", "min", "max", "abs"}
	var all []string
	for _, t := range oneWordTerms {
		known, all = append(known, t.name), append(all, t.name)
	}
	hint := index.DidYouMean(word, known)
	if hint == "" {
		hint = "; there are " + strings.Join(all, ", ") + ", FEATURE[x], C.name and A.name"
	}
	return p.Fail(at, "no term %q%s", word, hint)
}

// feature reads the [x] or ['x'] after FEATURE.
func (p *exprReader) feature() (expr, error) {
	if p.SkipSpace(); p.Peek() != '[' {
		return expr{}, p.expected("[ and the name of a feature after FEATURE")
	}
	p.At++
	start := p.At
	var name string
	if c := p.Peek(); c == '\'' || c == '"' {
		var err error
		if name, err = p.Quoted(c); err != nil {
			return expr{}, err
		}
	} else {
		for p.At < p.End && p.Peek() != ']' {
			p.At++
		}
		name = p.Text[start:p.At]
	}
	switch {
	case p.Peek() != ']':
		return expr{}, p.expected("] after the name of a feature")
	case !index.ValidNodeName(name):
		return expr{}, p.Fail(start, "%q cannot be a feature", name)
	}
	p.At++
	return expr{op: opFeature, weight: 1, name: name}, nil
}

// quoteFeature quotes a feature that contains a ]. None contains quotes.
func quoteFeature(name string) string {
	if strings.IndexByte(name, ']') < 0 {
		return name
	}
	return "'" + name + "'"
}

// resource reads the .name after A or C.
func (p *exprReader) resource(op op, letter string) (expr, error) {
	if p.Peek() != '.' {
		return expr{}, p.expected(". and a consumable resource after " + letter)
	}
	p.At++
	start := p.At
	name := p.Name()
	if name == "" {
		return expr{}, p.expected("a consumable resource after " + letter + ".")
	}
	def, ok := p.longest(name, true)
	if !ok {
		return expr{}, p.noConsumable(start, name)
	}
	p.At = start + len(def.Name)
	return counting(op, def, letter+"."+def.Name), nil
}

// longest finds the resource whose name is the whole text, or the text up to one of its hyphens.
func (p *exprReader) longest(text string, consumable bool) (index.Def, bool) {
	for end := len(text); end > 0; end = strings.LastIndexByte(text[:end], '-') {
		if def, ok := p.Defs.Lookup(text[:end]); ok && (def.Consumable || !consumable) {
			return def, true
		}
	}
	return index.Def{}, false
}

// noConsumable returns the error for an unknown name after A. or C.
func (p *exprReader) noConsumable(at int, name string) error {
	if def, ok := p.longest(name, false); ok {
		return p.Fail(at, "%s is not a consumable resource", def.Name)
	}
	consumables := slices.DeleteFunc(slices.Clone(p.Defs.All()), func(def index.Def) bool { return !def.Consumable })
	known := make([]string, len(consumables))
	for i, def := range consumables {
		known[i] = def.Name
	}
	hint := index.DidYouMean(name, known)
	if hint == "" { // another term may follow a hyphen
		name, _, _ = strings.Cut(name, "-")
		hint = index.DidYouMean(name, known)
	}
	return p.Fail(at, "no resource %q%s", name, hint)
}
