package nodefile

import (
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
)

// Flux writes a set of resources as R: which ranks have which cores and GPUs, and the hosts
// of the ranks in order. RFC 20 says how.

func (f *File) parseFlux() error {
	docs, err := f.documents()
	if err != nil {
		return err
	}
	s := f.foreign()
	switch d := docs[0]; {
	case d.get("execution").isObject():
		err = s.rlite(d.get("execution"))
	case d.get("graph").isObject():
		err = s.graph(d.get("graph"))
	default:
		return f.Errorf(d.at, `a set of resources of Flux has a member execution (R) or graph (JGF), and this has none`)
	}
	if err != nil {
		return err
	}
	return s.done()
}

// rank is a host of R.
type fluxRank struct {
	children *document
	at       int
}

func (s *foreign) rlite(d *document) error {
	ranks, err := s.fluxRanks(d.get("R_lite"), d.at)
	if err != nil {
		return err
	}
	hosts, err := s.fluxHosts(d.get("nodelist"), ranks)
	if err != nil {
		return err
	}
	features, err := s.fluxProperties(d.get("properties"), hosts)
	if err != nil {
		return err
	}
	for _, number := range sortedRanks(ranks) {
		r := ranks[number]
		n, err := s.node(hosts[number], r.at)
		if err != nil {
			return err
		}
		if err := s.fluxChildren(n, r.children); err != nil {
			return err
		}
		n.give("properties", "features", strings.Join(features[number], ","), r.at)
		n.give("R_lite", "state", "free", r.at)
	}
	return d.each(func(name string, m *document) error {
		s.seen[name] = true
		if !slices.Contains([]string{"R_lite", "nodelist", "properties"}, name) {
			s.leave(name, m.word())
			s.left[name].Nodes = len(s.nodes)
		}
		return nil
	})
}

// fluxRanks are the ranks with what each has. Those without a number are counted.
func (s *foreign) fluxRanks(list *document, at int) (map[int]fluxRank, error) {
	ranks := make(map[int]fluxRank)
	for _, d := range list.list() {
		children := d.get("children")
		which := []int{len(ranks)}
		if r := d.get("rank"); r != nil {
			var err error
			if which, err = numbers(r.text, maxNodes); err != nil || len(which) == 0 {
				return nil, s.Errorf(r.at, "rank: %q is no set of ranks, such as 0-3,5", r.text)
			}
		}
		for _, n := range which {
			if _, twice := ranks[n]; twice {
				return nil, s.Errorf(d.at, "rank %d is there twice", n)
			}
			if len(ranks) == maxNodes {
				return nil, s.Errorf(d.at, "more than %d nodes; import them from several files", maxNodes)
			}
			ranks[n] = fluxRank{children, d.at}
		}
	}
	if len(ranks) == 0 {
		return nil, s.Errorf(list.place(at), `R_lite names no rank; it is to be as [{"rank":"0-3","children":{"core":"0-7"}}]`)
	}
	return ranks, nil
}

func sortedRanks(ranks map[int]fluxRank) []int {
	out := make([]int, 0, len(ranks))
	for n := range ranks {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// fluxHosts are the names of the ranks: those of the list in the order of ranks, or rank0
// where there is no list.
func (s *foreign) fluxHosts(list *document, ranks map[int]fluxRank) (map[int]string, error) {
	hosts := make(map[int]string, len(ranks))
	if len(list.list()) == 0 {
		for n := range ranks {
			hosts[n] = "rank" + strconv.Itoa(n)
		}
		return hosts, nil
	}
	var names []string
	for _, d := range list.list() {
		more, err := index.ExpandNodeList(d.text)
		if err != nil {
			return nil, s.Errorf(d.at, "nodelist: %w", err)
		}
		names = append(names, more...)
	}
	if len(names) < len(ranks) {
		return nil, s.Errorf(list.at, "the nodelist has %d hosts for %d ranks", len(names), len(ranks))
	}
	for i, n := range sortedRanks(ranks) {
		hosts[n] = names[i]
	}
	return hosts, nil
}

// fluxProperties are the features of each rank.
func (s *foreign) fluxProperties(d *document, hosts map[int]string) (map[int][]string, error) {
	out := make(map[int][]string)
	return out, d.each(func(name string, m *document) error {
		which, err := numbers(m.text, maxNodes)
		if err != nil {
			return s.Errorf(m.at, "properties: %s: %w", name, err)
		}
		for _, n := range which {
			if hosts[n] == "" {
				return s.Errorf(m.at, "properties: %s: there is no rank %d", name, n)
			}
			out[n] = append(out[n], name)
		}
		return nil
	})
}

// fluxResources are the resources of Flux in our words.
var fluxResources = map[string]string{"core": "ncpus", "gpu": "ngpus"}

// fluxChildren names the cores and GPUs of a rank.
func (s *foreign) fluxChildren(n *found, children *document) error {
	return children.each(func(name string, m *document) error {
		if n.wanted(name, m.word(), m.at) {
			return nil
		}
		resource, ok := fluxResources[name]
		if !ok {
			n.unmapped("children."+name, m.word())
			return nil
		}
		ids, err := numbers(m.text, 1<<16)
		if err != nil {
			return s.Errorf(m.at, "node %s: %s: %w", n.name, name, err)
		}
		set := make(devices.Set, len(ids))
		for i, id := range ids {
			set[i].ID = strconv.Itoa(id)
		}
		if len(set) > devices.MaxDevices {
			n.give(name, resource, strconv.Itoa(len(set)), m.at)
		}
		n.nameDevices(resource, sortedDevices(set))
		return nil
	})
}
