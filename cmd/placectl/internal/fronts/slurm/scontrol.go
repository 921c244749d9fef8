package slurm

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/index"
)

const scontrolOptions = "a,all d,details D F,future h,help hide json l,local M,clusters= o,oneliner Q,quiet R,reservation sibling u,uid= v,verbose V,version yaml"

// scontrol shows and changes jobs and nodes.
func scontrol(c *fronts.Call) error {
	set, words, err := options(c, scontrolOptions, fronts.Anywhere)
	if err != nil {
		return err
	}
	if len(words) == 0 {
		return fronts.Failf(1, "scontrol: error: interactive mode is not supported: give a command")
	}
	verb, words := strings.ToLower(words[0]), words[1:]
	switch {
	case verb == "ping":
		fmt.Fprintf(c.Stdout, "Slurmctld(primary) at %s is UP\n", c.Exec)
		return nil
	case verb == "show" && len(words) > 0:
		return show(c, set, strings.ToLower(words[0]), words[1:])
	case verb == "update":
		return update(c, words)
	case verb == "wait_job" && len(words) == 1:
		return waitJob(c, words[0])
	case verb == "write" && len(words) > 1 && strings.HasPrefix("batch_script", strings.ToLower(words[0])):
		return writeScript(c, words[1:])
	case verb == "top":
		return fronts.Failf(1, "scontrol: error: top: the order of jobs is their priority here: scontrol update JobId=%s Priority=N", strings.Join(words, " "))
	case verb == "version":
		fmt.Fprintln(c.Stdout, version)
		return nil
	}
	deeds := map[string]fronts.Deed{"hold": fronts.Hold, "uhold": fronts.Hold, "release": fronts.Unhold, "requeue": fronts.Requeue, "requeuehold": fronts.RequeueHeld}
	stops := map[string]int{"suspend": directives.SignalNumber("STOP"), "resume": directives.SignalNumber("CONT")}
	deed, ok := deeds[verb]
	switch {
	case !ok && stops[verb] == 0:
		return fronts.Failf(1, "invalid keyword: %s", verb)
	case len(words) == 0:
		return fronts.Failf(1, "too few arguments for keyword:%s", verb)
	}
	if sig := stops[verb]; sig != 0 {
		return changed(c, "slurm_suspend error", func(j *fronts.Job) string { return unfitFor(j, verb == "resume") },
			func(ch fronts.Change, j *fronts.Job) error { return ch.Signal(j.ID, sig) }, words)
	}
	return changed(c, deedFailed[deed], func(j *fronts.Job) string { return unfit(c, deed, j) }, func(ch fronts.Change, j *fronts.Job) error {
		if deed == fronts.Hold && j.State == fronts.Held || deed == fronts.Unhold && j.State != fronts.Held {
			return nil
		}
		return ch.Do(deed, j.ID)
	}, words)
}

// one finds a word's only job.
func one(v fronts.View, word string) (*fronts.Job, error) {
	jobs, err := find(v, strings.TrimPrefix(strings.ToLower(word), "jobid="), true)
	if errors.Is(err, errNoJob) || err == nil && len(jobs) == 0 {
		return nil, fronts.Failf(1, "slurm_load_jobs error: Invalid job id specified")
	}
	if err != nil {
		return nil, err
	}
	return jobs[0], nil
}

// waitJob waits until a job starts. It fails if the job ends first.
func waitJob(c *fronts.Call, word string) error {
	var j *fronts.Job
	look := func(v fronts.View) (err error) {
		j, err = one(v, word)
		return err
	}
	if err := c.View(look); err != nil {
		return err
	}
	if err := c.WaitStart(j.ID); err != nil {
		return err
	}
	if err := c.View(look); err != nil {
		return err
	}
	if j.State.Over() {
		return fronts.Failf(1, "Job %d is no longer running", j.ID)
	}
	return nil
}

// writeScript writes the script of a job into a file, by default slurm-JOB.sh; - is standard output.
func writeScript(c *fronts.Call, words []string) error {
	var j *fronts.Job
	var script string
	err := c.View(func(v fronts.View) (err error) {
		if j, err = one(v, words[0]); err == nil {
			script, err = v.Script(j.ID)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case !c.May(j):
		return fronts.Failf(1, "job script retrieval failed: Access/permission denied")
	case script == "":
		return fronts.Failf(1, "job script retrieval failed: Invalid job id specified")
	}
	name := fmt.Sprintf("slurm-%d.sh", j.ID)
	if len(words) > 1 {
		name = words[1]
	}
	if name == "-" {
		_, err = fmt.Fprint(c.Stdout, script)
		return err
	}
	f, err := c.Create(name, false)
	if err == nil {
		_, err = io.WriteString(f, script)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fronts.Failf(1, "scontrol: error: %v", err)
	}
	fmt.Fprintf(c.Stdout, "batch script for job %d written to %s\n", j.ID, name)
	return nil
}

// licenses lists the licenses of the cluster, or one of them.
func licenses(about *fronts.About, name string) (text string) {
	for _, l := range about.Licenses {
		if name == "" || l.Name == name {
			text += fmt.Sprintf("LicenseName=%s\n    Total=%d Used=%d Free=%d Reserved=0 Remote=no\n", l.Name, l.Total, l.Used, l.Free)
		}
	}
	if text == "" {
		return "No licenses configured in Slurm.\n"
	}
	return text
}

// unfitFor says why a job cannot be suspended or resumed; "" if it can.
func unfitFor(j *fronts.Job, resumes bool) string {
	switch {
	case j.State.Over():
		return "Job/step already completing or completed"
	case j.State < fronts.Running:
		return "Job is pending execution"
	case j.Paused == resumes:
		return ""
	case resumes:
		return "Job is not suspended"
	}
	return "Job is already suspended"
}

// deedFailed is scontrol's text before the colon if a deed fails.
var deedFailed = map[fronts.Deed]string{fronts.Hold: "slurm_suspend error", fronts.Unhold: "slurm_suspend error", fronts.Requeue: "slurm_requeue error", fronts.RequeueHeld: "slurm_requeue error"}

// changed changes jobs, unless unfit objects. A wrong word does not stop the others.
func changed(c *fronts.Call, failed string, unfit func(*fronts.Job) string, do func(fronts.Change, *fronts.Job) error, words []string) error {
	var complaints []string
	err := c.Update(func(ch fronts.Change) error {
		complaints = nil
		for _, word := range strings.Split(strings.Join(words, ","), ",") {
			word = strings.TrimPrefix(strings.ToLower(word), "jobid=")
			jobs, err := find(ch, word, false)
			if errors.Is(err, errNoJob) {
				complaints = append(complaints, fmt.Sprintf("Invalid job id specified for job %s\n%s: Invalid job id specified\n", word, failed))
				continue
			}
			if err != nil {
				return err
			}
			for _, j := range jobs {
				why := unfit(j)
				if !c.May(j) {
					why = "Access/permission denied"
				}
				if why != "" {
					complaints = append(complaints, fmt.Sprintf("%s for job %s\n%s: %s\n", why, word, failed, why))
					continue
				}
				if err := do(ch, j); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil && len(complaints) > 0 {
		return &fronts.Status{Code: 1, Text: strings.Join(complaints, "")}
	}
	return err
}

// unfit says why a deed is impossible for a job; "" if it is possible.
func unfit(c *fronts.Call, deed fronts.Deed, j *fronts.Job) string {
	switch {
	case !c.May(j):
		return "Access/permission denied"
	case j.State.Over():
		return "Job/step already completing or completed"
	case deed == fronts.Hold && j.State >= fronts.Running:
		return "Job is no longer pending execution"
	case (deed == fronts.Requeue || deed == fronts.RequeueHeld) && j.State < fronts.Running:
		return "Job is pending execution"
	}
	return ""
}

func show(c *fronts.Call, set fronts.Set, what string, words []string) error {
	name := ""
	if key, value, ok := strings.Cut(what, "="); ok {
		what, name = key, value
	} else if len(words) > 0 {
		name = words[0]
	}
	switch {
	case what == "hostnames" || what == "hostname":
		names, err := index.ExpandNodeList(name)
		if err != nil {
			return fronts.Failf(1, "Invalid hostlist: %s", name)
		}
		fmt.Fprintln(c.Stdout, strings.Join(names, "\n"))
		return nil
	case what == "hostlist" || what == "hostlistsorted":
		names := strings.FieldsFunc(name, func(r rune) bool { return r == ',' })
		if what == "hostlistsorted" {
			slices.Sort(names)
		}
		fmt.Fprintln(c.Stdout, fold(names))
		return nil
	}
	if set.Has("json") {
		return showJSON(c, what, name)
	}
	var text string
	err := c.View(func(v fronts.View) (err error) {
		about, err := v.About()
		if err != nil {
			return err
		}
		switch {
		case isJobs(what):
			text, err = showJobs(c, v, about, set, name)
		case strings.HasPrefix("nodes", what):
			text, err = showNodes(c, v, about, set, name)
		case strings.HasPrefix("partitions", what):
			text, err = showPartitions(v, about, set, name)
		case strings.HasPrefix("config", what):
			text = showConfig(c, about)
		case strings.HasPrefix("licenses", what):
			text = licenses(about, name)
		case strings.HasPrefix("reservations", what):
			text = "No reservations in the system\n"
			if len(about.Reserved) > 0 {
				text = ""
			}
			for _, r := range about.Reserved {
				if name == "" || r == name {
					text += "ReservationName=" + r + "\n\n"
				}
			}
		default:
			err = fronts.Failf(1, "invalid entity:%s for keyword:show", what)
		}
		return err
	})
	if err == nil {
		_, err = fmt.Fprint(c.Stdout, text)
	}
	return err
}

func showJobs(c *fronts.Call, v fronts.View, about *fronts.About, set fronts.Set, name string) (string, error) {
	jobs, err := shownJobs(v, about, name)
	if err == nil && len(jobs) == 0 {
		return "No jobs in the system\n", nil
	}
	var b strings.Builder
	for _, j := range jobs {
		text := jobText(&queued{Job: j, about: about, zone: c.Zone, people: c.People}, set.Has("details"))
		if set.Has("oneliner") {
			text = strings.Join(strings.Fields(text), " ") + "\n"
		}
		b.WriteString(text)
	}
	return b.String(), err
}

// shownJobs are the jobs of a name. Without a name they are those that have not ended, or ended
// recently.
func shownJobs(v fronts.View, about *fronts.About, name string) (jobs []*fronts.Job, err error) {
	if name != "" {
		if jobs, err = find(v, name, true); errors.Is(err, errNoJob) {
			err = fronts.Failf(1, "slurm_load_jobs error: Invalid job id specified")
		}
		return jobs, err
	}
	err = v.Jobs(fronts.Selection{Ended: true, Since: about.Now.Add(-about.Keep), Details: true, Why: true}, func(j *fronts.Job) error {
		if !j.State.Over() || about.Now.Sub(j.End) < about.Keep {
			jobs = append(jobs, j)
		}
		return nil
	})
	return jobs, err
}

// showJSON is show with --json, which later versions of Slurm have for jobs and nodes.
func showJSON(c *fronts.Call, what, name string) error {
	isJob, isNode := isJobs(what), strings.HasPrefix("nodes", what)
	if !isJob && !isNode {
		return fronts.Failf(1, "scontrol: error: --json is for jobs and nodes here: placectl query -o json")
	}
	var rows []*queued
	var nodes []map[string]any
	err := c.View(func(v fronts.View) error {
		about, err := v.About()
		if err != nil {
			return err
		}
		rows, nodes = nil, []map[string]any{}
		if isJob {
			jobs, err := shownJobs(v, about, name)
			for _, j := range jobs {
				rows = append(rows, &queued{Job: j, about: about, zone: c.Zone, people: c.People})
			}
			return err
		}
		list, err := shownNodes(c, v, name)
		for _, n := range list {
			nodes = append(nodes, nodeJSON(n, cmp.Or(n.Queue, about.Partition)))
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case isJob:
		return squeueJSON(c, rows)
	}
	return nodesJSON(c, nodes)
}

// isJobs reports whether a word of show means jobs.
func isJobs(what string) bool {
	return strings.HasPrefix("jobs", what) && what != "" || what == "jobid" || what == "jobids"
}

// update changes a job or a node by words KEY=VALUE.
func update(c *fronts.Call, words []string) error {
	keys := make(map[string]string)
	for i := 0; i < len(words); i++ {
		key, value, ok := strings.Cut(words[i], "=")
		key = strings.ToLower(key)
		if !ok { // job 12
			if (key != "job" && key != "jobid" && key != "node" && key != "nodename") || i+1 == len(words) {
				return fronts.Failf(1, "Update of this parameter is not supported: %s", words[i])
			}
			i++
			value = words[i]
		}
		switch key {
		case "jobid":
			key = "job"
		case "nodename":
			key = "node"
		case "name":
			key = "jobname"
		}
		keys[key] = value
	}
	switch {
	case keys["node"] != "":
		return updateNodes(c, keys)
	case keys["job"] != "":
		return updateJob(c, keys)
	}
	return fronts.Failf(1, "No valid entity in update command\nInput line must include \"NodeName\", \"JobId\"")
}

// updates maps keys of a job to the equivalent options of sbatch.
var updates = sync.OnceValue(func() map[string]string {
	return map[string]string{"timelimit": "time", "priority": "priority", "jobname": "job-name", "partition": "partition", "starttime": "begin", "nice": "nice", "account": "account",
		"dependency": "dependency", "deadline": "deadline", "comment": "comment", "qos": "qos"}
})

func updateJob(c *fronts.Call, keys map[string]string) error {
	word := keys["job"]
	var given []fronts.Given
	for key, value := range keys {
		if key == "job" {
			continue
		}
		option, ok := updates()[key]
		if !ok {
			return fronts.Failf(1, "Update of this parameter is not supported: %s=%s", key, value)
		}
		given = append(given, fronts.Given{Name: option, Value: value})
	}
	var complaint string
	err := c.Update(func(ch fronts.Change) error {
		complaint = ""
		jobs, err := find(ch, word, false)
		if errors.Is(err, errNoJob) {
			complaint = fmt.Sprintf("Invalid job id specified for job %s\nslurm_update error: Invalid job id specified\n", word)
			return nil
		}
		if err != nil {
			return err
		}
		for _, j := range jobs {
			switch why := unfit(c, fronts.Cancel, j); {
			case why != "" && len(jobs) == 1:
				complaint = fmt.Sprintf("%s for job %s\nslurm_update error: %s\n", why, word, why)
			case why == "":
				given, err := relative(given, j)
				if err == nil {
					err = ch.Alter(j.ID, directives.Slurm, given)
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
	var o *directives.OptionError
	switch {
	case errors.As(err, &o):
		return fronts.Failf(1, "slurm_update error: %s: %v", o.Option, o.Err)
	case err == nil && complaint != "":
		return &fronts.Status{Code: 1, Text: complaint}
	}
	return err
}

// relative applies +10 and -10 to the job's time limit.
func relative(given []fronts.Given, j *fronts.Job) ([]fronts.Given, error) {
	given = slices.Clone(given)
	for i, g := range given {
		if g.Name != "time" || !strings.HasPrefix(g.Value, "+") && !strings.HasPrefix(g.Value, "-") {
			continue
		}
		by, err := directives.SlurmLimit(g.Value[1:])
		if err == nil {
			if g.Value[0] == '-' {
				by = -by
			}
			if by += int64(j.Walltime.Seconds()); by <= 0 {
				err = fmt.Errorf("%s of %s leaves no time", g.Value, clock(j.Walltime))
			}
		}
		if err != nil {
			return nil, &directives.OptionError{Option: "TimeLimit", Err: err}
		}
		given[i].Value = directives.SlurmClock(by)
	}
	return given, nil
}

func updateNodes(c *fronts.Call, keys map[string]string) error {
	names, err := expand(keys["node"])
	if err != nil {
		return fronts.Failf(1, "slurm_update error: Invalid node name specified")
	}
	states := map[string]string{"DRAIN": "drained", "RESUME": "up", "UNDRAIN": "up", "IDLE": "up", "DOWN": "down"}
	state := states[strings.ToUpper(keys["state"])]
	for key := range keys {
		if key != "node" && key != "state" && key != "reason" {
			return fronts.Failf(1, "Update of this parameter is not supported: %s=%s", key, keys[key])
		}
	}
	switch {
	case keys["state"] != "" && state == "":
		return fronts.Failf(1, "Invalid input: State=%s\nRequest aborted\nValid states are: DOWN DRAIN RESUME UNDRAIN", keys["state"])
	case state == "":
		return fronts.Failf(1, "slurm_update error: it is the state that a reason belongs to: State=DRAIN Reason=...")
	case (state == "drained" || state == "down") && keys["reason"] == "":
		return fronts.Failf(1, "You must specify a reason when %sING a node.\nRequest denied", strings.ToUpper(keys["state"]))
	case !c.Master:
		return fronts.Failf(1, "slurm_update error: Invalid user id")
	}
	missing := false
	err = c.Update(func(ch fronts.Change) error {
		missing = false
		for _, name := range names {
			err := ch.SetNode(name, state, keys["reason"])
			if missing = err != nil && ch.Missing(err, "node"); missing {
				return err
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if missing {
		return fronts.Failf(1, "slurm_update error: Invalid node name specified")
	}
	return err
}
