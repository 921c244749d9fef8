package slurm

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// jobText returns the output of scontrol show job.
func jobText(q *queued, details bool) string {
	var b strings.Builder
	d := q.detail()
	line := func(format string, args ...any) {
		b.WriteString("   " + fronts.OneLine(fmt.Sprintf(format, args...)) + "\n")
	}
	fmt.Fprintf(&b, "JobId=%d ", q.ID)
	if q.Array != 0 {
		fmt.Fprintf(&b, "ArrayJobId=%d ArrayTaskId=%s ", q.Array, q.index())
		if q.Limit > 0 {
			fmt.Fprintf(&b, "ArrayTaskThrottle=%d ", q.Limit)
		}
	}
	fmt.Fprintf(&b, "JobName=%s\n", fronts.Word(q.Name))
	group, gid := group(q.people, q.UID)
	line("UserId=%s(%s) GroupId=%s(%s) MCS_label=N/A", fronts.Word(q.User), uid(q.UID), group, gid)
	line("Priority=%d Nice=0 Account=%s QOS=%s", max(q.Priority, 0), orNull(q.Account), orNull(q.Class))
	line("JobState=%s Reason=%s Dependency=%s", long(q.Job), reason(q.Job), q.after())
	line("Requeue=%d Restarts=%d BatchFlag=1 Reboot=0 ExitCode=%s", count(q.Requeue), max(q.Attempt-1, 0),
		exitCode(q.Job))
	if details {
		line("DerivedExitCode=0:0")
	}
	line("RunTime=%s TimeLimit=%s TimeMin=N/A", clock(q.elapsed()), clock(q.Walltime))
	eligible := q.time(later(q.Submit, q.Begin))
	if q.State == fronts.Held {
		eligible = "Unknown"
	}
	line("SubmitTime=%s EligibleTime=%s", q.time(q.Submit), eligible)
	line("AccrueTime=%s", eligible)
	line("StartTime=%s EndTime=%s Deadline=%s", q.cal.stamp(q.Start, "Unknown"), q.cal.stamp(q.End, "Unknown"),
		q.time(q.Deadline))
	looked := q.Submit
	if q.State >= fronts.Running {
		looked = cmp.Or(q.Start, looked)
	}
	line("SuspendTime=None SecsPreSuspend=0 LastSchedEval=%s Scheduler=Main", q.time(looked))
	line("Partition=%s AllocNode:Sid=%s:0", q.partition(), cmp.Or(d.Host, "localhost"))
	line("ReqNodeList=(null) ExcNodeList=%s", orNull(q.Exclude))
	nodes := q.Nodes
	if q.State < fronts.Running {
		nodes = nil
	}
	line("NodeList=%s", fold(nodes))
	if len(nodes) > 0 {
		line("BatchHost=%s", nodes[0])
	}
	perTask := cmp.Or(d.CPUsPerTask, 1)
	if d.CPUsPerTask == 0 && q.Tasks > 0 && q.CPUs%q.Tasks == 0 {
		perTask = q.CPUs / q.Tasks
	}
	line("NumNodes=%d NumCPUs=%d NumTasks=%d CPUs/Task=%d ReqB:S:C:T=0:0:*:*", q.nodeCount(), q.Cores, q.Tasks, perTask)
	line("TRES=%s", tres(q.Job, q.Cores, q.nodeCount(), memory))
	line("Socks/Node=* NtasksPerN:B:S:C=0:0:*:* CoreSpec=*")
	if d.MemPerCPU > 0 {
		line("MinCPUsNode=%d MinMemoryCPU=%s MinTmpDiskNode=0", q.NodeCPUs, memory(d.MemPerCPU))
	} else {
		line("MinCPUsNode=%d MinMemoryNode=%s MinTmpDiskNode=0", q.NodeCPUs, memory(q.NodeMem))
	}
	line("Features=%s DelayBoot=00:00:00", orNull(strings.Join(q.Features, "&")))
	over := "OK"
	if q.Excl {
		over = "NO"
	}
	line("OverSubscribe=%s Contiguous=0 Licenses=%s Network=(null)", over, orNull(askedLicenses(q.Job)))
	line("Command=%s", cmp.Or(d.Command, "(null)"))
	line("WorkDir=%s", cmp.Or(d.Dir, "(null)"))
	if q.Comment != "" {
		line("Comment=%s", fronts.Word(q.Comment))
	}
	line("StdErr=%s", cmp.Or(d.Err, d.Out))
	line("StdIn=%s", cmp.Or(d.In, "/dev/null"))
	line("StdOut=%s", d.Out)
	line("Power=")
	if q.NodeGPUs > 0 {
		line("TresPerNode=gres:gpu:%d", q.NodeGPUs)
	}
	text := strings.Replace(b.String(), "   Power=\n", "   Power= \n", 1)
	return text + "\n"
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// showNodes prints scontrol show node.
func showNodes(c *fronts.Call, v fronts.View, about *fronts.About, set fronts.Set, list string) (string, error) {
	nodes, err := shownNodes(c, v, list)
	var b strings.Builder
	for _, n := range nodes {
		text := nodeText(n, about)
		if set.Has("oneliner") {
			text = strings.Join(strings.Fields(text), " ") + "\n"
		}
		b.WriteString(text)
	}
	return b.String(), err
}

// shownNodes returns the nodes of a list, by default all.
func shownNodes(c *fronts.Call, v fronts.View, list string) ([]*fronts.Node, error) {
	nodes, err := v.Nodes()
	if err != nil {
		return nil, err
	}
	wanted, err := expand(list)
	if err != nil {
		return nil, fronts.Failf(1, "Node %s not found", list)
	}
	if wanted == nil {
		return nodes, nil
	}
	by := make(map[string]bool)
	for _, n := range nodes {
		by[n.Name] = true
	}
	is := make(map[string]bool)
	for _, name := range wanted {
		if is[name] = true; !by[name] {
			fmt.Fprintf(c.Stdout, "Node %s not found\n", name)
			return nil, &fronts.Status{Code: 1}
		}
	}
	return slices.DeleteFunc(nodes, func(n *fronts.Node) bool { return !is[n.Name] }), nil
}

func nodeText(n *fronts.Node, about *fronts.About) string {
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString("   " + fronts.OneLine(fmt.Sprintf(format, args...)) + "\n")
	}
	fmt.Fprintf(&b, "NodeName=%s CoresPerSocket=1 \n", n.Name)
	line("CPUAlloc=%d CPUEfctv=%d CPUTot=%d CPULoad=%.2f", n.CPUsUsed, n.CPUs, n.CPUs, n.Load)
	features := orNull(strings.Join(n.Features, ","))
	line("AvailableFeatures=%s", features)
	line("ActiveFeatures=%s", features)
	line("Gres=%s", gres(n))
	line("NodeAddr=%s NodeHostName=%s ", n.Name, n.Name)
	line("RealMemory=%d AllocMem=%d FreeMem=N/A Sockets=%d Boards=1", n.Mem/1024, n.MemUsed/1024, n.CPUs)
	line("State=%s ThreadsPerCore=1 TmpDisk=%d Weight=%d Owner=N/A MCS_label=N/A", nodeStateLong(n), n.Disk/1024,
		weight(n))
	line("Partitions=%s ", about.QueueOf(n.Queue))
	line("BootTime=None SlurmdStartTime=None")
	line("CfgTRES=cpu=%d,mem=%s,billing=%d", n.CPUs, memory(n.Mem), n.CPUs)
	alloc := ""
	if n.CPUsUsed > 0 {
		alloc = fmt.Sprintf("cpu=%d", n.CPUsUsed)
		if n.MemUsed > 0 {
			alloc += ",mem=" + memory(n.MemUsed)
		}
	}
	line("AllocTRES=%s", alloc)
	if n.Reason != "" {
		line("Reason=%s", n.Reason)
	}
	return b.String() + "\n"
}

// showPartitions prints scontrol show partition.
func showPartitions(v fronts.View, about *fronts.About, set fronts.Set, name string) (string, error) {
	nodes, err := v.Nodes()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range partitionsOf(nodes, about) {
		if name != "" && p.name != name {
			continue
		}
		cpus := 0
		var names []string
		for _, n := range p.nodes {
			cpus += n.CPUs
			names = append(names, n.Name)
		}
		def := "NO"
		if p.name == about.Partition {
			def = "YES"
		}
		text := fmt.Sprintf("PartitionName=%s\n   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL\n   AllocNodes=ALL "+
			"Default=%s QoS=N/A\n"+
			"   DefaultTime=%s DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO\n   MaxNodes=UNLIMITED "+
			"MaxTime=UNLIMITED MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED\n"+
			"   Nodes=%s\n   PriorityJobFactor=1 PriorityTier=1 RootOnly=NO ReqResv=NO OverSubscribe=NO\n   "+
			"OverTimeLimit=NONE PreemptMode=OFF\n"+
			"   State=UP TotalCPUs=%d TotalNodes=%d SelectTypeParameters=NONE\n   JobDefaults=(null)\n   "+
			"DefMemPerNode=UNLIMITED MaxMemPerNode=UNLIMITED\n\n",
			p.name, def, clock(about.Walltime), fold(names), cpus, len(p.nodes))
		if set.Has("oneliner") {
			text = strings.Join(strings.Fields(text), " ") + "\n"
		}
		b.WriteString(text)
	}
	if name != "" && b.Len() == 0 {
		return "", fronts.Failf(1, "Partition %s not found", name)
	}
	return b.String(), nil
}

// reservationText returns the output of scontrol show reservation.
func reservationText(r *fronts.Reservation, cal *calendar) string {
	state, cpus := "INACTIVE", strconv.Itoa(r.CPUs)
	if !cal.now.Before(r.Start) && cal.now.Before(r.End) {
		state = "ACTIVE"
	}
	var licenses []string
	for _, l := range r.Licenses {
		licenses = append(licenses, l.Name+":"+strconv.FormatInt(l.Used, 10))
	}
	return fmt.Sprintf("ReservationName=%s StartTime=%s EndTime=%s Duration=%s\n", fronts.Word(r.Name),
		cal.stamp(r.Start, "N/A"), cal.stamp(r.End, "N/A"), clock(r.End.Sub(r.Start))) +
		fmt.Sprintf("   Nodes=%s NodeCnt=%d CoreCnt=%s Features=(null) PartitionName=(null) Flags=SPEC_NODES\n   "+
			"TRES=cpu=%s\n", orNull(fold(r.Nodes)), len(r.Nodes), cpus, cpus) +
		fmt.Sprintf("   Users=%s Groups=%s Accounts=%s Licenses=%s State=%s BurstBuffer=(null) Watts=n/a\n   "+
			"MaxStartDelay=(null)\n\n",
			orNull(joined(r.Users)), orNull(joined(r.Groups)), orNull(joined(r.Accounts)), orNull(joined(licenses)),
			state)
}

// showConfig prints what clients read of scontrol show config. Toil polls its jobs at 1.2 times the
// larger of the two times.
func showConfig(c *fronts.Call, about *fronts.About) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Configuration data as of %s\n", calendarOf(c, about.Now).stamp(about.Now, ""))
	for _, kv := range [][2]string{{"AccountingStorageType", "accounting_storage/slurmdbd"},
		{"AcctGatherNodeFreq", "0 sec"}, {"ClusterName", about.Server},
		{"DefMemPerNode", "UNLIMITED"}, {"MaxArraySize", number(about.MaxArray + 1)}, {"MaxJobCount", "10000000"},
		{"MinJobAge", fmt.Sprintf("%d sec", int(about.Keep.Seconds()))},
		{"SchedulerTimeSlice", "2 sec"}, {"SchedulerType", "sched/backfill"}, {"SelectType", "select/cons_tres"},
		{"SLURM_CONF", about.Database},
		{"SLURM_VERSION", strings.TrimPrefix(version, "slurm ")}, {"SlurmctldHost[0]", c.Exec}} {
		fmt.Fprintf(&b, "%-23s = %s\n", kv[0], kv[1])
	}
	return b.String() + "\nSlurmctld(primary) at " + c.Exec + " is UP\n"
}
