package nodefile

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
)

// Slurm's generic resources, such as gpu:a100:4(S:0-1), say how many devices there are and which sockets
// are near them. Only gres.conf says which device is near which socket. If both are unknown, the devices
// are counted and not named.

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

// gresLine is a line of gres.conf.
type gresLine struct {
	nodes      []string // nil: all
	name, kind string
	files      []string
	count      int
	cores      []int
}

// parseGresConf reads gres.conf.
func parseGresConf(data []byte) (lines []gresLine, err error) {
	text := infile.New("gres.conf", data)
	at := 0
	for line := range bytes.Lines(data) {
		begins := at
		at += len(line)
		bare, _, _ := strings.Cut(string(line), "#")
		l := gresLine{count: -1}
		for word := range strings.FieldsSeq(bare) {
			key, value, _ := strings.Cut(word, "=")
			switch strings.ToLower(key) {
			case "nodename":
				l.nodes, err = index.ExpandNodeList(value)
			case "name":
				l.name = value
			case "type":
				l.kind = value
			case "file":
				l.files, err = index.ExpandNodeList(value)
			case "count":
				n, ok := gresCount(value)
				if l.count = int(n); !ok {
					err = fmt.Errorf("%q is no count", value)
				}
			case "cores", "cpus":
				l.cores, err = numbers(value, 1<<16)
			}
			if err != nil {
				return nil, text.Errorf(begins, "%s: %w", key, err)
			}
		}
		if l.name != "" {
			lines = append(lines, l)
		}
	}
	return lines, nil
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
	set := s.confDevices(n, r, gpus)
	if set == nil {
		set = s.nearDevices(n, r, list)
	}
	if set == nil {
		n.give("Gres", "ngpus", strconv.FormatInt(gpus, 10), v.at)
		return nil
	}
	n.nameDevices("ngpus", set)
	return nil
}

// confDevices returns the GPUs of a node from gres.conf, nil if that does not have this many.
func (s *slurmNodes) confDevices(n *found, r *slurmRecord, gpus int64) (set devices.Set) {
	var near [][]int
	for _, l := range s.gres {
		if l.name != "gpu" || l.nodes != nil && !slices.Contains(l.nodes, n.name) {
			continue
		}
		ids := l.files
		if ids == nil {
			for range max(l.count, 1) {
				ids = append(ids, "")
			}
		}
		for _, file := range ids {
			set = append(set, devices.Device{ID: lastNumber(file, len(set)), Model: l.kind})
			near = append(near, l.cores)
		}
	}
	if int64(len(set)) != gpus {
		return nil
	}
	for i := range set {
		set[i].Group = groupOfCores(near, i, r.number("CoresPerSocket"))
	}
	return sortedDevices(set)
}

// lastNumber returns the number at the end of a device file's name. Programs call the device by it.
func lastNumber(file string, or int) string {
	digits := file[len(strings.TrimRight(file, "0123456789")):]
	if n, err := strconv.Atoi(digits); err == nil {
		return strconv.Itoa(n)
	}
	return strconv.Itoa(or)
}

// groupOfCores returns the socket of a device's cores. If sockets are unknown, it numbers the different sets
// of cores.
func groupOfCores(near [][]int, i int, perSocket int64) int {
	if len(near[i]) == 0 {
		return 0
	}
	if perSocket > 1 {
		return min(near[i][0]/int(perSocket), devices.MaxGroup)
	}
	var firsts []int
	for _, cores := range near {
		if len(cores) > 0 {
			firsts = append(firsts, cores[0])
		}
	}
	slices.Sort(firsts)
	return min(slices.Index(slices.Compact(firsts), near[i][0]), devices.MaxGroup)
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
			n.unmapped("Gres: which GPU is near which socket (gres.conf beside the file says it); dealt out in order",
				r.values["Gres"].text)
		}
	}
	return set
}

func sortedDevices(set devices.Set) devices.Set {
	slices.SortFunc(set, func(a, b devices.Device) int { return devices.CompareIDs(a.ID, b.ID) })
	return set
}
