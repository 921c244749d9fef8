package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/index"
)

// Traces of MetaCentrum, as the simulator Alea reads them, come with a file of
// machines and have two fields more than the standard: a queue, and what the job's
// user wrote behind -l nodes=.

// hostDomain is behind the names of hosts in requests; our nodes do without.
const hostDomain = ".cerit-sc.cz"

// recordedSelect is a request as it was recorded, cores a node and properties, so
// that nothing has to be guessed from the number of processors. Memory that is not
// written there the record has in bytes for the whole job, -1 for unknown, which is
// what a mem= beside nodes= means, too.
func recordedSelect(asked string, memory int64) string {
	if memory > 0 && !strings.Contains(asked, "mem=") {
		asked += ",mem=" + memoryText(memory)
	}
	return "nodes=" + asked
}

// memoryText writes an amount of bytes in the largest unit that has it whole.
func memoryText(bytes int64) string {
	n, unit := (bytes+1023)/1024, 0
	for ; n%1024 == 0 && unit < 2; unit++ {
		n /= 1024
	}
	return strconv.FormatInt(n, 10) + [...]string{"kb", "mb", "gb"}[unit]
}

// recordedFeatures are the properties that requests of the trace wagap-2013 name, and which
// nodes have them, found from where the jobs that named them ran.
var recordedFeatures = map[string][]string{
	"zewura": {"x86_64", "brno", "nfs4", "debian", "linux", "cl_zewura", "nodecpus80"},
	"zegox":  {"x86_64", "brno", "nfs4", "debian", "linux", "cl_zegox", "nodecpus12"},
}

// machineFields are those of a line of a file of machines.
const machineFields = "number, name, how many, cores, speed, memory in kb"

// parseMachines makes the nodes of a file of machines: each line is a kind of them.
func parseMachines(f *infile.Text) ([]*index.Node, error) {
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
			return nil, f.Errorf(begins, "%w; a kind of machine is %s", err, machineFields)
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

// machineKind is a line of a file of machines.
type machineKind struct {
	name      string
	count     int
	cpus, mem int64
}

func parseMachine(words []string) (k machineKind, err error) {
	if len(words) != 6 {
		return k, fmt.Errorf("%s", spell.Plural(len(words), "field"))
	}
	k.name = words[1]
	count, countErr := strconv.ParseUint(words[2], 10, 20)
	cpus, cpusErr := strconv.ParseUint(words[3], 10, 31)
	mem, memErr := strconv.ParseUint(words[5], 10, 50)
	for i, err := range []error{countErr, cpusErr, memErr} {
		if err != nil {
			return k, fmt.Errorf("%s is no number of %s", spell.Quoted(words[[...]int{2, 3, 5}[i]]), [...]string{"machines", "cores", "kb"}[i])
		}
	}
	k.count, k.cpus, k.mem = int(count), int64(cpus), int64(mem)
	return k, checkNodeName(k.name)
}

// node is the n-th machine of a kind.
func (k machineKind) node(n int) *index.Node {
	node := &index.Node{Name: k.name + strconv.Itoa(n), Features: recordedFeatures[k.name]}
	node.Set(index.NCPUs, index.Value{Num: k.cpus})
	node.Set(index.Mem, index.Value{Num: k.mem})
	return node
}

// isMachines tells a file of machines from other lists of nodes: it has no header,
// its lines begin with a number.
func isMachines(f *infile.Text) bool {
	first, _, _ := bytes.Cut(bytes.TrimSpace(f.Data), []byte{'\n'})
	words := strings.Fields(string(first))
	if len(words) != 6 || bytes.ContainsRune(first, ',') {
		return false
	}
	_, err := strconv.Atoi(words[0])
	return err == nil
}
