package slurm

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// accountField is something that sacct can show.
type accountField struct {
	name  string
	width int
	left  bool
	value func(*account) string
}

type accountTable []accountField

// accountFields are all fields of sacct here.
var accountFields = sync.OnceValue(func() accountTable {
	list := accountTable{
		{"Account", 10, false, func(a *account) string { return fronts.Word(a.Account) }},
		{"AllocCPUS", 10, false, func(a *account) string { return number(a.allocated()) }},
		{"AllocNodes", 10, false, func(a *account) string { return number(len(a.Nodes)) }},
		{"AllocTRES", 10, false, func(a *account) string {
			if a.allocated() == 0 {
				return ""
			}
			return tres(a.Job, a.Cores, len(a.Nodes), a.memory)
		}},
		{"AveCPU", 10, false, (*account).stepCPU},
		{"AveRSS", 10, false, (*account).rss},
		{"Cluster", 10, false, func(a *account) string { return a.about.Server }},
		{"Comment", 14, false, func(a *account) string { return fronts.Word(a.Comment) }},
		{"Constraints", 10, false, func(a *account) string { return a.ofJob(joined(a.Features)) }},
		{"CPUTime", 10, false, func(a *account) string { return clock(a.cpuTime()) }},
		{"CPUTimeRAW", 10, false, func(a *account) string { return seconds(a.cpuTime()) }},
		{"DerivedExitCode", 15, false, func(a *account) string { return a.ofJob(exitCode(a.Job)) }},
		{"Elapsed", 10, false, func(a *account) string { return clock(a.elapsed()) }},
		{"ElapsedRaw", 10, false, func(a *account) string { return seconds(a.elapsed()) }},
		{"Eligible", 19, false, func(a *account) string { return a.ofJob(a.times(later(a.Submit, a.Begin))) }},
		{"End", 19, false, func(a *account) string { return a.times(a.ended()) }},
		{"ExitCode", 8, false, func(a *account) string { return exitCode(a.Job) }},
		{"GID", 6, false, func(a *account) string { _, gid := group(a.people, a.UID); return a.ofJob(gid) }},
		{"Group", 9, false, func(a *account) string { name, _ := group(a.people, a.UID); return a.ofJob(name) }},
		{"JobID", 12, true, (*account).jobID},
		{"JobIDRaw", 12, true, (*account).rawID},
		{"JobName", 10, false, func(a *account) string {
			if a.batch {
				return "batch"
			}
			return fronts.Word(a.Name)
		}},
		{"MaxRSS", 10, false, (*account).rss},
		{"NCPUS", 10, false, func(a *account) string { return number(a.allocated()) }},
		{"NNodes", 8, false, func(a *account) string { return number(a.nodeCount()) }},
		{"NodeList", 15, false, (*account).nodes},
		{"NTasks", 8, false, func(a *account) string {
			if a.batch {
				return "1"
			}
			return ""
		}},
		{"Partition", 10, false, func(a *account) string { return a.ofJob(a.partition()) }},
		{"Planned", 10, false, (*account).planned},
		{"PlannedCPU", 10, false, func(a *account) string { return a.plannedCPU(clock) }},
		{"PlannedCPURAW", 13, false, func(a *account) string { return a.plannedCPU(seconds) }},
		{"Reserved", 10, false, (*account).planned},
		{"ResvCPU", 10, false, func(a *account) string { return a.plannedCPU(clock) }},
		{"ResvCPURAW", 10, false, func(a *account) string { return a.plannedCPU(seconds) }},
		{"Priority", 10, false, func(a *account) string { return a.ofJob(strconv.FormatInt(a.Priority, 10)) }},
		{"QOS", 10, false, func(a *account) string { return a.ofJob(fronts.Word(a.Class)) }},
		{"Reason", 22, false, func(a *account) string { return a.ofJob(reason(a.Job)) }},
		{"ReqCPUS", 8, false, func(a *account) string { return number(a.CPUs) }},
		{"ReqMem", 10, false, func(a *account) string { return a.ofJob(a.memory(a.Mem)) }},
		{"ReqNodes", 8, false, func(a *account) string { return number(a.nodeCount()) }},
		{"ReqTRES", 10, false, func(a *account) string {
			return a.ofJob(tres(a.Job, a.CPUs, a.nodeCount(), a.memory))
		}},
		{"Reservation", 20, false, func(a *account) string { return a.ofJob(fronts.Word(a.Reservation)) }},
		{"Start", 19, false, func(a *account) string {
			if a.State < fronts.Running {
				return "Unknown"
			}
			return a.times(a.Start)
		}},
		{"State", 10, false, func(a *account) string { return long(a.Job) }},
		{"Submit", 19, false, func(a *account) string { return a.times(a.Submit) }},
		{"SubmitLine", 20, false, func(a *account) string { return a.ofJob(a.detail().Line) }},
		{"Suspended", 10, false, func(*account) string { return "00:00:00" }},
		{"SystemCPU", 10, false, func(a *account) string { return cpu(a.detail().CPUSys) }},
		{"Timelimit", 10, false, func(a *account) string { return a.ofJob(clock(a.Walltime)) }},
		{"TimelimitRaw", 10, false, func(a *account) string {
			return a.ofJob(strconv.FormatInt(int64(a.Walltime/time.Minute), 10))
		}},
		{"TotalCPU", 10, false, func(a *account) string { return cpu(a.detail().CPUSys + a.detail().CPUUser) }},
		{"TRESUsageInAve", 14, false, (*account).stepUse},
		{"TRESUsageInMax", 14, false, (*account).stepUse},
		{"TRESUsageInTot", 14, false, (*account).stepUse},
		{"UID", 6, false, func(a *account) string { return a.ofJob(uid(a.UID)) }},
		{"User", 9, false, func(a *account) string { return a.ofJob(fronts.Word(a.User)) }},
		{"UserCPU", 10, false, func(a *account) string { return cpu(a.detail().CPUUser) }},
		{"WorkDir", 20, false, func(a *account) string { return a.ofJob(a.detail().Dir) }},
	}
	for _, name := range strings.Fields(unkept) {
		list = append(list, accountField{name, 10, false, func(*account) string { return "" }})
	}
	slices.SortFunc(list, func(a, b accountField) int {
		return cmp.Compare(strings.ToLower(a.name), strings.ToLower(b.name))
	})
	return list
})

// unkept are the fields of Slurm's sacct that are always empty here.
const unkept = "AdminComment AssocID AveCPUFreq AveDiskRead AveDiskWrite AvePages AveVMSize BlockID ConsumedEnergy " +
	"ConsumedEnergyRaw Container DBIndex " +
	"Flags Layout MaxDiskRead MaxDiskReadNode MaxDiskReadTask MaxDiskWrite MaxDiskWriteNode MaxDiskWriteTask " +
	"MaxPages MaxPagesNode MaxPagesTask " +
	"MaxRSSNode MaxRSSTask MaxVMSize MaxVMSizeNode MaxVMSizeTask McsLabel MinCPU MinCPUNode MinCPUTask QOSRAW " +
	"ReqCPUFreq ReqCPUFreqGov ReqCPUFreqMax ReqCPUFreqMin ReservationId SystemComment TRESUsageInMaxNode " +
	"TRESUsageInMaxTask TRESUsageInMin " +
	"TRESUsageInMinNode TRESUsageInMinTask TRESUsageOutAve TRESUsageOutMax TRESUsageOutMaxNode TRESUsageOutMaxTask " +
	"TRESUsageOutMin TRESUsageOutMinNode " +
	"TRESUsageOutMinTask TRESUsageOutTot WCKey WCKeyID"

// rss returns the memory of the batch step's largest process.
func (a *account) rss() string {
	if !a.batch || a.detail().MaxRSS == 0 {
		return ""
	}
	return a.size((a.detail().MaxRSS+1023)/1024, func(kb int64) string { return fmt.Sprintf("%dK", kb) })
}

func (a *account) memory(kb int64) string { return a.size(kb, memory) }

// stepCPU returns the cpu time of the batch step.
func (a *account) stepCPU() string {
	if !a.batch {
		return ""
	}
	return clock(a.detail().CPUSys + a.detail().CPUUser)
}

// stepUse returns what the batch step used, in TRES notation.
func (a *account) stepUse() string {
	use := ""
	if a.batch {
		if use = "cpu=" + a.stepCPU(); a.rss() != "" {
			use += ",mem=" + a.rss()
		}
	}
	return use
}

// planned returns how long the job waited although it could have started.
func (a *account) planned() string {
	wait, ok := a.waited()
	if !ok {
		return ""
	}
	return clock(wait)
}

// plannedCPU returns that time multiplied by the cpus it requests.
func (a *account) plannedCPU(write func(time.Duration) string) string {
	wait, ok := a.waited()
	if !ok {
		return ""
	}
	return write(wait * time.Duration(a.CPUs))
}

func (a *account) waited() (time.Duration, bool) {
	since, until := later(a.Submit, a.Begin), a.about.Now
	if a.State >= fronts.Running {
		until = a.Start
	}
	if a.batch || until.IsZero() || until.Before(since) {
		return 0, false
	}
	return until.Sub(since), true
}

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }

// cpu writes a cpu time: 00:01.250 below an hour, else as clock does.
func cpu(d time.Duration) string {
	if d >= time.Hour {
		return clock(d)
	}
	return fmt.Sprintf("%02d:%02d.%03d", d/time.Minute, d/time.Second%60, d/time.Millisecond%1000)
}
