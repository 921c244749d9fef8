package slurm

import (
	"cmp"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// Slurm has cpus, memory and a temporary disk of its own; whatever else a node has a number
// of is a generic resource there: gpu:a100:4,licence:2.

// own are the resources that stand in columns of their own.
var own = map[string]bool{"ncpus": true, "ngpus": true, "mem": true, "disk": true}

// shards are parts of GPUs, which Slurm calls by another name.
const shards = "gslices"

// gres are the generic resources of a node, (null) for none.
func gres(n *fronts.Node) string {
	return generic(n, n.GPUs, func(v fronts.Value) string { return v.Value })
}

// gresUsed says the same of what jobs have of them.
func gresUsed(n *fronts.Node) string {
	return generic(n, n.GPUsUsed, func(v fronts.Value) string { return cmp.Or(v.Used, "0") })
}

func generic(n *fronts.Node, gpus int, count func(fronts.Value) string) string {
	var words []string
	if n.GPUs > 0 {
		word := "gpu:"
		for _, v := range n.Values {
			if v.Name == "gputype" && !strings.ContainsAny(v.Value, ", \t:()") { // one kind, of a name that Slurm could have
				word += v.Value + ":"
			}
		}
		words = append(words, word+number(gpus))
	}
	for _, v := range n.Values {
		if v.Consumable && v.Counted && !own[v.Name] {
			name := v.Name
			if name == shards {
				name = "shard"
			}
			words = append(words, name+":"+count(v))
		}
	}
	return orNull(strings.Join(words, ","))
}

// weight is what Slurm sorts nodes by, the least first, 1 where nothing is said.
func weight(n *fronts.Node) int {
	if n.Priority == 0 {
		return 1
	}
	return int(max(-n.Priority, 0))
}
