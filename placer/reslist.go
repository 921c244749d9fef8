package placer

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/placer/syntax"
)

// resourceList is a resource list, which PBS users write behind -l: name=value, joined by commas.
// It has three forms:
//
//	ncpus=2,mem=4gb,walltime=1:00:00    one chunk of these resources, packed
//	nodes=2:ppn=4,walltime=30:00        a node specification, scattered
//	select=2:ncpus=4,place=scatter      a select and a place
//
// A place goes with a select or alone. Like PBS, placectl refuses it beside resources or nodes=.
type resourceList struct {
	sel, place, nodes *reader // the values of these keys, not read yet
	walltime          int64
	wants             []listWant
	pools             []PoolAmount
}

// listWant is a resource of a list and its position.
type listWant struct {
	Want
	def index.Def
	at  int
}

// isResourceList reports whether a text is a resource list rather than a select. It is if it has a
// comma outside quotes, or if its first key is one that only lists have, such as a pool.
func isResourceList(defs *index.Defs, s string) bool {
	p := reader{Scanner: syntax.New(nil, "", s)}
	p.SkipSpace()
	if key := p.Name(); p.Peek() == '=' {
		if _, pool := defs.Pool(key); pool || isListKey(key) {
			return true
		}
	}
	return listItem(s, 0) < len(s)
}

func isListKey(key string) bool {
	for _, k := range [...]string{"select", "place", "nodes", "walltime"} {
		if strings.EqualFold(k, key) {
			return true
		}
	}
	return false
}

// listItem returns the position of the comma that ends the item at at, or of the text's end.
func listItem(s string, at int) int {
	var quote byte
	for i := at; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == ',':
			return i
		}
	}
	return len(s)
}

// parseResourceList reads a resource list. given is the place written beside it, or nil if there is
// none.
func parseResourceList(defs *index.Defs, s string, given *Place) (Spec, error) {
	var l resourceList
	p, err := l.read(defs, s)
	if err != nil {
		return Spec{}, err
	}
	return l.spec(&p, given)
}

// read reads all items of a list.
func (l *resourceList) read(defs *index.Defs, s string) (p reader, err error) {
	if p, err = newReader(defs, "resource list", s); err != nil {
		return p, err
	}
	for {
		p.End = listItem(s, p.At)
		if err = l.item(&p); err != nil || p.End == len(s) {
			return p, err
		}
		p.At = p.End + 1
	}
}

// Amend returns the request with what a text names instead. A select replaces the chunks. A resource
// list replaces what it names, such as the walltime or the pools. If the request has one chunk, single
// resources of a list replace those of the chunk, and its others stay; a lone ncpus=2 is such a list
// here. On several chunks, they replace all.
func (r Request) Amend(defs *index.Defs, s string) (Request, error) {
	lone := !strings.ContainsAny(s, ":+") && strings.Contains(s, "=")
	if !lone && !isResourceList(defs, s) {
		r.Select = s
		return r, nil
	}
	var l resourceList
	p, err := l.read(defs, s)
	if err != nil {
		return r, err
	}
	named, err := l.spec(&p, nil)
	if err != nil {
		return r, err
	}
	if r.Walltime = cmp.Or(time.Duration(named.Walltime)*time.Second, r.Walltime); len(named.Pools) > 0 {
		r.Pools = named.Pools
	}
	if l.place != nil || l.nodes != nil {
		r.Place = named.Place.String()
	}
	if l.sel == nil && l.nodes == nil {
		has, err := parseTexts(defs, r.Select, "")
		switch {
		case err != nil || len(l.wants) == 0:
			return r, err
		case len(has.Chunks) == 1 && has.Chunks[0].Count == 1:
			named.Chunks = []Chunk{{Count: 1, Wants: amended(has.Chunks[0].Asked(), asked(l.wants))}}
		}
	}
	r.Select = named.Text(defs)
	return r, nil
}

// amended returns wants with others in place of those of the same resources, or behind them.
func amended(has, named []Want) []Want {
	at := func(w Want) int {
		i := slices.IndexFunc(has, func(old Want) bool { return old.Res == w.Res })
		return (i + len(has) + 1) % (len(has) + 1)
	}
	stay := slices.DeleteFunc(slices.Clone(has), func(w Want) bool { return names(named, w.Res) })
	all := append(stay, named...)
	slices.SortStableFunc(all, func(a, b Want) int { return at(a) - at(b) })
	return all
}

// asked returns what is wanted of single resources.
func asked(list []listWant) (wants []Want) {
	for _, w := range list {
		wants = append(wants, w.Want)
	}
	return wants
}

// item reads one name=value.
func (l *resourceList) item(p *reader) error {
	p.SkipSpace()
	at := p.At
	key := p.Name()
	switch {
	case key == "" && syntax.IsDigit(p.Peek()):
		return p.Fail(at, "expected name=value; inside a resource list a select is written select=...")
	case key == "":
		return p.Fail(at, "expected name=value")
	case p.Peek() != '=':
		return p.Fail(p.At, "expected = and a value after %s", key)
	}
	p.At++
	switch strings.ToLower(key) {
	case "select":
		return l.keep(p, at, &l.sel)
	case "place":
		return l.keep(p, at, &l.place)
	case "nodes":
		return l.keep(p, at, &l.nodes)
	case "walltime":
		if l.walltime != 0 {
			return p.Fail(at, "walltime is given twice")
		}
		v := p.withoutQuotes()
		var err error
		l.walltime, err = v.walltime()
		return err
	}
	return l.want(p, at, key)
}

// keep stores a value until the whole list is known.
func (l *resourceList) keep(p *reader, at int, part **reader) error {
	if *part != nil {
		return p.Fail(at, "%s is given twice", p.Text[at:p.At-1])
	}
	v := p.withoutQuotes()
	*part = &v
	return nil
}

// withoutQuotes returns a reader for the rest of the part, without a pair of quotes around all of
// it.
func (p *reader) withoutQuotes() reader {
	v := *p
	if c := v.Peek(); (c == '"' || c == '\'') && v.At+1 < v.End && strings.IndexByte(v.Text[v.At+1:v.End], c) == v.End-
		v.At-2 {
		v.At++
		v.End--
	}
	return v
}

// want reads a resource of the list's single chunk.
func (l *resourceList) want(p *reader, at int, key string) error {
	if name, ok := p.Defs.Pool(key); ok {
		return l.pool(p, at, name)
	}
	def, ok := p.Defs.Lookup(key)
	if !ok {
		known := append(append(p.Defs.Names(), p.Defs.Pools()...), "select", "place", "nodes", "walltime")
		return p.FailAs(at, index.NoResource(key, known))
	}
	valueAt := p.At
	text, err := p.value()
	if err != nil {
		return err
	}
	if p.At < p.End {
		return p.Fail(p.At, "%q in a resource list: its parts are joined by commas; chunks are written select=...",
			p.Text[p.At])
	}
	value, err := p.typed(def, valueAt, text)
	if err != nil {
		return err
	}
	for _, w := range l.wants {
		if w.def.ID == def.ID && (def.ID != index.Feature || w.Value == value) {
			return p.Fail(at, "%s is given twice", key)
		}
	}
	if len(l.wants) >= MaxWants {
		return p.Fail(at, "more than %d resources", MaxWants)
	}
	l.wants = append(l.wants, listWant{Want: Want{Res: def.ID, Value: value}, def: def, at: at})
	return nil
}

// pool reads an amount of a pool.
func (l *resourceList) pool(p *reader, at int, name string) error {
	text, err := p.value()
	if err != nil {
		return err
	}
	if p.At < p.End {
		return p.Fail(p.At, "%s is a pool of the whole cluster, so ask for it once: join the parts of a list by commas",
			name)
	}
	amount, err := poolAmount(name, text)
	if err != nil {
		return p.Fail(at, "the amount of a pool is a whole number from 1 to %d", int64(limits.MaxAmount))
	}
	if slices.ContainsFunc(l.pools, func(a PoolAmount) bool { return a.Pool == name }) {
		return p.Fail(at, "%s is given twice", name)
	}
	l.pools = append(l.pools, PoolAmount{name, amount})
	return nil
}

// spec turns the list into one request.
func (l *resourceList) spec(p *reader, given *Place) (Spec, error) {
	spec := Spec{Walltime: l.walltime, Pools: l.pools}
	if err := l.checkMix(p, given != nil); err != nil {
		return spec, err
	}
	var err error
	switch {
	case l.nodes != nil:
		spec.Chunks, spec.Place, err = l.nodes.nodes(l.wants)
		return spec, err
	case l.sel != nil:
		spec.Chunks, err = l.sel.chunks()
	default:
		spec.Chunks, err = l.plainChunk(), nil
	}
	if err != nil {
		return spec, err
	}
	switch {
	case given != nil:
		spec.Place = *given
	case l.place != nil:
		spec.Place, err = l.place.place()
	case l.sel == nil:
		spec.Place.Arrange = Pack
	}
	return spec, err
}

// checkMix refuses combinations that PBS refuses.
func (l *resourceList) checkMix(p *reader, given bool) error {
	switch {
	case given && l.place != nil:
		return p.Fail(l.place.At, "the place is given twice: in the resource list and beside it")
	case l.sel != nil && l.nodes != nil:
		return p.Fail(l.nodes.At, "select= and nodes= exclude each other")
	case l.sel != nil && len(l.wants) > 0:
		return p.Fail(l.wants[0].at, "%s cannot stand beside select=: write it into the chunk", l.wants[0].def.Name)
	case (given || l.place != nil) && l.nodes != nil:
		return p.Fail(l.nodes.At,
			"nodes= cannot stand beside a place: it scatters, and takes #excl or #shared at its end")
	case (given || l.place != nil) && len(l.wants) > 0:
		return p.Fail(l.wants[0].at, "%s cannot stand beside a place in a resource list: write a select, its "+
			"resources joined by colons", l.wants[0].def.Name)
	}
	return nil
}

// plainChunk returns the single chunk of a list without select= and nodes=, sorted by resource
// name.
func (l *resourceList) plainChunk() []Chunk {
	wants := l.wants
	if !slices.ContainsFunc(wants, func(w listWant) bool { return w.def.ID == index.NCPUs }) {
		wants = append(wants, listWant{Want: oneCPU, def: index.Def{Name: "ncpus"}})
	}
	slices.SortStableFunc(wants, func(a, b listWant) int { return strings.Compare(a.def.Name, b.def.Name) })
	return []Chunk{{Count: 1, Wants: asked(wants)}}
}
