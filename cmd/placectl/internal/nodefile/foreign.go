package nodefile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/text"
)

// Files of other tools are read in two steps. A reader for the tool translates each node's values, and
// notes those that we have no use for. At the end of the file, missing resources are declared with a
// type that fits all their values, and each node becomes a Patch.

// foreign is a file of another tool.
type foreign struct {
	*File
	nodes  []*found
	byName map[string]*found
	left   map[string]*Unmapped
}

// found is a node as another tool describes it.
type found struct {
	f       *foreign
	name    string
	at      int
	given   []givenText
	devices map[string]devices.Set // by resource
	told    map[string]bool        // fields of this node that the file has
}

// givenText is a value for a field or a resource of ours.
type givenText struct {
	key    string // the tool's name for it
	word   string // our name for it
	text   string
	at     int
	mapped bool      // by --map
	def    index.Def // how to declare the resource if it is missing; with type 0 the values decide
}

// Unmapped is a field that is not imported.
type Unmapped struct {
	Field string
	Nodes int
	value string
	one   bool // the value, if all have the same
}

// String describes the field for notes: weight (40 nodes, all 1).
func (u *Unmapped) String() string {
	s := u.Field + " (" + text.Plural(u.Nodes, "node")
	switch {
	case u.value == "":
	case u.one && u.Nodes > 1:
		s += ", all " + text.Quoted(u.value)
	case u.one:
		s += ", " + text.Quoted(u.value)
	default:
		s += ", such as " + text.Quoted(u.value)
	}
	return s + ")"
}

func (f *File) foreign() *foreign {
	return &foreign{File: f, byName: make(map[string]*found), left: make(map[string]*Unmapped)}
}

// node returns the node of a name, which is new if necessary.
func (f *foreign) node(name string, at int) (*found, error) {
	if err := CheckName(name); err != nil {
		return nil, f.Errorf(at, "%w", err)
	}
	if n := f.byName[name]; n != nil {
		return n, f.Errorf(at, "the node %s is already in the file, at line %d", name, f.At(n.at).Line)
	}
	if len(f.nodes) == maxNodes {
		return nil, f.Errorf(at, "more than %d nodes; import them from several files", maxNodes)
	}
	n := &found{f: f, name: name, at: at, told: make(map[string]bool)}
	f.byName[name] = n
	f.nodes = append(f.nodes, n)
	return n, nil
}

// wanted applies --map and --skip to a value; false if they do not mention its field.
func (n *found) wanted(key, text string, at int) bool {
	m, ok := n.f.opt.Columns[key]
	if !ok {
		return false
	}
	n.f.met[key] = true
	if !m.Skip && text != "" {
		n.given = append(n.given, givenText{key: key, word: m.Field, text: m.complete(text), at: at, mapped: true})
	}
	return true
}

// give sets a value of one of our fields, or of an existing resource.
func (n *found) give(key, word, text string, at int) {
	if text != "" {
		n.given = append(n.given, givenText{key: key, word: word, text: text, at: at})
	}
}

// declare sets a value of a resource, which is declared if it is missing.
func (n *found) declare(key, text string, at int, def index.Def) {
	if text != "" {
		n.given = append(n.given, givenText{key: key, word: def.Name, text: text, at: at, def: def})
	}
}

// has reports whether a field has a value already.
func (n *found) has(word string) bool {
	return slices.ContainsFunc(n.given, func(g givenText) bool { return strings.EqualFold(g.word, word) })
}

// nameDevices sets the devices of a resource.
func (n *found) nameDevices(resource string, set devices.Set) {
	if len(set) == 0 || len(set) > devices.MaxDevices {
		return
	}
	if n.devices == nil {
		n.devices = make(map[string]devices.Set)
	}
	n.devices[resource] = set
}

// unmapped notes a value that is not imported.
func (n *found) unmapped(field, value string) {
	if n.told[field] {
		return
	}
	n.told[field] = true
	n.f.leave(field, value)
}

func (f *foreign) leave(field, value string) {
	u := f.left[field]
	if u == nil {
		u = &Unmapped{Field: field, value: value, one: true}
		f.left[field] = u
		f.Unmapped = append(f.Unmapped, u)
	}
	u.Nodes++
	u.one = u.one && u.value == value
}

// state sets the node's state, and a reason unless it is up.
func (n *found) state(key string, state index.State, at int, reasonKey, reason string, reasonAt int) {
	if state == index.Up {
		n.give(key, "state", "free", at)
		if reason != "" {
			n.unmapped(reasonKey, reason)
		}
		return
	}
	n.give(key, "state", state.String(), at)
	n.give(reasonKey, "reason", reason, reasonAt)
}

// done makes patches of all nodes.
func (f *foreign) done() error {
	if len(f.nodes) == 0 {
		return f.Errorf(0, "the file has no nodes")
	}
	if err := f.declareMissing(); err != nil {
		return err
	}
	for _, n := range f.nodes {
		if err := f.patch(n); err != nil {
			return err
		}
	}
	slices.SortFunc(f.Unmapped, func(a, b *Unmapped) int { return cmp.Compare(a.Field, b.Field) })
	return nil
}

// declareMissing declares missing resources, in the order of the file, with the types of their values.
func (f *foreign) declareMissing() error {
	wanted := make(map[string]*missing)
	var order []*missing
	for _, n := range f.nodes {
		for i := range n.given {
			g := &n.given[i]
			if _, err := findKey(f.Defs, g.word, g.text); err == nil {
				continue
			}
			m := wanted[strings.ToLower(g.word)]
			if m == nil {
				if m = (&missing{Def: g.def, first: g}); m.Name == "" {
					m.Name = g.word
				}
				wanted[strings.ToLower(g.word)] = m
				order = append(order, m)
			}
			m.shown = wider(m.shown, typeOf(g.text))
		}
		for resource := range n.devices {
			if _, ok := f.Defs.Lookup(resource); !ok && wanted[resource] == nil {
				m := &missing{Def: index.Def{Name: resource, Type: index.Long, Consumable: true},
					first: &givenText{at: n.at}}
				wanted[resource] = m
				order = append(order, m)
			}
		}
	}
	for _, m := range order {
		if m.Type == 0 {
			m.Type = m.shown
		}
		m.Consumable = m.Consumable && m.Type.Numeric()
		if err := f.declareOne(m.Def); err != nil {
			return f.Errorf(m.first.at, "%s: %w", m.first.key, err)
		}
	}
	return nil
}

// declareOne declares a resource.
func (f *File) declareOne(def index.Def) error {
	if len(f.Made) == 0 { // the others come from elsewhere
		f.Defs = f.Base.Clone()
	}
	def, err := f.Defs.Add(def)
	if err == nil {
		f.Made = append(f.Made, def)
	}
	return err
}

// missing is a resource to declare.
type missing struct {
	index.Def
	shown index.Type
	first *givenText
}

// typeOf guesses the type of a value.
func typeOf(text string) index.Type {
	if strings.Contains(text, ",") {
		return index.StringArray
	}
	switch t := guessType(text); {
	case t == index.Boolean && !strings.EqualFold(text, "true") && !strings.EqualFold(text, "false"):
		return index.String // on, off, yes and no are also words
	default:
		return t
	}
}

// wider returns a type for values of both types, 0 if there is none.
func wider(a, b index.Type) index.Type {
	number := func(t index.Type) bool { return t == index.Long || t == index.Float }
	switch {
	case a == 0 || a == b:
		return b
	case a == index.StringArray || b == index.StringArray:
		return index.StringArray
	case number(a) && number(b):
		return index.Float
	case a == index.Size && b == index.Long || a == index.Long && b == index.Size:
		return index.Size
	}
	return index.String
}

// patch makes the patch of a node.
func (f *foreign) patch(n *found) error {
	p := Patch{At: n.at}
	p.Name = n.name
	slices.SortStableFunc(n.given, func(a, b givenText) int { return cmp.Compare(rank(a.mapped), rank(b.mapped)) })
	for _, g := range n.given {
		k, err := findKey(f.Defs, g.word, g.text)
		switch {
		case err != nil:
			return f.Errorf(g.at, "node %s: %s: %w", n.name, g.key, err)
		case k.isName:
			if err := CheckName(g.text); err != nil {
				return f.Errorf(g.at, "node %s: %s: %w", n.name, g.key, err)
			}
			p.Name = g.text
			continue
		case k.computed:
			return f.Errorf(g.at, "node %s: %s: %s is computed and cannot be set", n.name, g.key, k.name)
		case p.has(k) && g.mapped:
			return f.Errorf(g.at, "node %s: %s is given twice", n.name, k.name)
		case p.has(k):
			continue
		}
		text := g.text
		if k.field < 0 && k.def.Type == index.Size && index.BareSize(text) && !g.mapped {
			text += "b"
		} else if text, err = f.opt.Units.complete(k, text); err != nil {
			return f.Errorf(g.at, "node %s: %s: %w", n.name, g.key, err)
		}
		if err := p.set(f.Defs, k, text); err != nil {
			return f.Errorf(g.at, "node %s: %s: %w", n.name, g.key, err)
		}
	}
	for _, resource := range sortedKeys(n.devices) {
		def, _ := f.Defs.Lookup(resource)
		if err := countable(def); err != nil {
			return f.Errorf(n.at, "node %s: %w", n.name, err)
		}
		if err := n.devices[resource].Check(); err != nil {
			return f.Errorf(n.at, "node %s: %s: %w", n.name, def.Name, err)
		}
		p.named = append(p.named, given{res: def.ID, set: n.devices[resource]})
	}
	return f.add(p)
}

func rank(mapped bool) int {
	if mapped {
		return 0
	}
	return 1
}

// megabytes writes a number of MiB, minus less, as a size; "" if it is not a number.
func megabytes(text string, less int64) string {
	n, err := strconv.ParseInt(text, 10, 48)
	if err != nil || n <= less {
		return ""
	}
	return fmt.Sprintf("%dmb", n-less)
}
