package slurm

import (
	"cmp"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// Slurm treats cpus, memory and temporary disk separately. All other numbers of a node are generic
// resources: gpu:a100:4,licence:2.

// own are the resources with columns of their own.
var own = map[string]bool{"ncpus": true, "ngpus": true, "mem": true, "disk": true}

// shards are parts of GPUs. Slurm has another name for them.
const shards = "gslices"

// gres lists the generic resources of a node, or (null).
func gres(n *fronts.Node) string {
	return generic(n, n.GPUs, func(v fronts.Value) string { return v.Value })
}

// gresUsed lists those that jobs use.
func gresUsed(n *fronts.Node) string {
	return generic(n, n.GPUsUsed, func(v fronts.Value) string { return cmp.Or(v.Used, "0") })
}

func generic(n *fronts.Node, gpus int, count func(fronts.Value) string) string {
	var words []string
	if n.GPUs > 0 {
		word := "gpu:"
		for _, v := range n.Values {
			// a single kind, with a name that is valid in Slurm
			if v.Name == "gputype" && !strings.ContainsAny(v.Value, ", \t:()") {
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

// weight returns Slurm's sort key of a node, 1 by default. The least comes first.
func weight(n *fronts.Node) int {
	if n.Priority == 0 {
		return 1
	}
	return int(max(-n.Priority, 0))
}
