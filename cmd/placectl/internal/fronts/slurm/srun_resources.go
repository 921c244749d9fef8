package slurm

import (
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/internal/text"
)

// export is what --export gives a step: variables with their values, and names of those that it keeps.
type export struct {
	all   bool
	names []string
	sets  []string
}

// exportOf reads --export: ALL, NONE or NIL, or names and values, with ALL for all others.
func exportOf(list string) (*export, error) {
	items, err := text.SplitItems(list)
	if err != nil {
		return nil, fronts.Failf(2, "srun: error: --export: %v", err)
	}
	e := &export{all: len(items) == 0}
	for _, item := range items {
		switch {
		case strings.Contains(item, "="):
			e.sets = append(e.sets, item)
		case strings.EqualFold(item, "ALL"):
			e.all = true
		case !strings.EqualFold(item, "NONE") && !strings.EqualFold(item, "NIL"):
			e.names = append(e.names, item)
		}
	}
	return e, nil
}

// ofStep are beginnings of the variables that the job gives each step.
var ofStep = []string{"SLURM_", "SLURMD_", "PLACECTL_", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",
	"NVIDIA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"}

// keeps returns what decides which variables of the environment a task keeps; nil for all.
func (e *export) keeps() func(name string) bool {
	if e.all {
		return nil
	}
	return func(name string) bool {
		return slices.Contains(e.names, name) || slices.ContainsFunc(ofStep, func(begin string) bool {
			return strings.HasPrefix(name, begin)
		})
	}
}

// gpus returns the variable with each task's devices: every task on this node has so many of the job's.
func (l *layout) gpus(c *fronts.Call, asked string) ([]string, error) {
	if asked == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(asked[strings.LastIndexByte(asked, ':')+1:])
	if err != nil || n < 1 || n > maxTasks {
		return nil, fronts.Failf(1, "srun: error: Invalid numeric value \"%s\" for --gpus-per-task.",
			text.Printable(asked))
	}
	name := "CUDA_VISIBLE_DEVICES"
	if c.Getenv(name) == "" && c.Getenv("ROCR_VISIBLE_DEVICES") != "" {
		name = "ROCR_VISIBLE_DEVICES"
	}
	devices := strings.FieldsFunc(c.Getenv(name), func(r rune) bool { return r == ',' })
	switch {
	case len(l.nodes) != 1 || l.nodes[0] != c.Getenv("SLURMD_NODENAME"):
		return nil, fronts.Failf(2, "srun: error: --gpus-per-task is for steps on the first node of a job here; on "+
			"others, choose by SLURM_LOCALID")
	case len(devices) == 0:
		return nil, fronts.Failf(2, "srun: error: --gpus-per-task: this job has no GPUs that are numbered")
	case len(devices) < n*len(l.node):
		return nil, fronts.Failf(1, "srun: error: Unable to create step for job: Invalid generic resource (gres) "+
			"specification")
	}
	var out []string
	for _, local := range l.local {
		out = append(out, name+"="+strings.Join(devices[local*n:(local+1)*n], ","))
	}
	return out, nil
}

// cpus returns what the step needs of each node of its job; nil if the job's cpus are unknown.
func (l *layout) cpus(a allocation, perTask int) (list []fronts.CPUs) {
	if a.cpus == nil {
		return nil
	}
	for i, name := range l.nodes {
		at := slices.Index(a.nodes, name)
		list = append(list, fronts.CPUs{Node: at, Has: a.cpus[at], Wants: min(l.count[i]*perTask, a.cpus[at])})
	}
	return list
}
