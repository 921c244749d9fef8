package slurm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// stateNames are Slurm's names of states, short and long, indexed by our state.
var stateNames = [...][2]string{
	fronts.Held: {"PD", "PENDING"}, fronts.Queued: {"PD", "PENDING"}, fronts.Running: {"R", "RUNNING"},
	fronts.Finished: {"CD", "COMPLETED"}, fronts.Failed: {"F", "FAILED"}, fronts.Cancelled: {"CA", "CANCELLED"},
	fronts.Walltime: {"TO", "TIMEOUT"}, fronts.OOM: {"OOM", "OUT_OF_MEMORY"}, fronts.Lost: {"NF", "NODE_FAIL"},
}

// otherStates are states of Slurm that our jobs never have.
var otherStates = []string{"BF", "BOOT_FAIL", "CF", "CONFIGURING", "CG", "COMPLETING", "DL", "DEADLINE", "PR",
	"PREEMPTED", "RD", "RESV_DEL_HOLD",
	"RF", "REQUEUE_FED", "RH", "REQUEUE_HOLD", "RQ", "REQUEUED", "RS", "RESIZING", "RV", "REVOKED", "S", "SUSPENDED",
	"SE", "SPECIAL_EXIT",
	"SI", "SIGNALING", "SO", "STAGE_OUT", "ST", "STOPPED"}

func short(j *fronts.Job) string {
	if j.Ending && !j.State.Over() {
		return "CG"
	}
	if j.Paused && j.State == fronts.Running {
		return "S"
	}
	return stateNames[j.State][0]
}

func long(j *fronts.Job) string {
	if j.Ending && !j.State.Over() {
		return "COMPLETING"
	}
	if j.Paused && j.State == fronts.Running {
		return "SUSPENDED"
	}
	return stateNames[j.State][1]
}

// states parses a list of states. all reports whether it selects every state.
func states(list string) (wanted map[string]bool, all bool, err error) {
	wanted = make(map[string]bool)
	for word := range strings.SplitSeq(list, ",") {
		typed := strings.TrimSpace(word)
		word = strings.ToUpper(typed)
		known := slices.Contains(otherStates, word)
		for _, n := range stateNames {
			if word == n[0] || word == n[1] {
				known = true
				wanted[n[0]] = true
			}
		}
		switch {
		case word == "ALL":
			all = true
		case word == "CG" || word == "COMPLETING":
			wanted["CG"] = true
		case word == "S" || word == "SUSPENDED":
			wanted["S"] = true
		case !known:
			return nil, false, saying("Invalid job state specified: %s", fronts.OneLine(typed))
		}
	}
	return wanted, all, nil
}

// exitCode returns how a job ended: status and signal. Unless it is COMPLETED, it is never 0:0.
func exitCode(j *fronts.Job) string {
	switch j.State {
	case fronts.Failed:
		if j.Signal != 0 {
			return fmt.Sprintf("0:%d", j.Signal)
		}
		return fmt.Sprintf("%d:0", max(j.Exit, 1))
	case fronts.Cancelled, fronts.Walltime:
		return "0:15"
	case fronts.OOM:
		return "0:125"
	case fronts.Lost:
		return "1:0"
	}
	return "0:0"
}

// reason returns Slurm's word for why a job is where it is.
func reason(j *fronts.Job) string {
	switch j.State {
	case fronts.Failed:
		return "NonZeroExitCode"
	case fronts.Walltime:
		return "TimeLimit"
	case fronts.OOM:
		return "OutOfMemory"
	case fronts.Lost:
		return "NodeDown"
	}
	return [...]string{fronts.ForNothing: "None", fronts.ForRoom: "Resources", fronts.ForTurn: "Priority",
		fronts.ForJob: "Dependency", fronts.ForBegin: "BeginTime",
		fronts.ForRelease: "JobHeldUser", fronts.ForReservation: "Reservation",
		fronts.ForLimit:    "AssociationResourceLimit",
		fronts.ForThrottle: "JobArrayTaskLimit", fronts.ForNodes: "ReqNodeNotAvail", fronts.Never: "PartitionConfig",
		fronts.NeverJob: "DependencyNeverSatisfied"}[j.Wait]
}

// nodeState returns sinfo's word for a node's state.
func nodeState(n *fronts.Node) string {
	used := n.State == fronts.Busy || n.State == fronts.Partly || len(n.Jobs) > 0
	switch n.State {
	case fronts.Down:
		return "down"
	case fronts.Offline, fronts.Drained:
		if used && len(n.Jobs) > 0 {
			return "drng"
		}
		return "drain"
	}
	switch {
	case n.Reserved && len(n.Jobs) == 0:
		return "resv"
	case n.State == fronts.Partly:
		return "mix"
	case used:
		return "alloc"
	}
	return "idle"
}

// nodeStateLong returns scontrol's word for a node's state.
func nodeStateLong(n *fronts.Node) string {
	base := "IDLE"
	switch {
	case n.State == fronts.Down:
		return "DOWN"
	case n.CPUsUsed >= n.CPUs && n.CPUs > 0 || n.State == fronts.Busy:
		base = "ALLOCATED"
	case n.CPUsUsed > 0 || n.State == fronts.Partly:
		base = "MIXED"
	}
	switch {
	case n.State == fronts.Offline, n.State == fronts.Drained:
		base += "+DRAIN"
	case n.Reserved && len(n.Jobs) == 0:
		base = "RESERVED"
	}
	return base
}
