package listing

import "strings"

// heldDevices are the devices that a job has, by node: g1:ngpus=0-1:ncpus=0-3+g2:ncpus=8. People read g1: ngpus 0-1,
// core 0-3, because ncpus=0 looks like no cpus.
type heldDevices string

func (d heldDevices) String() string {
	var nodes []string
	for node := range strings.SplitSeq(string(d), "+") {
		name, rest, _ := strings.Cut(node, ":")
		rest = strings.ReplaceAll(":"+rest, ":ncpus=", ":core=")
		nodes = append(nodes, name+": "+strings.NewReplacer(":", ", ", "=", " ").Replace(rest[1:]))
	}
	return strings.Join(nodes, "; ")
}
