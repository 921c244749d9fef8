package slurm

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

func (q *queued) partition() string { return fronts.Word(q.about.QueueOf(q.Queue)) }

func (q *queued) elapsed() time.Duration { return q.Elapsed(q.about.Now) }

func (q *queued) nodeCount() int { return cmp.Or(len(q.Nodes), q.NodeCount, 1) }

// id returns the line's id: 12, 3_0, or 3_[0-3%2] for jobs that wait together.
func (q *queued) id() string {
	if q.folded == nil {
		return jobID(q.Job)
	}
	return fmt.Sprintf("%d_[%s]", q.Array, elements(q.folded, q.Limit))
}

// index returns the job's index in its array.
func (q *queued) index() string {
	switch {
	case q.Array == 0:
		return "N/A"
	case q.folded != nil:
		return elements(q.folded, q.Limit)
	}
	return strconv.Itoa(q.Index)
}

// where returns the job's nodes, or why it has none.
func (q *queued) where() string {
	switch {
	case q.State < fronts.Running:
		return "(" + reason(q.Job) + ")"
	case q.State == fronts.Running || q.State == fronts.Finished:
		return fold(q.Nodes)
	case reason(q.Job) != "None":
		return "(" + reason(q.Job) + ")"
	}
	return fold(q.Nodes)
}

func (q *queued) left() string {
	left := q.Walltime - q.elapsed()
	if left < 0 {
		return "INVALID"
	}
	return span(left)
}

func (q *queued) time(t time.Time) string { return q.cal.stamp(t, "N/A") }

// ends returns the job's actual or expected end.
func (q *queued) ends() string {
	if q.State < fronts.Running {
		return "N/A"
	}
	return q.time(q.End)
}

func (q *queued) after() string {
	if len(q.After) == 0 || q.State >= fronts.Running {
		return "(null)"
	}
	return dependencies(q.Job)
}

// dependencies returns a job's dependencies in the syntax of --dependency.
func dependencies(j *fronts.Job) string {
	words := make([]string, len(j.After))
	for i, d := range j.After {
		all := ""
		if d.Array {
			all = "_*"
		}
		words[i] = fmt.Sprintf("%s:%d%s(unfulfilled)", d.Kind, d.Job, all)
	}
	return strings.Join(words, ",")
}

func fixed(text string) func(*queued) string { return func(*queued) string { return text } }

func number(n int) string { return strconv.Itoa(n) }

// queueFields are the fields of squeue.
var queueFields = sync.OnceValue(func() fields[*queued] {
	return fields[*queued]{
		{'i', "JobArrayID", "JOBID", (*queued).id},
		{'A', "JobID", "JOBID", func(q *queued) string { return strconv.FormatUint(q.ID, 10) }},
		{'F', "ArrayJobID", "ARRAY_JOB_ID", func(q *queued) string { return strconv.FormatUint(q.Whole(), 10) }},
		{'K', "ArrayTaskID", "ARRAY_TASK_ID", (*queued).index},
		{'P', "Partition", "PARTITION", (*queued).partition},
		{'j', "Name", "NAME", func(q *queued) string { return fronts.Word(q.Name) }},
		{'u', "UserName", "USER", func(q *queued) string { return fronts.Word(q.User) }},
		{'U', "UserID", "UID", func(q *queued) string { return number(q.UID) }},
		{'g', "GroupName", "GROUP", func(q *queued) string { name, _ := group(q.people, q.UID); return name }},
		{'G', "GroupID", "GROUP", func(q *queued) string { _, gid := group(q.people, q.UID); return gid }},
		{'t', "StateCompact", "ST", func(q *queued) string { return short(q.Job) }},
		{'T', "State", "STATE", func(q *queued) string { return long(q.Job) }},
		{'M', "TimeUsed", "TIME", func(q *queued) string { return span(q.elapsed()) }},
		{'l', "TimeLimit", "TIME_LIMIT", func(q *queued) string { return span(q.Walltime) }},
		{'L', "TimeLeft", "TIME_LEFT", (*queued).left},
		{'D', "NumNodes", "NODES", func(q *queued) string { return number(q.nodeCount()) }},
		{'C', "NumCPUs", "CPUS", func(q *queued) string { return number(q.Cores) }},
		{'R', "ReasonList", "NODELIST(REASON)", (*queued).where},
		{'r', "Reason", "REASON", func(q *queued) string { return reason(q.Job) }},
		{'N', "NodeList", "NODELIST", func(q *queued) string { return fold(q.Nodes) }},
		{'m', "MinMemory", "MIN_MEMORY", func(q *queued) string { return memory(q.NodeMem) }},
		{'c', "MinCpus", "MIN_CPUS", func(q *queued) string { return number(q.NodeCPUs) }},
		{'a', "Account", "ACCOUNT", func(q *queued) string { return orNull(q.Account) }},
		{'q', "QOS", "QOS", func(q *queued) string { return orNull(q.Class) }},
		{'b', "tres-per-node", "TRES_PER_NODE", func(q *queued) string { return gresOr(q.NodeGPUs, "N/A") }},
		{'S', "StartTime", "START_TIME", func(q *queued) string {
			if q.Start.IsZero() && q.Begin.After(q.about.Now) {
				return q.time(q.Begin)
			}
			return q.time(q.Start)
		}},
		{'e', "EndTime", "END_TIME", (*queued).ends},
		{'V', "SubmitTime", "SUBMIT_TIME", func(q *queued) string { return q.time(q.Submit) }},
		{0, "EligibleTime", "ELIGIBLE_TIME", func(q *queued) string { return q.time(later(q.Submit, q.Begin)) }},
		{'p', "Priority", "PRIORITY", func(q *queued) string { return strconv.FormatInt(q.Priority, 10) }},
		{'Q', "PriorityLong", "PRIORITY", func(q *queued) string { return strconv.FormatInt(q.Priority, 10) }},
		{'E', "Dependency", "DEPENDENCY", (*queued).after},
		{'f', "Feature", "FEATURES", func(q *queued) string { return orNull(strings.Join(q.Features, "&")) }},
		{'v', "Reservation", "RESERVATION", func(q *queued) string { return orNull(q.Reservation) }},
		{'Z', "WorkDir", "WORK_DIR", func(q *queued) string { return orNull(q.detail().Dir) }},
		{'o', "Command", "COMMAND", func(q *queued) string {
			return cmp.Or(fronts.OneLine(q.detail().Command), "(null)")
		}},
		{0, "STDOUT", "STDOUT", func(q *queued) string { return orNull(q.detail().Out) }},
		{0, "STDERR", "STDERR", func(q *queued) string { return orNull(cmp.Or(q.detail().Err, q.detail().Out)) }},
		{0, "exit_code", "EXIT_CODE", func(q *queued) string { return number(q.Exit) }},
		{0, "cpus-per-task", "CPUS_PER_TASK", func(q *queued) string {
			if n := q.detail().CPUsPerTask; n > 0 {
				return number(n)
			}
			return "N/A"
		}},
		{0, "tres-alloc", "TRES_ALLOC", func(q *queued) string {
			if len(q.Nodes) == 0 {
				return "N/A"
			}
			return tres(q.Job, q.Cores, len(q.Nodes), memory)
		}},
		{0, "NumTasks", "TASKS", func(q *queued) string { return number(q.Tasks) }},
		{0, "RestartCnt", "RESTART_COUNT", func(q *queued) string { return number(max(q.Attempt-1, 0)) }},
		{'B', "BatchHost", "EXEC_HOST", func(q *queued) string {
			if len(q.Nodes) == 0 {
				return "n/a"
			}
			return q.Nodes[0]
		}},
		{'Y', "SchedNodes", "SCHEDNODES", fixed("(null)")},
		{'k', "Comment", "COMMENT", func(q *queued) string { return orNull(q.Comment) }},
		{'d', "MinTmpDisk", "MIN_TMP_DISK", fixed("0")},
		{'h', "OverSubscribe", "OVER_SUBSCRIBE", func(q *queued) string {
			if q.Excl {
				return "NO"
			}
			return "OK"
		}},
		{'n', "ReqNodes", "REQ_NODES", fixed("")},
		{'x', "ExcNodes", "EXC_NODES", func(q *queued) string { return q.Exclude }},
		{'y', "Nice", "NICE", fixed("0")},
		{'w', "WCKey", "WCKEY", fixed("(null)")},
		{'O', "Contiguous", "CONTIGUOUS", fixed("0")},
		{'z', "SCT", "S:C:T", fixed("*:*:*")},
		{'H', "Sockets", "SOCKETS_PER_NODE", fixed("*")},
		{'I', "Cores", "CORES_PER_SOCKET", fixed("*")},
		{'J', "Threads", "THREADS_PER_CORE", fixed("*")},
		{'X', "CoreSpec", "CORE_SPEC", fixed("0")},
		{'W', "Licenses", "LICENSES", func(q *queued) string { return orNull(askedLicenses(q.Job)) }},
		{0, "Cluster", "CLUSTER", fixed("(null)")},
		{0, "PendingTime", "PENDING_TIME", func(q *queued) string {
			until := q.about.Now
			if q.State >= fronts.Running {
				until = q.Start
			}
			return strconv.FormatInt(int64(until.Sub(q.Submit)/time.Second), 10)
		}},
	}
})

// detail returns the Detail of the job, empty if it was not read.
func (q *queued) detail() *fronts.Detail {
	if q.Detail == nil {
		return new(fronts.Detail)
	}
	return q.Detail
}

func gresOr(n int, none string) string {
	if n == 0 {
		return none
	}
	return fmt.Sprintf("gres:gpu:%d", n)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
