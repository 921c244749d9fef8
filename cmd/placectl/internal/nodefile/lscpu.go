package nodefile

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/text"
)

// A file of machines as a loop over hosts writes it: behind == NAME the output of lscpu -J,
// of nvidia-smi -L and /proc/meminfo.

// gpuLine is a line of nvidia-smi -L.
var gpuLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^GPU ([0-9]{1,4}): (.*?)(?: \(UUID: ([^()]*)\))?$`)
})

// otherFields is what all fields are called that are not imported.
const otherFields = "other fields"

// lscpuNodes are the machines that are read.
type lscpuNodes struct {
	*foreign
	fields map[string]bool // that are left out
	gpus   devices.Set     // of the machine that is being read
	kinds  []string
	at     int // of the first
}

func (f *File) parseLscpu() error {
	s := &lscpuNodes{foreign: f.foreign(), fields: make(map[string]bool)}
	var n *found
	at := 0
	for at < len(f.Data) {
		line, _, _ := bytes.Cut(f.Data[at:], []byte{'\n'})
		begins := at
		at += len(line) + 1
		words := strings.TrimSpace(string(line))
		name, opens := strings.CutPrefix(words, "==")
		switch {
		case words == "":
		case opens:
			s.finish(n)
			var err error
			if n, err = s.node(strings.TrimSpace(strings.Trim(name, "= ")), begins); err != nil {
				return err
			}
			n.give("==", "state", "free", begins)
		case n == nil:
			return f.Errorf(begins, "a machine begins with a line such as == n1, and this stands before the first")
		case strings.HasPrefix(words, "{"):
			end, err := s.lscpu(n, begins)
			if err != nil {
				return err
			}
			at = end
		default:
			s.line(n, words, begins)
		}
	}
	s.finish(n)
	if u := s.left[otherFields]; u != nil {
		u.Field = text.Plural(len(s.fields), "other field")
	}
	return s.done()
}

// lscpu reads the document that begins at a place, and returns where it ends.
func (s *lscpuNodes) lscpu(n *found, at int) (end int, err error) {
	d, end, err := s.documentAt(at)
	if err != nil {
		return 0, err
	}
	list := d.get("lscpu")
	if !list.isList() {
		return 0, s.Errorf(at, `node %s: lscpu -J writes {"lscpu":[...]}`, n.name)
	}
	s.cpuFields(n, list)
	return end, nil
}

// cpuFields goes through fields, and those below them.
func (s *lscpuNodes) cpuFields(n *found, list *document) {
	for _, d := range list.list() {
		field, data := strings.TrimSuffix(d.get("field").word(), ":"), d.get("data")
		s.seen[field] = true
		switch {
		case n.wanted(field, data.word(), d.at):
		case field == "CPU(s)":
			n.give(field, "ncpus", data.word(), d.at)
		case field == "Model name":
			n.declare(field, strings.ReplaceAll(data.word(), ",", " "), d.at, index.Def{Name: "cpumodel", Type: index.String})
		default:
			s.other(n, field)
		}
		s.cpuFields(n, d.get("children"))
	}
}

func (s *lscpuNodes) other(n *found, field string) {
	s.fields[field] = true
	n.unmapped(otherFields, "")
}

// line reads a line of nvidia-smi -L or of /proc/meminfo.
func (s *lscpuNodes) line(n *found, text string, at int) {
	if m := gpuLine().FindStringSubmatch(text); m != nil {
		if len(s.gpus) == 0 {
			s.at = at
		}
		kind := strings.ReplaceAll(strings.TrimSpace(m[2]), ",", " ")
		id, _ := strconv.Atoi(m[1])
		s.gpus = append(s.gpus, devices.Device{ID: strconv.Itoa(id), UUID: m[3], Model: kind})
		if !slices.Contains(s.kinds, kind) && kind != "" {
			s.kinds = append(s.kinds, kind)
		}
		return
	}
	field, value, ok := strings.Cut(text, ":")
	value = strings.TrimSpace(value)
	s.seen[field] = true
	switch {
	case ok && n.wanted(field, value, at):
	case field == "MemTotal":
		n.give(field, "mem", strings.ToLower(strings.ReplaceAll(value, " ", "")), at)
	case ok:
		s.other(n, field)
	default:
		s.other(n, "lines")
	}
}

// finish gives a machine the GPUs that were met.
func (s *lscpuNodes) finish(n *found) {
	if len(s.gpus) > 0 {
		n.declare("GPU", strings.Join(s.kinds, ","), s.at, index.Def{Name: "gputype"})
		n.nameDevices("ngpus", sortedDevices(s.gpus))
	}
	s.gpus, s.kinds = nil, nil
}
