package nodefile

import (
	"slices"
	"strings"

	"github.com/placectl/placectl/internal/text"
)

// Ansible writes its inventory with the variables of hosts (ansible-inventory --list), and
// what it finds out about a host as one file each (setup --tree), which may stand one after
// the other.

// otherFacts is what all facts are called that are not imported.
const otherFacts = "other facts"

func (f *File) parseAnsible() error {
	docs, err := f.documents()
	if err != nil {
		return err
	}
	s := f.foreign()
	facts := make(map[string]bool)
	for _, d := range docs {
		hosts := d.get("_meta", "hostvars")
		switch {
		case hosts.isObject():
			err = s.inventory(d, hosts, facts)
		case d.get("ansible_facts").isObject():
			err = s.facts(d, facts)
		default:
			err = f.Errorf(d.at, "the output of Ansible has _meta.hostvars (ansible-inventory --list) or ansible_facts (setup --tree), and this has neither")
		}
		if err != nil {
			return err
		}
	}
	if u := s.left[otherFacts]; u != nil {
		u.Field = text.Plural(len(facts), "other fact")
	}
	return s.done()
}

// inventory reads hosts with their variables, and the groups that they are in.
func (s *foreign) inventory(d, hosts *document, facts map[string]bool) error {
	in := make(map[string][]string)
	groups := ansibleGroups{d: d, in: in, busy: make(map[string]bool)}
	for _, name := range d.memberNames() {
		if name != "_meta" && name != "all" && name != "ungrouped" {
			groups.collect(name, name)
		}
	}
	return hosts.each(func(name string, vars *document) error {
		n, err := s.node(name, vars.at)
		if err != nil {
			return err
		}
		n.give("groups", "features", strings.Join(in[name], ","), vars.at)
		n.give("hostvars", "state", "free", vars.at)
		return s.variables(n, vars, facts)
	})
}

// ansibleGroups says in which groups hosts are.
type ansibleGroups struct {
	d    *document
	in   map[string][]string
	busy map[string]bool // groups that are being gone through
}

// collect adds the hosts of a group, and of those below it, to a group.
func (g ansibleGroups) collect(group, to string) {
	if g.busy[group] || len(g.busy) > maxDepth {
		return
	}
	g.busy[group] = true
	defer delete(g.busy, group)
	for _, h := range g.d.get(group, "hosts").list() {
		if !slices.Contains(g.in[h.text], to) {
			g.in[h.text] = append(g.in[h.text], to)
		}
	}
	for _, c := range g.d.get(group, "children").list() {
		g.collect(c.text, to)
	}
}

// facts reads what was found out about one host.
func (s *foreign) facts(d *document, facts map[string]bool) error {
	vars := d.get("ansible_facts")
	name := vars.get("ansible_nodename")
	if name.word() == "" {
		return s.Errorf(d.at, "ansible_facts has no ansible_nodename")
	}
	n, err := s.node(name.text, name.at)
	if err != nil {
		return err
	}
	n.give("ansible_facts", "state", "free", d.at)
	return s.variables(n, vars, facts)
}

func (s *foreign) variables(n *found, vars *document, facts map[string]bool) error {
	return vars.each(func(name string, m *document) error {
		s.seen[name] = true
		switch {
		case n.wanted(name, m.word(), m.at), name == "ansible_nodename":
		case name == "ansible_processor_vcpus":
			n.give(name, "ncpus", m.word(), m.at)
		case name == "ansible_memtotal_mb":
			n.give(name, "mem", megabytes(m.word(), 0), m.at)
		default:
			facts[name] = true
			n.unmapped(otherFacts, "")
		}
		return nil
	})
}
