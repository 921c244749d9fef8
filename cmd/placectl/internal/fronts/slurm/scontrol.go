package slurm

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

const scontrolOptions = "a,all d,details D F,future h,help hide json l,local M,clusters= o,oneliner Q,quiet " +
	"R,reservation sibling u,uid= v,verbose V,version yaml"

// scontrol shows and changes jobs and nodes.
func scontrol(c *fronts.Call) error {
	set, words, err := options(c, scontrolOptions, fronts.Anywhere)
	if err != nil {
		return err
	}
	if len(words) == 0 {
		return fronts.Failf(1, "scontrol: error: interactive mode is not supported: give a command")
	}
	typed, verb, words := words[0], strings.ToLower(words[0]), words[1:]
	switch {
	case verb == "ping":
		fmt.Fprintf(c.Stdout, "Slurmctld(primary) at %s is UP\n", c.Exec)
		return nil
	case verb == "show" && len(words) > 0:
		return show(c, set, words[0], words[1:])
	case verb == "update":
		return update(c, words)
	case verb == "wait_job" && len(words) == 1:
		return waitJob(c, words[0])
	case verb == "write" && len(words) > 1 && strings.HasPrefix("batch_script", strings.ToLower(words[0])):
		return writeScript(c, words[1:])
	case verb == "top":
		return fronts.Failf(1, "scontrol: error: top: the order of jobs is their priority here: scontrol update "+
			"JobId=%s Priority=N", strings.Join(words, " "))
	case verb == "version":
		fmt.Fprintln(c.Stdout, version)
		return nil
	}
	deeds := map[string]fronts.Deed{"hold": fronts.Hold, "uhold": fronts.Hold, "release": fronts.Unhold,
		"requeue": fronts.Requeue, "requeuehold": fronts.RequeueHeld}
	stops := map[string]int{"suspend": directives.SignalNumber("STOP"), "resume": directives.SignalNumber("CONT")}
	deed, ok := deeds[verb]
	switch {
	case !ok && stops[verb] == 0:
		return fronts.Failf(1, "invalid keyword: %s", typed)
	case len(words) == 0:
		return fronts.Failf(1, "too few arguments for keyword:%s", typed)
	}
	if sig := stops[verb]; sig != 0 {
		return changed(c, "slurm_suspend error", func(j *fronts.Job) string { return unfitFor(j, verb == "resume") },
			func(ch fronts.Change, j *fronts.Job) error { return ch.Signal(j.ID, sig) }, words)
	}
	return changed(c, deedFailed[deed], func(j *fronts.Job) string { return unfit(c, deed, j) },
		func(ch fronts.Change, j *fronts.Job) error {
			if deed == fronts.Hold && j.State == fronts.Held || deed == fronts.Unhold && j.State != fronts.Held {
				return nil
			}
			return ch.Do(deed, j.ID)
		}, words)
}

// one finds a word's only job.
func one(v fronts.View, word string) (*fronts.Job, error) {
	jobs, err := find(v, jobWord(word), true)
	if errors.Is(err, errNoJob) || err == nil && len(jobs) == 0 {
		return nil, fronts.Failf(1, "slurm_load_jobs error: Invalid job id specified")
	}
	if err != nil {
		return nil, err
	}
	return jobs[0], nil
}

// jobWord returns the name of a job without JobId= before it.
func jobWord(word string) string {
	const key = "jobid="
	if len(word) > len(key) && strings.EqualFold(word[:len(key)], key) {
		return word[len(key):]
	}
	return word
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
var deedFailed = map[fronts.Deed]string{fronts.Hold: "slurm_suspend error", fronts.Unhold: "slurm_suspend error",
	fronts.Requeue: "slurm_requeue error", fronts.RequeueHeld: "slurm_requeue error"}

// changed changes jobs, unless unfit objects. A wrong word does not stop the others.
func changed(c *fronts.Call, failed string, unfit func(*fronts.Job) string, do func(fronts.Change, *fronts.Job) error,
	words []string) error {
	var complaints []string
	err := c.Update(func(ch fronts.Change) error {
		complaints = nil
		for _, word := range strings.Split(strings.Join(words, ","), ",") {
			word = jobWord(word)
			jobs, err := find(ch, word, false)
			if errors.Is(err, errNoJob) {
				complaints = append(complaints,
					fmt.Sprintf("Invalid job id specified for job %s\n%s: Invalid job id specified\n", word, failed))
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
					if j.State.Over() && failed == deedFailed[fronts.Requeue] {
						complaints = append(complaints,
							fmt.Sprintf("scontrol: error: to run it again as a new job: placectl retry %d\n", j.ID))
					}
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
