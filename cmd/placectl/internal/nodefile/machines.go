package nodefile

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// MachineFields are the fields of a line in a machine file. They may be followed by the features of the
// machines, separated by commas.
const MachineFields = "number, name, how many, cores, speed, memory in kb"

const machineFields = 6

// ParseMachines makes nodes from a machine file. Each line describes machines of one kind.
func ParseMachines(f *infile.Text) ([]*index.Node, error) {
	var nodes []*index.Node
	at := 0
	for line := range bytes.Lines(f.Data) {
		words := strings.Fields(string(line))
		begins := at
		at += len(line)
		if len(words) == 0 {
			continue
		}
		kind, err := parseMachine(words)
		if err != nil {
			return nil, f.Errorf(begins, "%w; a kind of machine is %s", err, MachineFields)
		}
		if len(nodes)+kind.count > maxNodes {
			return nil, f.Errorf(begins, "more than %d nodes", maxNodes)
		}
		for i := range kind.count {
			nodes = append(nodes, kind.node(i+1))
		}
	}
	return nodes, nil
}

// machineKind is a line of a machine file.
type machineKind struct {
	name      string
	count     int
	cpus, mem int64
	features  []string
}

func parseMachine(words []string) (k machineKind, err error) {
	if len(words) != machineFields && len(words) != machineFields+1 {
		return k, fmt.Errorf("%s", text.Plural(len(words), "field"))
	}
	k.name = words[1]
	count, countErr := strconv.ParseUint(words[2], 10, 20)
	cpus, cpusErr := strconv.ParseUint(words[3], 10, 31)
	mem, memErr := strconv.ParseUint(words[5], 10, 50)
	for i, err := range []error{countErr, cpusErr, memErr} {
		if err != nil {
			return k, fmt.Errorf("%s is not a number of %s", text.Quoted(words[[...]int{2, 3, 5}[i]]),
				[...]string{"machines", "cores", "kb"}[i])
		}
	}
	k.count, k.cpus, k.mem = int(count), int64(cpus), int64(mem)
	if len(words) > machineFields {
		var n index.Node
		if err := readFeatures(&n, words[machineFields]); err != nil {
			return k, err
		}
		k.features = n.Features
	}
	return k, CheckName(k.name)
}

// node returns the n-th machine of a kind.
func (k machineKind) node(n int) *index.Node {
	node := &index.Node{Name: k.name + strconv.Itoa(n), Features: k.features}
	node.Set(index.NCPUs, index.Value{Num: k.cpus})
	node.Set(index.Mem, index.Value{Num: k.mem})
	return node
}

// IsMachines recognises a machine file: it has no header, and its lines begin with a number.
func IsMachines(f *infile.Text) bool {
	first, _, _ := bytes.Cut(bytes.TrimSpace(f.Data), []byte{'\n'})
	words := strings.Fields(string(first))
	if len(words) != machineFields && len(words) != machineFields+1 {
		return false
	}
	_, err := strconv.Atoi(words[0])
	return err == nil && !strings.Contains(strings.Join(words[:machineFields], ""), ",")
}
