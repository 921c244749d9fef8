package nodefile

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/placectl/placectl/index"
)

// Slurm prints nodes as blocks of KEY=VALUE (scontrol show nodes, with -o one block per line), and as
// JSON. Both are translated to the keys of scontrol.

// slurmNodes are the nodes read, and the partition that becomes no queue.
type slurmNodes struct {
	*foreign
	fallback string // the default partition
}

// slurmRecord is a node with scontrol's keys.
type slurmRecord struct {
	at     int
	keys   []string
	values map[string]slurmValue
}

type slurmValue struct {
	text string
	at   int
}

func (r *slurmRecord) put(key, text string, at int) {
	if r.values == nil {
		r.values = make(map[string]slurmValue)
	}
	if _, twice := r.values[key]; !twice {
		r.keys = append(r.keys, key)
	}
	r.values[key] = slurmValue{text, at}
}

// number returns a value as a whole number, 0 if it is not one.
func (r *slurmRecord) number(key string) int64 {
	n, _ := strconv.ParseInt(r.values[key].text, 10, 48)
	return n
}

func (f *File) parseSlurm() error {
	s := &slurmNodes{foreign: f.foreign(), fallback: f.opt.DefaultPartition}
	s.beside()
	var records []*slurmRecord
	var err error
	if strings.HasPrefix(firstWord(f.Data), "{") {
		records, err = s.json()
	} else {
		records, err = s.blocks()
	}
	if err != nil {
		return err
	}
	for _, r := range records {
		if err := s.record(r); err != nil {
			return err
		}
	}
	return s.done()
}

func firstWord(data []byte) string {
	word, _, _ := bytes.Cut(bytes.TrimSpace(data), []byte{' '})
	return string(word)
}

// beside reads files next to the node file that name the default partition.
func (s *slurmNodes) beside() {
	if s.opt.Beside == nil {
		return
	}
	for _, name := range []string{"slurm.conf", "scontrol-show-partition.txt"} {
		if data, ok := s.opt.Beside(name); ok {
			s.partitions(string(data))
		}
	}
}

// slurmKey matches the beginning of KEY=.
var slurmKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[ \t])([A-Z][A-Za-z_]*)=`) })

// slurmWords splits a line. A value ends at the next KEY=. A reason ends at the comment after it, or at
// the end of the line.
func slurmWords(line string, fn func(key, value string, at int)) {
	hits := slurmKey().FindAllStringSubmatchIndex(line, -1)
	for i := 0; i < len(hits); i++ {
		key, begin, end := line[hits[i][2]:hits[i][3]], hits[i][1], len(line)
		for i+1 < len(hits) {
			if next := line[hits[i+1][2]:hits[i+1][3]]; key != "Reason" || next == "Comment" || next == "Extra" {
				end = hits[i+1][0]
				break
			}
			hits = slices.Delete(hits, i+1, i+2)
		}
		fn(key, strings.TrimSpace(line[begin:end]), begin)
	}
}

// partitions looks for the default partition.
func (s *slurmNodes) partitions(text string) {
	name := ""
	for line := range strings.Lines(text) {
		slurmWords(strings.TrimRight(line, "\r\n"), func(key, value string, _ int) {
			switch {
			case key == "PartitionName":
				name = value
			case key == "NodeName":
				name = ""
			case key == "Default" && strings.EqualFold(value, "yes") && name != "" && s.opt.DefaultPartition == "":
				s.fallback = name
			}
		})
	}
}

// blocks reads the output of scontrol. Its partitions tell the default one.
func (s *slurmNodes) blocks() (records []*slurmRecord, err error) {
	s.partitions(string(s.Data))
	var r *slurmRecord
	at := 0
	for line := range bytes.Lines(s.Data) {
		begins := at
		at += len(line)
		text := strings.TrimRight(string(line), " \t\r\n")
		if strings.TrimSpace(text) == "" || strings.HasPrefix(text, "#") {
			continue
		}
		words := 0
		slurmWords(text, func(key, value string, in int) {
			words++
			if key == "NodeName" || key == "PartitionName" {
				r = nil
			}
			if key == "NodeName" {
				r = &slurmRecord{at: begins}
				records = append(records, r)
			}
			if r != nil {
				r.put(key, value, begins+in)
			}
		})
		if words == 0 {
			return nil,
				s.Errorf(begins, "a line of scontrol show nodes has words such as NodeName=n1, but this one has none")
		}
	}
	return records, nil
}

// jsonKeys translates members of JSON to scontrol's keys.
var jsonKeys = sync.OnceValue(func() map[string]string {
	return map[string]string{"name": "NodeName", "cpus": "CPUTot", "effective_cpus": "CPUEfctv",
		"real_memory": "RealMemory", "specialized_memory": "MemSpecLimit",
		"gres": "Gres", "gres_used": "GresUsed", "features": "AvailableFeatures", "temporary_disk": "TmpDisk",
		"partitions": "Partitions", "weight": "Weight", "reason": "Reason"}
})

// json reads the output of sinfo --json and scontrol show nodes --json.
func (s *slurmNodes) json() (records []*slurmRecord, err error) {
	docs, err := s.documents()
	if err != nil {
		return nil, err
	}
	list := docs[0].get("nodes")
	if list == nil {
		list = docs[0].get("sinfo")
	}
	if !list.isList() {
		return nil, s.Errorf(docs[0].at, `the nodes of Slurm are a list: {"nodes":[{"name":"n1","cpus":8}]}`)
	}
	for _, d := range list.list() {
		r := &slurmRecord{at: d.at}
		if !d.isObject() {
			return nil, s.Errorf(d.at, "%s where a node belongs", describeToken(d.token))
		}
		var state []string
		err := d.each(func(name string, m *document) error {
			if name == "state" || name == "state_flags" {
				state = append(state, strings.Split(m.word(), ",")...)
				r.put("State",
					strings.ToUpper(strings.Join(slices.DeleteFunc(state, func(w string) bool { return w == "" }),
						"+")), m.at)
				return nil
			}
			key, ok := jsonKeys()[name]
			if !ok {
				key = name
			}
			if word := m.word(); word != "" || m.token != json.Delim('{') {
				r.put(key, word, m.at)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, nil
}

// nothing reports whether Slurm's text means that there is no value.
func nothing(text string) bool {
	switch strings.ToLower(text) {
	case "", "(null)", "n/a", "none", "n/s", "unknown":
		return true
	}
	return false
}

// record sets a node's values.
func (s *slurmNodes) record(r *slurmRecord) error {
	name, ok := r.values["NodeName"]
	if !ok || name.text == "" {
		return s.Errorf(r.at, "the node has no name")
	}
	names := []string{name.text}
	if strings.ContainsRune(name.text, '[') {
		list, err := index.ExpandNodeList(name.text)
		if err != nil {
			return s.Errorf(name.at, "%w", err)
		}
		names = list
	}
	for _, one := range names {
		n, err := s.node(one, name.at)
		if err != nil {
			return err
		}
		if err := s.values(n, r); err != nil {
			return err
		}
	}
	return nil
}

// values goes through the values of a node.
func (s *slurmNodes) values(n *found, r *slurmRecord) error {
	for _, key := range r.keys {
		v := r.values[key]
		s.seen[key] = true
		if key == "NodeName" || n.wanted(key, v.text, v.at) || key != "State" && nothing(v.text) {
			continue
		}
		switch key {
		case "CPUEfctv", "CPUs":
			n.give(key, "ncpus", v.text, v.at)
		case "CPUTot":
			if r.values["CPUEfctv"].text == "" {
				n.give(key, "ncpus", v.text, v.at)
			}
		case "RealMemory":
			n.give(key, "mem", megabytes(v.text, r.number("MemSpecLimit")), v.at)
		case "TmpDisk":
			n.give(key, "disk", megabytes(v.text, 0), v.at)
		case "AvailableFeatures", "Feature", "Features":
			n.give(key, "features", v.text, v.at)
		case "Weight":
			if v.text != "1" {
				n.give(key, "priority", strings.TrimPrefix("-"+v.text, "-0"), v.at)
			}
		case "Partitions":
			switch parts := strings.Split(v.text, ","); {
			case len(parts) > 1:
				n.unmapped(key, v.text)
			case v.text != s.fallback:
				n.give(key, "queue", v.text, v.at)
			}
		case "State":
			if _, told := r.values["CPUTot"]; told || v.text != "UNKNOWN" { // in slurm.conf it says nothing
				s.state(n, r)
			}
		case "Gres":
			if err := s.giveGres(n, r); err != nil {
				return err
			}
		case "Reason", "ActiveFeatures", "MemSpecLimit": // handled above
		default:
			n.unmapped(key, v.text)
		}
	}
	return nil
}

// whoAndWhen matches what Slurm adds to a reason.
var whoAndWhen = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` *\[[^\[\]]*@[^\[\]]*\]$`) })

// slurmStates are the states and flags that mean more than that a node is up.
var slurmStates = sync.OnceValue(func() map[string]index.State {
	return map[string]index.State{"DOWN": index.Down, "UNKNOWN": index.Down, "UNK": index.Down,
		"NOT_RESPONDING": index.Down, "NO_RESPOND": index.Down, "ERROR": index.Down,
		"DRAIN": index.Drained, "DRAINED": index.Drained, "DRAINING": index.Drained, "DRNG": index.Drained,
		"FAIL": index.Drained, "FAILING": index.Drained, "FAILG": index.Drained}
})

// slurmUp are the states that only mean that a node is up.
var slurmUp = []string{"IDLE", "MIXED", "MIX", "ALLOCATED", "ALLOC", "COMPLETING", "COMP"}

// state sets the node's state: down if a flag says so, otherwise drained if one says so.
func (s *slurmNodes) state(n *found, r *slurmRecord) {
	v := r.values["State"]
	state := index.Up
	for word := range strings.SplitSeq(strings.ToUpper(v.text), "+") {
		bare := strings.TrimRight(word, "*~#!%$@^-+")
		if strings.Contains(word[len(bare):], "*") {
			state = index.Down
		}
		switch is, known := slurmStates()[bare]; {
		case known && (is == index.Down || state == index.Up):
			state = is
		case !known && bare != "" && !slices.Contains(slurmUp, bare):
			n.unmapped("State="+bare, "")
		}
	}
	reason := r.values["Reason"]
	text := whoAndWhen().ReplaceAllString(reason.text, "")
	if nothing(text) {
		text = ""
	}
	n.state("State", state, v.at, "Reason", text, reason.at)
}
