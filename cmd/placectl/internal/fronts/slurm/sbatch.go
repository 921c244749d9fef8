package slurm

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/internal/text"
)

// sbatchOnly are options that only sbatch's command line has.
var sbatchOnly = sync.OnceValue(func() fronts.Options { return fronts.Declare("h,help V,version") })

// batch is what only a command line of sbatch can say, not a script.
type batch struct {
	fronts.Submission
	parsable, quiet, wait bool
	wrap                  *string
}

// sbatch submits a script.
func sbatch(c *fronts.Call) error {
	b, err := batchOf(c)
	if err != nil {
		return err
	}
	var jobs []*fronts.Job
	err = c.Update(func(ch fronts.Change) error {
		jobs, err = ch.Submit(b.Submission)
		return refused("sbatch", ch, err)
	})
	if err != nil {
		return err
	}
	switch first := jobs[0]; {
	case b.Plan:
		return plan(c, first)
	case b.quiet && !b.parsable:
	case b.parsable:
		fmt.Fprintln(c.Stdout, first.Whole())
	default:
		fmt.Fprintf(c.Stdout, "Submitted batch job %d\n", first.Whole())
	}
	if b.wait {
		return awaited(c, jobs[0])
	}
	return nil
}

func batchOf(c *fronts.Call) (b *batch, err error) {
	list := append(fronts.Options(directives.Slurm.Declared()), sbatchOnly()...)
	given, rest, err := list.Read(c.Args, fronts.InFront)
	if err != nil {
		return nil, usage(c, 255, err)
	}
	b = &batch{Submission: fronts.Submission{Family: directives.Slurm,
		Line: text.ShellLine(append([]string{c.Name}, c.Args...))}}
	for _, g := range given {
		switch g.Name {
		case "parsable":
			b.parsable = true
		case "quiet":
			b.quiet = true
		case "wait":
			b.wait = true
		case "test-only":
			b.Plan = true
		case "wrap":
			b.wrap = &g.Value
		case "verbose":
		case "help", "usage":
			return nil, fronts.Failf(0, "Usage: sbatch [OPTIONS...] executable [args...]")
		default:
			b.Given = append(b.Given, g)
		}
	}
	return b, b.script(c, rest)
}

// maxScript is one byte more than a script may have.
const maxScript = 1<<20 + 1

// script reads the script or command to run.
func (b *batch) script(c *fronts.Call, rest []string) error {
	switch {
	case b.wrap != nil && len(rest) > 0:
		return fronts.Failf(1, "sbatch: error: Script arguments not permitted with --wrap option")
	case b.wrap != nil:
		b.Name, b.Source = "wrap", "--wrap"
		b.Script = "#!/bin/sh\n# This script was created by sbatch --wrap.\n\n" + *b.wrap + "\n"
		return nil
	}
	in, name := io.NopCloser(c.Stdin), "-"
	if len(rest) > 0 {
		name, b.Args = rest[0], rest[1:]
	}
	b.Name, b.Source = "sbatch", "standard input"
	if name != "-" && name != "/dev/stdin" {
		var err error
		if in, err = c.Open(name); err != nil {
			return fronts.Failf(1, "sbatch: error: Unable to open file %s", name)
		}
		b.Name, b.Source, b.Path = filepath.Base(name), name, name
		if !filepath.IsAbs(name) {
			b.Path = filepath.Join(c.Dir, name)
		}
	}
	text, err := io.ReadAll(io.LimitReader(in, maxScript))
	in.Close()
	if err != nil {
		return fronts.Failf(1, "sbatch: error: Unable to read %s: %v", b.Source, err)
	}
	switch b.Script = string(text); {
	case b.Script == "":
		return fronts.Failf(1, "sbatch: error: Batch script is empty!")
	case strings.TrimSpace(b.Script) == "":
		return fronts.Failf(1, "sbatch: error: Batch script contains only whitespace!")
	case !strings.HasPrefix(b.Script, "#!"):
		return fronts.Failf(1, "sbatch: error: This does not look like a batch script.  The first\n"+
			"sbatch: error: line must start with #! followed by the path to an interpreter.\nsbatch: error: For "+
			"instance: #!/bin/sh")
	case strings.IndexByte(b.Script, 0) >= 0:
		return fronts.Failf(1, "sbatch: error: The SLURM script contains the NULL character (\\0).")
	case strings.Contains(b.Script, "\r\n"):
		return fronts.Failf(1, "sbatch: error: Batch script contains DOS line breaks (\\r\\n)\nsbatch: error: "+
			"instead of expected UNIX line breaks (\\n).")
	case len(text) == maxScript:
		return fronts.Failf(1, "sbatch: error: Batch job submission failed: Pathname of a file, directory or other "+
			"parameter too long")
	}
	return nil
}

// invalid has the fixed error messages of some options.
var invalid = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"--time": "Invalid --time specification", "-t": "Invalid --time specification",
		"--mem": "Invalid --mem specification", "--mem-per-cpu": "Invalid --mem-per-cpu specification",
		"--tmp":   "Invalid --tmp specification",
		"--begin": "Invalid --begin specification", "--deadline": "Invalid --deadline specification",
		"--array": "Invalid --array specification",
	}
})

// counting are the options for which sbatch ends with 1 if their number is invalid.
var counting = []string{"n", "ntasks", "c", "cpus-per-task", "ntasks-per-node", "mincpus"}

// refused words the error of sbatch, salloc or srun for a refused submission.
func refused(name string, v fronts.View, err error) error {
	if err == nil {
		return nil
	}
	what, syntax := "Job allocation request failed", 1
	switch name {
	case "sbatch":
		what, syntax = "Batch job submission failed", 255
	case "srun":
		what = "Unable to allocate resources"
	}
	failed := func(why string) error { return fronts.Failf(1, "%s: error: %s: %s", name, what, why) }
	var o *directives.OptionError
	if errors.As(err, &o) {
		switch text, ok := invalid()[o.Option]; {
		case ok && (o.Option != "--array"):
			return fronts.Failf(syntax, "%s: error: %s\n%[1]s: error: %[3]s: %[4]v", name, text, o.Option, o.Err)
		case o.Option == "--array" || o.Option == "-a":
			return failed("Invalid job array specification")
		case o.Option == "--dependency" || o.Option == "-d":
			return failed(fmt.Sprintf("Job dependency problem\n%s: error: %s: %v", name, o.Option, o.Err))
		}
		if slices.Contains(counting, strings.TrimLeft(o.Option, "-")) {
			syntax = 1
		}
		return fronts.Failf(syntax, "%s: error: %s: %v", name, o.Option, o.Err)
	}
	switch {
	case errors.Is(err, fronts.ErrNever):
		return failed("Requested node configuration is not available\n" + name + ": error: " + err.Error())
	case errors.Is(err, fronts.ErrLimit):
		return failed("Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)\n" + name +
			": error: " + err.Error())
	}
	for kind, why := range map[string]string{"queue": "Invalid partition name specified",
		"job": "Job dependency problem", "reservation": "Requested reservation is invalid",
		"node": "Invalid node name specified"} {
		if v.Missing(err, kind) {
			return failed(why)
		}
	}
	return err
}

// plan reports when a job would start.
func plan(c *fronts.Call, j *fronts.Job) error {
	at := j.Start
	if at.IsZero() {
		return fronts.Failf(1, "allocation failure: Requested node configuration is not available")
	}
	return fronts.Failf(0, "sbatch: Job %d to start at %s using %d processors on nodes %s in partition %s", j.ID,
		calendarOf(c, at).stamp(at, ""), j.CPUs, fold(j.Nodes), j.Queue)
}

// awaited waits for a job, or a whole array, and ends with its worst exit status.
func awaited(c *fronts.Call, j *fronts.Job) error {
	if err := c.Wait(j.Whole()); err != nil {
		return err
	}
	status := 0
	err := c.View(func(v fronts.View) error {
		status = 0
		return v.Jobs(fronts.Selection{IDs: []uint64{j.Whole()}, Ended: true}, func(j *fronts.Job) error {
			switch j.State {
			case fronts.Finished:
			case fronts.Failed:
				status = max(status, j.Exit, 1)
			default:
				status = max(status, 1)
			}
			return nil
		})
	})
	if err == nil && status != 0 {
		err = &fronts.Status{Code: status}
	}
	return err
}
