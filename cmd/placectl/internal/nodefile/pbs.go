package nodefile

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/placectl/placectl/index"
)

// pbsnodes prints nodes as names at the beginning of lines, with indented attributes below, or as JSON.
// Torque does the same with other attributes.

// pbsNodes are the nodes read.
type pbsNodes struct {
	*foreign
	consumable map[string]bool // resources that a job has on some node
}

// pbsAttribute is an attribute of a node. Its resources are called resources_available.mem and so on.
type pbsAttribute struct {
	key, text string
	at        int
}

func (f *File) parsePBS() error {
	s := &pbsNodes{foreign: f.foreign(), consumable: make(map[string]bool)}
	read := s.text
	if strings.HasPrefix(firstWord(f.Data), "{") {
		read = s.json
	}
	if err := read(); err != nil {
		return err
	}
	for _, n := range s.nodes {
		for i := range n.given {
			if g := &n.given[i]; strings.HasPrefix(g.key, pbsHas) {
				g.def.Consumable = s.consumable[g.def.Name]
			}
		}
	}
	return s.done()
}

const (
	pbsHas  = "resources_available."
	pbsUsed = "resources_assigned."
)

// text reads the output of pbsnodes -a.
func (s *pbsNodes) text() error {
	name, begins, at := "", 0, 0
	var list []pbsAttribute
	for line := range bytes.Lines(s.Data) {
		in := at
		at += len(line)
		text := strings.TrimRight(string(line), " \t\r\n")
		bare := strings.TrimLeft(text, " \t")
		if bare == "" {
			continue
		}
		if len(bare) == len(text) {
			if err := s.node(name, begins, list); err != nil {
				return err
			}
			name, begins, list = text, in, nil
			continue
		}
		key, value, ok := strings.Cut(bare+" ", " = ") // the value may be empty
		switch {
		case name == "":
			return s.Errorf(in, "an attribute comes before the first node; node names begin a line")
		case !ok:
			return s.Errorf(in, "an attribute must be NAME = VALUE")
		}
		list = append(list, pbsAttribute{key, strings.TrimSpace(value), in + len(text) - len(bare)})
	}
	return s.node(name, begins, list)
}

// json reads the output of pbsnodes -F json.
func (s *pbsNodes) json() error {
	docs, err := s.documents()
	if err != nil {
		return err
	}
	nodes := docs[0].get("nodes")
	if !nodes.isObject() {
		return s.Errorf(docs[0].at, `the nodes of PBS are an object: {"nodes":{"n1":{"state":"free"}}}`)
	}
	return nodes.each(func(name string, d *document) error {
		var list []pbsAttribute
		err := d.each(func(key string, m *document) error {
			if m.isObject() {
				return m.each(func(resource string, v *document) error {
					list = append(list, pbsAttribute{key + "." + resource, v.word(), v.at})
					return nil
				})
			}
			list = append(list, pbsAttribute{key, m.word(), m.at})
			return nil
		})
		if err != nil {
			return err
		}
		return s.node(name, d.at, list)
	})
}

// vnode matches PBS's name for a part of a node: g1[0].
var vnode = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([^\[\]]+)\[([0-9]+)\]$`) })

// node sets a node's values. g1[0] becomes g1.0, and keeps the old name as its vnode.
func (s *pbsNodes) node(name string, at int, list []pbsAttribute) error {
	if name == "" && len(list) == 0 {
		return nil
	}
	own := name
	if m := vnode().FindStringSubmatch(name); m != nil {
		own = m[1] + "." + m[2]
	}
	n, err := s.foreign.node(own, at)
	if err != nil {
		return err
	}
	if own != name {
		n.give("name", "vnode", name, at)
	}
	var state, reason pbsAttribute
	for _, a := range list {
		s.seen[a.key] = true
		switch {
		case n.wanted(a.key, a.text, a.at):
		case a.key == "state":
			state = a
		case a.key == "comment" || a.key == "note":
			reason = a
		default:
			s.attribute(n, a)
		}
	}
	n.state(state.key, pbsState(state.text), state.at, reason.key, reason.text, reason.at)
	return nil
}

// attribute sets the value of an attribute.
func (s *pbsNodes) attribute(n *found, a pbsAttribute) {
	resource, has := strings.CutPrefix(a.key, pbsHas)
	switch {
	case a.text == "" || a.text == "<various>":
	case has && resource == "vnode":
		if !strings.EqualFold(a.text, n.name) && !n.has("vnode") {
			n.unmapped(a.key, a.text)
		}
	case has:
		n.declare(a.key, a.text, a.at, index.Def{Name: resource})
	case a.key == "queue", a.key == "sharing":
		n.give(a.key, a.key, a.text, a.at)
	case a.key == "Priority":
		n.give(a.key, "priority", a.text, a.at)
	case a.key == "np":
		n.give(a.key, "ncpus", a.text, a.at)
	case a.key == "gpus":
		n.give(a.key, "ngpus", a.text, a.at)
	case a.key == "properties":
		n.give(a.key, "features", a.text, a.at)
	case a.key == "status":
		s.status(n, a)
	default:
		if used, ok := strings.CutPrefix(a.key, pbsUsed); ok {
			s.consumable[used] = true
		}
		n.unmapped(a.key, a.text)
	}
}

// status takes memory and load from the last report of Torque's host.
func (s *pbsNodes) status(n *found, a pbsAttribute) {
	for word := range strings.SplitSeq(a.text, ",") {
		switch key, value, _ := strings.Cut(word, "="); key {
		case "physmem":
			n.give("status "+key, "mem", value, a.at)
		case "loadave":
			n.give("status "+key, "load", value, a.at)
		}
	}
	n.unmapped("status (rest)", "")
}

// pbsState returns down before offline, and offline before anything else.
func pbsState(text string) index.State {
	words := strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' })
	for _, w := range []string{"down", "stale", "state-unknown", "unknown"} {
		if slices.Contains(words, w) {
			return index.Down
		}
	}
	if slices.Contains(words, "offline") {
		return index.Offline
	}
	return index.Up
}
