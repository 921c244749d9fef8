package slurm

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/internal/text"
)

// sallocOnly are options of salloc that scripts do not have. We decide about signals and shells ourselves.
const sallocOnly = "h,help usage Q,quiet v,verbose K,kill-command? no-shell I,immediate? bell no-bell " +
	"wait-all-nodes= u,unused"

// salloc holds a job's nodes while a command runs here: by default a shell.
func salloc(c *fronts.Call) error {
	list := fronts.Declare(sallocOnly)
	for _, d := range directives.DeclaredFor("salloc") {
		if !slices.ContainsFunc(list, func(o directives.Declared) bool { return o.Long == d.Long }) {
			list = append(list, d)
		}
	}
	given, words, err := list.Read(c.Args, fronts.InFront)
	if err != nil {
		return usage(c, 255, err)
	}
	set := fronts.SetOf(given)
	switch {
	case set.Has("help", "usage"):
		return fronts.Failf(0, "Usage: salloc [OPTIONS(0)...] [ : [OPTIONS(N)]] [command(0) [args(0)...]]")
	case set.Has("no-shell"):
		return fronts.Failf(1, "salloc: error: --no-shell: an allocation is for a command here: placectl reserve "+
			"keeps nodes without one")
	case len(words) == 0:
		words = []string{"/bin/sh"}
		if shell := c.Getenv("SHELL"); shell != "" {
			words[0] = shell
		}
	}
	own := fronts.Declare(sallocOnly)
	given = slices.DeleteFunc(given, func(g fronts.Given) bool {
		return slices.ContainsFunc(own, func(o directives.Declared) bool {
			return o.Long == g.Name || string(o.Short) == g.Name
		})
	})
	say := func(format string, id uint64) {
		if !set.Has("quiet") {
			fmt.Fprintf(c.Stderr, format, id)
		}
	}
	about, err := c.Whole()
	if err != nil {
		return err
	}
	var granted uint64
	waited := false
	status, err := c.Allocate(submission(c, "interactive", given, words), func(j *fronts.Job) {
		if j.State < fronts.Running {
			waited = true
			say("salloc: Pending job allocation %d\n", j.ID)
			say("salloc: job %d queued and waiting for resources\n", j.ID)
			return
		}
		if granted = j.ID; waited {
			say("salloc: job %d has been allocated resources\n", granted)
		}
		say("salloc: Granted job allocation %d\n", granted)
	}, func(j *fronts.Job) []string { return allocationEnv(c, about, j) })
	if granted != 0 {
		say("salloc: Relinquishing job allocation %d\n", granted)
	}
	return interactive(c, status, err)
}

// ownJob runs a step in a job of its own, which ends with it.
func ownJob(c *fronts.Call, given []fronts.Given) error {
	own := srunOnly()
	asks := slices.DeleteFunc(slices.Clone(given), func(g fronts.Given) bool {
		switch g.Name {
		case "output", "error", "input", "open-mode", "export":
			return true
		}
		return slices.ContainsFunc(own, func(o directives.Declared) bool {
			return o.Long == g.Name || string(o.Short) == g.Name
		})
	})
	quiet, waited := fronts.SetOf(given).Has("quiet"), false
	about, err := c.Whole()
	if err != nil {
		return err
	}
	status, err := c.Allocate(submission(c, "srun", asks, slices.Concat([]string{fronts.Ourselves, "slurm", "srun"},
		c.Args)), func(j *fronts.Job) {
		what := "queued and waiting for resources"
		if j.State >= fronts.Running {
			what = "has been allocated resources"
		}
		if waited = waited || j.State < fronts.Running; waited && !quiet {
			fmt.Fprintf(c.Stderr, "srun: job %d %s\n", j.ID, what)
		}
	},
		func(j *fronts.Job) []string { return allocationEnv(c, about, j) })
	return interactive(c, status, err)
}

func submission(c *fronts.Call, name string, given []fronts.Given, words []string) fronts.Submission {
	return fronts.Submission{Attended: true, Family: directives.Slurm, Given: given, Name: name,
		Source: "the command line", Args: words, Line: text.ShellLine(append([]string{c.Name}, c.Args...))}
}

// interactive ends a command whose job ran another command.
func interactive(c *fronts.Call, status int, err error) error {
	switch {
	case err != nil:
		if v, ok := err.(*fronts.Refusal); ok {
			return refused(c.Name, v.View, v.Err)
		}
		return err
	case status != 0:
		return &fronts.Status{Code: status}
	}
	return nil
}

// allocationEnv returns the environment of an allocation's command, which is that of the job's script.
func allocationEnv(c *fronts.Call, about *fronts.About, j *fronts.Job) []string {
	id := strconv.FormatUint(j.ID, 10)
	nodes := slices.Compact(slices.Clone(j.Nodes))
	total := max(j.Tasks, len(nodes), 1)
	tasks, cpus := make([]int, len(nodes)), make([]int, len(nodes))
	for i := range nodes {
		tasks[i], cpus[i] = total/len(nodes), j.Cores/len(nodes)
		if i < total%len(nodes) {
			tasks[i]++
		}
		if i < j.Cores%len(nodes) {
			cpus[i]++
		}
	}
	env := []string{"SLURM_JOB_ID=" + id, "SLURM_JOBID=" + id, "SLURM_JOB_NAME=" + j.Name, "SLURM_JOB_USER=" + j.User,
		"SLURM_JOB_NODELIST=" + fold(nodes), "SLURM_NODELIST=" + fold(nodes),
		"SLURM_JOB_NUM_NODES=" + strconv.Itoa(len(nodes)), "SLURM_NNODES=" + strconv.Itoa(len(nodes)),
		"SLURM_NTASKS=" + strconv.Itoa(total), "SLURM_NPROCS=" + strconv.Itoa(total),
		"SLURM_TASKS_PER_NODE=" + text.Repeats(tasks), "SLURM_JOB_CPUS_PER_NODE=" + text.Repeats(cpus),
		"SLURM_SUBMIT_DIR=" + c.Dir, "SLURM_SUBMIT_HOST=" + c.Exec, "SLURM_JOB_PARTITION=" + about.QueueOf(j.Queue)}
	if j.Account != "" {
		env = append(env, "SLURM_JOB_ACCOUNT="+j.Account)
	}
	for _, kv := range [][2]string{{"OMPI_MCA_plm", "rsh"}, {"PRTE_MCA_plm", "ssh"}, {"I_MPI_HYDRA_BOOTSTRAP", "ssh"},
		{"HYDRA_BOOTSTRAP", "ssh"}} {
		if c.Getenv(kv[0]) == "" {
			env = append(env, kv[0]+"="+kv[1])
		}
	}
	return env
}
