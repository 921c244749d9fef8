package keeper

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/placectl/placectl/internal/environ"
)

// processesFile is the PBS_NODEFILE. It has a line for each process of each chunk.
const processesFile = "processes"

// processes returns the content of that file.
func (o *Order) processes() string {
	var b strings.Builder
	for _, c := range o.Chunks {
		for range max(c.Processes, 1) {
			b.WriteString(c.Node + "\n")
		}
	}
	return b.String()
}

// pbs sets the variables of a PBS job.
func (o *Order) pbs(v *variables, dir string) {
	number, server := strconv.FormatUint(o.Job, 10), "."+cmp.Or(o.Server, "placectl")
	v.set("PBS_ENVIRONMENT", "PBS_BATCH")
	v.set("PBS_JOBID", number+server)
	v.set("PBS_JOBNAME", o.Name)
	v.set("PBS_QUEUE", o.Partition)
	v.when("PBS_ACCOUNT", o.Account)
	v.set("PBS_NODEFILE", dir+"/"+processesFile)
	v.set("PBS_JOBDIR", o.Payload.Dir)
	v.set("PBS_O_WORKDIR", o.Payload.Dir)
	v.set("PBS_O_HOST", o.submitHost())
	for _, name := range environ.PBSOrigin {
		v.when("PBS_O_"+name, v.ask(name))
	}
	v.set("PBS_O_QUEUE", o.Partition)
	v.set("PBS_O_SYSTEM", "Linux")
	if a := o.Array; a != nil {
		array := strconv.FormatUint(a.Number, 10)
		v.set("PBS_JOBID", array+"["+strconv.Itoa(a.Index)+"]"+server)
		v.set("PBS_ARRAY_ID", array+"[]"+server)
		v.set("PBS_ARRAY_INDEX", strconv.Itoa(a.Index))
		v.set("PBS_ARRAYID", strconv.Itoa(a.Index)) // Torque's name for it
	}
	v.set("PBS_NODENUM", "0")
	v.set("PBS_TASKNUM", "1")
	if len(o.Chunks) > 0 && o.Chunks[0].Cores > 0 {
		v.unlessGiven("NCPUS", count(o.Chunks[0].Cores))
		v.unlessGiven("OMP_NUM_THREADS", count(cmp.Or(o.Chunks[0].Threads, o.Chunks[0].Cores)))
	}
	o.carried(v, "PBS_")
	o.compatible(v)
}
