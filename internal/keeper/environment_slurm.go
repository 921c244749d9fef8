package keeper

import (
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// slurm sets the variables of a Slurm job.
func (o *Order) slurm(v *variables) {
	number := strconv.FormatUint(o.Job, 10)
	nodes, list := strconv.Itoa(len(o.Nodes)), index.FoldNodeList(o.Nodes)
	tasks, cores := o.perNode(func(c Chunk) int { return max(c.Processes, 1) }),
		o.perNode(func(c Chunk) int { return c.Cores })
	if o.Whole != nil { // Slurm gives such a job all cores
		cores = o.Whole
	}
	total := 0
	for _, n := range tasks {
		total += n
	}
	v.set("SLURM_JOB_ID", number)
	v.set("SLURM_JOBID", number)
	v.when("SLURM_JOB_NAME", o.Name)
	v.when("SLURM_JOB_ACCOUNT", o.Account)
	v.when("SLURM_JOB_PARTITION", o.Partition)
	v.when("SLURM_JOB_QOS", o.Class)
	v.when("SLURM_JOB_RESERVATION", o.Reservation)
	v.when("SLURM_JOB_USER", o.User)
	v.set("SLURM_JOB_NODELIST", list)
	v.set("SLURM_NODELIST", list)
	v.set("SLURM_JOB_NUM_NODES", nodes)
	v.set("SLURM_NNODES", nodes)
	v.set("SLURM_NTASKS", strconv.Itoa(total))
	v.set("SLURM_NPROCS", strconv.Itoa(total))
	v.set("SLURM_TASKS_PER_NODE", text.Repeats(tasks))
	v.set("SLURM_JOB_CPUS_PER_NODE", text.Repeats(cores))
	if len(cores) > 0 {
		v.set("SLURM_CPUS_ON_NODE", strconv.Itoa(cores[0]))
		v.set("SLURMD_NODENAME", o.Nodes[0])
	}
	o.carried(v, "SLURM_")
	v.set("SLURM_SUBMIT_DIR", o.Payload.Dir)
	v.set("SLURM_SUBMIT_HOST", o.submitHost())
	if a := o.Array; a != nil {
		v.set("SLURM_ARRAY_JOB_ID", strconv.FormatUint(a.Number, 10))
		v.set("SLURM_ARRAY_TASK_ID", strconv.Itoa(a.Index))
		v.set("SLURM_ARRAY_TASK_COUNT", strconv.Itoa(a.Count))
		v.set("SLURM_ARRAY_TASK_MIN", strconv.Itoa(a.Least))
		v.set("SLURM_ARRAY_TASK_MAX", strconv.Itoa(a.Greatest))
		v.set("SLURM_ARRAY_TASK_STEP", strconv.Itoa(a.Step))
	}
	if o.Number > 1 {
		v.set("SLURM_RESTART_COUNT", strconv.Itoa(o.Number-1))
	}
	v.when("SLURM_JOB_START_TIME", unixTime(o.Start))
	v.when("SLURM_JOB_END_TIME", unixTime(o.End))
	if gpus := o.perNode(func(c Chunk) int { return c.GPUs }); len(gpus) > 0 && gpus[0] > 0 {
		v.set("SLURM_GPUS_ON_NODE", strconv.Itoa(gpus[0]))
		v.when("SLURM_JOB_GPUS", gpuIDs(v))
	}
	v.when("SLURM_CLUSTER_NAME", o.Cluster)
	for _, name := range []string{"SLURM_NODEID", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_GTIDS"} {
		v.set(name, "0")
	}
	o.compatible(v)
}

// gpuIDs returns the ids of the GPUs on the first node.
func gpuIDs(v *variables) string {
	for _, part := range strings.Split(v.ask("PLACECTL_DEVICES"), ";") {
		if ids, ok := strings.CutPrefix(part, "ngpus="); ok {
			return ids
		}
	}
	return ""
}

// perNode sums a value over the chunks on each node, in the order of the nodes.
func (o *Order) perNode(of func(Chunk) int) []int {
	sums := make([]int, len(o.Nodes))
	for i, node := range o.Nodes {
		for _, c := range o.Chunks {
			if c.Node == node {
				sums[i] += of(c)
			}
		}
	}
	return sums
}
