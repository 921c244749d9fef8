package nodefile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
)

// Slurm's generic resources, such as gpu:a100:4(S:0-1), say how many devices there are and which sockets
// are near them. If these are unknown, the devices are counted and not named.

// gres is a generic resource of a node.
type gres struct {
	name, kind string // gpu, a100
	count      int64
	sockets    []int // near them; nil: unknown
}

// parseGres reads a list such as gpu:a100:2(S:0),shard:8.
func parseGres(text string) (out []gres, err error) {
	depth, from := 0, 0
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || text[i] == ',' && depth == 0:
			item := text[from:i]
			from = i + 1
			if nothing(item) {
				continue
			}
			g, err := parseOneGres(item)
			if err != nil {
				return nil, err
			}
			out = append(out, g)
		case text[i] == '(':
			depth++
		case text[i] == ')':
			depth--
		}
	}
	return out, nil
}

func parseOneGres(item string) (g gres, err error) {
	base, near, _ := strings.Cut(item, "(")
	parts := strings.Split(base, ":")
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "no_consume" })
	g.name, g.count = parts[0], 1
	if last := parts[len(parts)-1]; len(parts) > 1 {
		if n, ok := gresCount(last); ok {
			g.count, parts = n, parts[:len(parts)-1]
		}
	}
	switch {
	case len(parts) == 2:
		g.kind = parts[1]
	case len(parts) > 2:
		return g, fmt.Errorf("%q is not of the form gpu:a100:4", item)
	}
	if sockets, ok := strings.CutPrefix(strings.TrimSuffix(near, ")"), "S:"); ok {
		g.sockets, err = numbers(sockets, devices.MaxGroup)
	}
	return g, err
}

// gresCount reads a number, which may have a unit: 4K.
func gresCount(text string) (int64, bool) {
	shift := 0
	if i := strings.IndexAny(strings.ToUpper(text), "KMGT"); i > 0 && i == len(text)-1 {
		shift = 10 * (1 + strings.IndexByte("KMGT", strings.ToUpper(text)[i]))
		text = text[:i]
	}
	n, err := strconv.ParseInt(text, 10, 40)
	if err != nil || n < 0 || n<<shift > index.MaxAmount {
		return 0, false
	}
	return n << shift, true
}

// numbers reads a set of numbers, such as 0,2-3.
func numbers(text string, most int) (out []int, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		from, to, ranged := strings.Cut(strings.TrimSpace(item), "-")
		if !ranged {
			to = from
		}
		first, err1 := strconv.ParseUint(from, 10, 24)
		last, err2 := strconv.ParseUint(to, 10, 24)
		if err1 != nil || err2 != nil || last < first || uint64(len(out))+last-first >= uint64(most) {
			return nil, fmt.Errorf("%q is not a set of at most %d numbers, such as 0,2-3", text, most)
		}
		for n := first; n <= last; n++ {
			out = append(out, int(n))
		}
	}
	return out, nil
}

// giveGres sets a node's resources, and names the devices whose sockets are known.
func (s *slurmNodes) giveGres(n *found, r *slurmRecord) error {
	v := r.values["Gres"]
	list, err := parseGres(v.text)
	if err != nil {
		return s.Errorf(v.at, "node %s: Gres: %w", n.name, err)
	}
	var gpus int64
	var kinds []string
	for _, g := range list {
		switch g.name {
		case "gpu":
			gpus += g.count
			if g.kind != "" && !slices.Contains(kinds, g.kind) {
				kinds = append(kinds, g.kind)
			}
		case "shard":
			n.declare("Gres", strconv.FormatInt(g.count, 10), v.at, index.Def{Name: DefaultSlices, Type: index.Long,
				Consumable: true})
		default:
			if n.has(g.name) {
				n.unmapped("Gres "+g.name+" of several kinds", v.text)
				continue
			}
			n.declare("Gres", strconv.FormatInt(g.count, 10), v.at, index.Def{Name: g.name, Type: index.Long,
				Consumable: true})
		}
	}
	if gpus == 0 {
		return nil
	}
	n.declare("Gres", strings.Join(kinds, ","), v.at, index.Def{Name: "gputype"})
	set := s.nearDevices(n, r, list)
	if set == nil {
		n.give("Gres", "ngpus", strconv.FormatInt(gpus, 10), v.at)
		return nil
	}
	n.nameDevices("ngpus", set)
	return nil
}

// nearDevices returns the GPUs of a node by the sockets of their resources. GPUs of several sockets are
// dealt out in order, as many to each, because Slurm does not say which is near which.
func (s *slurmNodes) nearDevices(n *found, r *slurmRecord, list []gres) (set devices.Set) {
	indexed := strings.Contains(r.values["GresUsed"].text, "IDX:")
	for _, g := range list {
		if g.name != "gpu" {
			continue
		}
		if g.sockets == nil && !indexed || int64(len(set))+g.count > devices.MaxDevices {
			return nil
		}
		for i := range int(g.count) {
			d := devices.Device{ID: strconv.Itoa(len(set)), Model: g.kind}
			if len(g.sockets) > 0 {
				d.Group = min(g.sockets[i*len(g.sockets)/int(g.count)], devices.MaxGroup)
			}
			set = append(set, d)
		}
		if len(g.sockets) > 1 {
			n.unmapped("Gres: which GPU is near which socket (gres.conf says it); dealt out in order",
				r.values["Gres"].text)
		}
	}
	return set
}
