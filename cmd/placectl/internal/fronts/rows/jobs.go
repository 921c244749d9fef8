package rows

import (
	"errors"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
)

// Jobs calls fn for the selected jobs, by number.
func (v *View) Jobs(s fronts.Selection, fn func(*fronts.Job) error) error {
	one := func(j *engine.Job) error {
		job, err := v.job(j, s)
		if err != nil {
			return err
		}
		return fn(job)
	}
	if s.IDs != nil {
		list, err := v.named(s.IDs)
		if err != nil {
			return err
		}
		for _, j := range list {
			if err := one(j); err != nil {
				return err
			}
		}
		return nil
	}
	var list []*engine.Job // jobs of one state come by number
	if s.Ended {
		known := false
		if !s.Since.IsZero() {
			var err error
			if list, known, err = v.endedSince(s.Since); err != nil {
				return err
			}
		}
		if !known {
			return v.Tx.Jobs().Each(func(j *engine.Job) error {
				if !j.State.Live() && j.End.Before(s.Since) {
					return nil
				}
				return one(j)
			})
		}
	}
	live := slices.DeleteFunc(engine.JobStates(), func(s engine.JobState) bool { return !s.Live() })
	if err := v.Tx.Jobs().Each(func(j *engine.Job) error { list = append(list, j); return nil }, live...); err != nil {
		return err
	}
	slices.SortFunc(list, byNumber)
	for _, j := range list {
		if err := one(j); err != nil {
			return err
		}
	}
	return nil
}

func byNumber(a, b *engine.Job) int {
	switch {
	case a.ID < b.ID:
		return -1
	case a.ID > b.ID:
		return 1
	}
	return 0
}

// named finds jobs and the jobs of arrays by number. Unknown numbers are skipped.
func (v *View) named(ids []uint64) (list []*engine.Job, err error) {
	seen := make(map[uint64]bool)
	for _, id := range ids {
		jobs, err := v.Tx.Jobs().JobOrArray(id)
		if errors.Is(err, engine.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, j := range jobs {
			if !seen[j.ID] {
				seen[j.ID] = true
				list = append(list, j)
			}
		}
	}
	slices.SortFunc(list, byNumber)
	return list, nil
}

// Row converts a job for front-ends.
func (v *View) Row(j *engine.Job) (*fronts.Job, error) { return v.job(j, fronts.Selection{}) }

// jobStates translates states. The attempt says how a job has failed.
var jobStates = map[engine.JobState]fronts.State{engine.JobHeld: fronts.Held, engine.JobQueued: fronts.Queued,
	engine.JobReserved: fronts.Queued, engine.JobLate: fronts.Queued,
	engine.JobRunning: fronts.Running, engine.JobFinished: fronts.Finished, engine.JobFailed: fronts.Failed,
	engine.JobCancelled: fronts.Cancelled}

func (v *View) job(j *engine.Job, s fronts.Selection) (*fronts.Job, error) {
	d, err := v.demand(j.Select)
	if err != nil {
		return nil, err
	}
	place, _ := placer.ParsePlace(v.defs, j.Place) // fails if its group is no resource any more
	out := &fronts.Job{ID: j.ID, Array: j.Array, Index: j.Index, Name: j.Name, User: j.User, UID: -1,
		Account: j.Account, Comment: j.Comment, Queue: j.Queue, Class: j.Class,
		State: jobStates[j.State], Ending: j.Ending, Paused: j.Paused, Exit: j.Exit, Reason: j.Why(),
		Priority: j.Priority, Requeue: !j.NoRequeue,
		Begin: j.Begin, Submit: j.Submit, Start: j.Start, End: j.End, Deadline: j.Deadline, Walltime: j.Walltime,
		Select: j.Select, Place: j.Place,
		NodeCount: d.nodes, CPUs: d.cpus, Cores: d.cpus, Tasks: d.tasks, Mem: d.mem, GPUs: d.gpus, NodeMem: d.nodeMem,
		NodeCPUs: d.nodeCPUs, NodeGPUs: d.nodeGPUs, Features: d.features,
		Excl: place.Exclusive(), Reservation: j.Reservation, Attempt: j.Attempt, Exclude: j.Exclude}
	for _, p := range j.Pools {
		out.Licenses = append(out.Licenses, fronts.License{Name: p.Pool, Used: p.Amount})
	}
	if j.Array != 0 {
		if out.Limit, err = v.limit(j.Array); err != nil {
			return nil, err
		}
	}
	out.Mine = v.Tx.Roles().Mine(j)
	switch {
	case j.UID != nil:
		out.UID = int(*j.UID)
	case out.Mine && v.Host != nil:
		out.UID = v.Host.UID
	}
	if !strings.Contains(j.Place, "scatter") { // the smallest possible number of nodes
		out.NodeCount = 1
	}
	for _, a := range j.After {
		array, err := v.Tx.Jobs().IsArray(a.Job)
		if err != nil {
			return nil, err
		}
		out.After = append(out.After, fronts.Dependency{Kind: a.When.String(), Job: a.Job, Array: array})
	}
	if out.Nodes, err = v.Tx.Nodes().Names(j.AllNodes()); err != nil {
		return nil, err
	}
	if out.State.Over() && j.Attempt > 0 {
		if err := v.outcome(j, out); err != nil {
			return nil, err
		}
	}
	if out.Excl && out.State >= fronts.Running {
		out.Cores = v.whole(out.Nodes, d.cpus)
	}
	if s.Why && out.State < fronts.Running {
		if err := v.why(j, out); err != nil {
			return nil, err
		}
	}
	if s.Starts && out.State < fronts.Running {
		if err := v.starts(j, out); err != nil {
			return nil, err
		}
	}
	if s.Details {
		out.Detail, err = v.detail(j, out)
	}
	return out, err
}

// whole returns the cpus of whole nodes. If one of them has gone since, that is least.
func (v *View) whole(nodes []string, least int) (cpus int) {
	for _, name := range nodes {
		n, err := v.Tx.Nodes().Get(name)
		if err != nil {
			return least
		}
		cores, _ := n.Get(index.NCPUs)
		cpus += int(cores.Num)
	}
	return max(cpus, least)
}

// starts fills in when a waiting job is expected to start.
func (v *View) starts(j *engine.Job, out *fronts.Job) error {
	if err := v.looks(); err != nil {
		return err
	}
	p, err := v.look.Prospect(j)
	out.Start, out.End = p.Start, p.End
	return err
}

// looks begins an outlook once.
func (v *View) looks() (err error) {
	if v.look == nil {
		v.look, err = v.Tx.Ask().Outlook()
	}
	return err
}

// limit returns how many jobs of an array may run at once, 0 for any number.
func (v *View) limit(array uint64) (int, error) {
	if v.limits == nil {
		var err error
		if v.limits, err = v.Tx.Pools().Throttles(); err != nil {
			return 0, err
		}
	}
	return int(v.limits[array]), nil
}

// outcome fills in how the last attempt ended.
func (v *View) outcome(j *engine.Job, out *fronts.Job) error {
	a, err := v.Tx.Attempts().Get(j.ID, 0)
	if err != nil {
		return err
	}
	switch {
	case j.State != engine.JobFailed:
	case a.Outcome == engine.OutcomeWalltime:
		out.State = fronts.Walltime
	case a.Outcome == engine.OutcomeOOM:
		out.State = fronts.OOM
	case a.Outcome == engine.OutcomeLost:
		out.State = fronts.Lost
	case a.Outcome == engine.OutcomeSignal:
		out.Signal = a.Signal
	}
	if len(out.Nodes) == 0 {
		out.Nodes, err = v.Tx.Nodes().Names(a.AllNodes())
	}
	return err
}

// waits translates what jobs wait for.
var waits = map[engine.Wait]fronts.Wait{engine.WaitsNever: fronts.Never, engine.WaitsNodes: fronts.ForNodes,
	engine.WaitsHeld: fronts.ForRelease, engine.WaitsJob: fronts.ForJob, engine.WaitsBegin: fronts.ForBegin,
	engine.WaitsClass: fronts.ForTurn, engine.WaitsPlan: fronts.ForRoom, engine.WaitsLate: fronts.ForRoom,
	engine.WaitsNot: fronts.ForTurn, engine.WaitsRoom: fronts.ForTurn, engine.WaitsLimit: fronts.ForLimit,
	engine.WaitsUser: fronts.ForTurn, engine.WaitsTurn: fronts.ForTurn}

// why says what a job waits for. Among jobs that only wait for room, the first waits for Resources, or
// for nothing if there is room. The others wait for their turn.
func (v *View) why(j *engine.Job, out *fronts.Job) (err error) {
	if err := v.looks(); err != nil {
		return err
	}
	if j.State == engine.JobHeld {
		out.Wait = fronts.ForRelease
		return nil
	}
	p, err := v.look.Keeps(j)
	if err != nil {
		return err
	}
	out.Wait = waits[p.Wait]
	if p.Reason != "" {
		out.Reason = p.Words()
	}
	switch {
	case out.Wait == fronts.Never && len(j.After) > 0 && !j.Never:
		out.Wait = fronts.NeverJob
	case out.Wait == fronts.ForLimit && p.Throttled:
		out.Wait = fronts.ForThrottle
	case out.Wait == fronts.ForTurn && j.Reservation != "":
		out.Wait = fronts.ForReservation
	case p.Wait == engine.WaitsUser:
		out.Wait = fronts.ForNothing
	case out.Wait == fronts.ForTurn && p.Wait != engine.WaitsClass:
		next, err := v.look.Next(j)
		if err != nil || !next {
			return err
		}
		if p, err = v.look.Prospect(j); err != nil {
			return err
		}
		if out.Wait = fronts.ForRoom; p.Wait == engine.WaitsTurn { // there is room
			out.Wait = fronts.ForNothing
		}
	}
	return nil
}

// Script returns a job's script.
func (v *View) Script(job uint64) (string, error) {
	p, err := v.Tx.Jobs().Payload(job)
	if err != nil || p == nil {
		return "", err
	}
	return p.Script, nil
}

// LineVariable is the environment variable with the submitting command line.
const LineVariable = "PLACECTL_SUBMIT_LINE"

// ScriptVariable is the environment variable with the path of the submitted script.
const ScriptVariable = "PLACECTL_SUBMIT_SCRIPT"

// detail reads further rows about the job.
func (v *View) detail(j *engine.Job, out *fronts.Job) (*fronts.Detail, error) {
	d := new(fronts.Detail)
	var words []string
	p, err := v.Tx.Jobs().Payload(j.ID)
	if err != nil {
		return nil, err
	}
	if d.ExecVNode, err = v.Tx.Jobs().ExecVNode(j); err != nil {
		return nil, err
	}
	sees, err := v.Tx.Roles().Sees(j)
	if err != nil {
		return nil, err
	}
	if p != nil {
		files := payload.Files{Job: j, Of: p, Attempt: max(j.Attempt, 1), Node: func() string {
			if len(out.Nodes) == 0 {
				return ""
			}
			return out.Nodes[0]
		}}
		d.Dir, d.Out, d.Err, d.In, d.Env = p.Dir, files.Out(), files.Err(), p.Input, p.Env
		d.Joined = d.Err == ""
		d.Mail, d.MailTo = p.Ending.Mail, p.Ending.MailTo
		if p.Owner != nil {
			d.Host, out.UID = p.Owner.Host, int(p.Owner.UID)
		}
		for _, kv := range p.Variables {
			name, value, _ := strings.Cut(kv, "=")
			switch name {
			case LineVariable:
				if sees {
					d.Line = value
				}
			case ScriptVariable:
				words = append(words, value)
			case "PBS_O_WORKDIR":
				d.From = value
			case "SLURM_CPUS_PER_TASK":
				d.CPUsPerTask = number(value)
			case "SLURM_MEM_PER_CPU":
				d.MemPerCPU = int64(number(value)) * 1024
			}
		}
	}
	d.Command = text.ShellLine(append(words, j.Command...))
	if j.Attempt > 0 {
		a, err := v.Tx.Attempts().Get(j.ID, 0)
		if err != nil {
			return nil, err
		}
		d.CPUUser, d.CPUSys, d.MaxRSS = a.Use.CPUUser, a.Use.CPUSystem, a.Use.MaxRSS
	}
	return d, nil
}

func number(s string) (n int) {
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}
