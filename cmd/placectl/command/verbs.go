package command

import (
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verb/about"
	"github.com/placectl/placectl/cmd/placectl/internal/verb/ask"
	"github.com/placectl/placectl/cmd/placectl/internal/verb/batch"
	"github.com/placectl/placectl/cmd/placectl/internal/verb/cluster"
	"github.com/placectl/placectl/cmd/placectl/internal/verb/database"
	"github.com/placectl/placectl/cmd/placectl/internal/verb/front"
	"github.com/placectl/placectl/cmd/placectl/internal/verb/place"
	"github.com/placectl/placectl/cmd/placectl/internal/verb/queue"
	"github.com/placectl/placectl/cmd/placectl/internal/verb/run"
	"github.com/placectl/placectl/cmd/placectl/internal/verb/share"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
)

// Verbs lists every verb, in the order in which help shows them.
func Verbs() verbs.List[*session.Run] {
	return verbs.List[*session.Run]{
		{Name: "init", Make: cluster.Init, Day: 1},
		{Name: "config", Make: database.Config, Like: "qmgr scontrol sacctmgr settings"},
		{Name: "resource", Make: cluster.Resource},
		{Name: "queue", Make: share.Queue},
		{Name: "pool", Make: share.Pool},
		{Name: "account", Make: share.Account},
		{Name: "limit", Make: share.Limit},
		{Name: "role", Make: share.Role},
		{Name: "priority", Make: share.Priority},
		{Name: "node", Make: cluster.Node, Day: 15,
			Like: "sinfo=list pbsnodes=list bhosts=list oarnodes=list nodes=list hosts=list"},
		{Name: "preempt", Make: share.Preempt},
		{Name: "bucket", Make: cluster.Bucket},
		{Name: "set", Make: cluster.Set},
		{Name: "place", Make: place.Place, Like: "alloc allocate"},
		{Name: "when", Make: place.When, Day: 8, Like: "showstart estimate"},
		{Name: "explain", Make: place.Explain, Day: 7, Like: "checkjob why"},
		{Name: "release", Make: queue.Release},
		{Name: "extend", Make: place.Extend},
		{Name: "show", Make: queue.Show, Day: 6},
		{Name: "reserve", Make: place.Reserve, Day: 16},
		{Name: "unreserve", Make: place.Unreserve},
		{Name: "reservation", Make: place.Reservation},
		{Name: "submit", Make: queue.Submit, Day: 2, Like: "sbatch qsub bsub oarsub msub add enqueue"},
		{Name: "hold", Make: queue.Hold, Like: "qhold pause suspend"},
		{Name: "unhold", Make: queue.Unhold, Like: "qrls resume continue"},
		{Name: "alter", Make: queue.Alter, Day: 12, Like: "qalter update modify"},
		{Name: "cancel", Make: queue.Cancel, Day: 11,
			Like: "scancel qdel bkill oardel canceljob kill stop terminate delete del remove"},
		{Name: "signal", Make: queue.Signal, Like: "qsig"},
		{Name: "done", Make: queue.Done},
		{Name: "requeue", Make: queue.Requeue, Like: "qrerun restart"},
		{Name: "retry", Make: queue.Retry, Day: 13, Like: "resubmit rerun again"},
		{Name: "job", Make: queue.Job, Like: "squeue=list qstat=list bjobs=list oarstat=list showq=list ps=list " +
			"ls=list list=list jobs=list"},
		{Name: "history", Make: queue.History, Day: 14, Like: "sacct finished"},
		{Name: "cycle", Make: run.Cycle, Like: "schedule sched slurmctld"},
		{Name: "work", Make: run.Work, Like: "start daemon slurmd"},
		{Name: "keep", Make: run.Keep},
		{Name: "attend", Make: run.Attend},
		{Name: "attempts", Make: run.Attempts},
		{Name: "run", Make: run.Run, Day: 3, Like: "srun qrun exec salloc"},
		{Name: "on", Make: run.On},
		{Name: "logs", Make: run.Logs, Day: 9, Like: "tail cat output log qpeek"},
		{Name: "wait", Make: queue.Wait, Day: 10},
		{Name: "events", Make: ask.Events, Like: "tracejob audit"},
		{Name: "tx", Make: queue.Tx},
		{Name: "class", Make: share.Class, Like: "sshare fairshare"},
		{Name: "batch", Make: batch.Batch},
		{Name: "query", Make: ask.Query, Day: 17, Like: "sql select"},
		{Name: "view", Make: ask.View},
		{Name: "mcp", Make: ask.MCP},
		{Name: "shell", Make: ask.Shell},
		{Name: "gantt", Make: ask.Gantt},
		{Name: "status", Make: ask.Status, Day: 4, Like: "info overview state"},
		{Name: "top", Make: ask.Top, Day: 5},
		{Name: "metrics", Make: ask.Metrics},
		{Name: "report", Make: ask.Report, Day: 18},
		{Name: "usage", Make: ask.Usage},
		{Name: "simulate", Make: ask.Simulate},
		{Name: "whatif", Make: ask.Whatif},
		{Name: "check", Make: database.Check},
		{Name: "log", Make: database.Log},
		{Name: "upgrade", Make: database.Upgrade},
		{Name: "doctor", Make: database.Doctor, Day: 19},
		{Name: "backup", Make: database.Backup},
		{Name: "restore", Make: database.Restore},
		{Name: "dump", Make: database.Dump},
		{Name: "load", Make: database.Load},
		{Name: "compact", Make: database.Compact},
		{Name: "salvage", Make: database.Salvage},
		{Name: "adopt", Make: database.Adopt},
		{Name: "clock", Make: database.Clock},
		{Name: "archive", Make: database.Archive},
		{Name: "demo", Make: ask.Demo},
		{Name: "pbs", Make: front.Pbs},
		{Name: "slurm", Make: front.Slurm},
		{Name: "install-frontends", Make: front.InstallFrontends},
		{Name: "completion", Make: about.Completion},
		{Name: "man", Make: about.Man},
		{Name: "version", Make: about.Version},
	}
}
