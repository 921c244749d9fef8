package pbs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// submitted is what only a command line of qsub can say, not a script.
type submitted struct {
	fronts.Submission
	silent, block, interactive bool
	typed                      []string // with -I: the command after --; none for a shell
}

// qsub submits a script.
func qsub(c *fronts.Call) error {
	q, err := submission(c)
	if err != nil {
		return err
	}
	if q.interactive {
		return interactive(c, q)
	}
	var id string
	var first *fronts.Job
	err = c.Update(func(ch fronts.Change) error {
		about, err := ch.About()
		if err != nil {
			return err
		}
		jobs, err := ch.Submit(q.Submission)
		if err != nil {
			return refused(c, ch, err)
		}
		first = jobs[0]
		id = fmt.Sprintf("%d.%s", first.ID, about.Server)
		if first.Array != 0 {
			id = fmt.Sprintf("%d[].%s", first.Array, about.Server)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !q.silent {
		fmt.Fprintln(c.Stdout, id)
	}
	if q.block {
		return awaited(c, first.Whole())
	}
	return nil
}

func submission(c *fronts.Call) (q *submitted, err error) {
	list := fronts.Options(directives.PBS.Declared())
	words, command := behindDash(c.Args)
	given, rest, err := list.Read(words, fronts.InFront)
	if err != nil {
		return nil, fronts.Failf(2, "qsub: %v\nusage: placectl help pbs", err)
	}
	q = &submitted{Submission: fronts.Submission{Family: directives.PBS,
		Line: text.ShellLine(append([]string{c.Name}, c.Args...))}}
	array := false
	for _, g := range given {
		switch g.Name {
		case "z":
			q.silent = true
		case "I":
			q.interactive, q.Attended = true, true
		case "J":
			array = true
			q.Given = append(q.Given, g)
		case "X", "G":
			return nil, fronts.Failf(2, "qsub: -%s: there are no windows of jobs: set DISPLAY in the shell of qsub -I",
				g.Name)
		case "f":
			return nil, fronts.Failf(2, "qsub: -f: qsub never waits in front: leave it out")
		case "u":
			if g.Value != c.User {
				return nil, fronts.Failf(2, "qsub: -u: a job runs as who submits it: %s", c.User)
			}
		case "W":
			rest := g.Value
			if q.block, rest = withoutBlock(rest, q.block); rest != "" {
				q.Given = append(q.Given, fronts.Given{Name: "W", Value: rest})
			}
		case "v":
			if g.Value != "" { // Toil passes an empty name
				q.Given = append(q.Given, g)
			}
		default:
			q.Given = append(q.Given, g)
		}
	}
	if q.interactive && array {
		return nil, fronts.Failf(2, "qsub: -I and -J: an array is not interactive")
	}
	return q, q.script(c, rest, command)
}

// behindDash splits words at --.
func behindDash(words []string) (front, command []string) {
	for i, w := range words {
		if w == "--" {
			return words[:i], words[i+1:]
		}
	}
	return words, nil
}

// withoutBlock removes block=true from the attributes.
func withoutBlock(list string, block bool) (bool, string) {
	var left []string
	for part := range strings.SplitSeq(list, ",") {
		switch part {
		case "block=true":
			block = true
		case "block=false":
			block = false
		default:
			left = append(left, part)
		}
	}
	return block, strings.Join(left, ",")
}

// maxScript is one byte more than a script may have.
const maxScript = 1<<20 + 1

func (q *submitted) script(c *fronts.Call, rest, command []string) error {
	switch {
	case len(command) > 0 && len(rest) > 0:
		return fronts.Failf(2, "qsub: a script and a command behind --: give one of them")
	case q.interactive && len(rest) == 0: // standard input belongs to the shell
		q.Name, q.Source = "STDIN", "the command line"
		q.typed = command
		return nil
	case len(command) > 0:
		q.Name, q.Source = filepath.Base(command[0]), "--"
		q.Script = "#!/bin/sh\nexec " + text.ShellLine(command) + "\n"
		return nil
	}
	in, source := io.NopCloser(c.Stdin), "-"
	if len(rest) > 0 {
		source, q.Args = rest[0], rest[1:]
	}
	if q.Name = "STDIN"; source != "-" {
		q.Name = filepath.Base(source)
		var err error
		if in, err = c.Open(source); err != nil {
			return fronts.Failf(1, "qsub: script file: %s: No such file or directory", source)
		}
	}
	label, err := io.ReadAll(io.LimitReader(in, maxScript))
	in.Close()
	q.Source, q.Script = source, string(label)
	switch {
	case err != nil:
		return fronts.Failf(1, "qsub: error reading script file: %v", err)
	case len(label) == maxScript:
		return fronts.Failf(1, "qsub: the script has more than %d bytes", maxScript-1)
	case strings.TrimSpace(q.Script) == "":
		q.Script = "#!/bin/sh\n"
	}
	if err := text.CheckScript(q.Script); err != nil {
		return fronts.Failf(1, "qsub: %s %v", source, err)
	}
	return nil
}

// interactive runs a shell, or the command after --, while its job has its nodes. Only the directives of
// a script are read.
func interactive(c *fronts.Call, q *submitted) error {
	q.Args = q.typed
	if len(q.Args) == 0 {
		q.Args = []string{cmp.Or(c.Getenv("SHELL"), "/bin/sh")}
	}
	about, err := c.Whole()
	if err != nil {
		return err
	}
	var id string
	say := func(format string) { fmt.Fprintf(c.Stderr, format+"\n", id) }
	status, err := c.Allocate(q.Submission, func(j *fronts.Job) {
		id = fmt.Sprintf("%d.%s", j.ID, about.Server)
		if j.State < fronts.Running {
			say("qsub: waiting for job %s to start")
		} else {
			say("qsub: job %s ready\n")
		}
	}, func(j *fronts.Job) []string {
		queue := about.QueueOf(j.Queue)
		env := []string{"PBS_ENVIRONMENT=PBS_INTERACTIVE", "PBS_JOBID=" + id, "PBS_JOBNAME=" + j.Name,
			"PBS_QUEUE=" + queue, "PBS_O_QUEUE=" + queue,
			"PBS_O_WORKDIR=" + c.Dir, "PBS_O_HOST=" + c.Exec, "PBS_O_SYSTEM=Linux", "PBS_NODENUM=0", "PBS_TASKNUM=1"}
		if j.Account != "" {
			env = append(env, "PBS_ACCOUNT="+j.Account)
		}
		return env
	})
	var r *fronts.Refusal
	switch {
	case errors.As(err, &r):
		return refused(c, r.View, r.Err)
	case err != nil:
		return err
	}
	say("\nqsub: job %s completed")
	if status != 0 {
		return &fronts.Status{Code: status}
	}
	return nil
}

// refused words the error for options that were refused.
func refused(c *fronts.Call, v fronts.View, err error) error {
	var unknown *index.UnknownResource
	if errors.As(err, &unknown) {
		return fronts.Failf(noResource, "%s: Unknown resource: %s", c.Name, text.Printable(unknown.Name))
	}
	var o *directives.OptionError
	if errors.As(err, &o) {
		return fronts.Failf(2, "%s: illegal %s value: %v", c.Name, o.Option, o.Err)
	}
	if errors.Is(err, fronts.ErrNever) || errors.Is(err, fronts.ErrLimit) {
		return fronts.Failf(overLimit, "%s: Job violates queue and/or server resource limits\n%[1]s: %v", c.Name, err)
	}
	for kind, status := range map[string]*fronts.Status{"queue": {Code: noQueue, Text: "Unknown queue"},
		"job": {Code: noJob, Text: "Unknown Job Id"}, "reservation": {Code: noQueue, Text: "Unknown queue"}} {
		if v.Missing(err, kind) {
			return fronts.Failf(status.Code, "%s: %s", c.Name, status.Text)
		}
	}
	return err
}

// awaited waits for a job, or a whole array, and ends with its worst exit status.
func awaited(c *fronts.Call, id uint64) error {
	if err := c.Wait(id); err != nil {
		return err
	}
	status := 0
	err := c.View(func(v fronts.View) error {
		status = 0
		return v.Jobs(fronts.Selection{IDs: []uint64{id}, Ended: true}, func(j *fronts.Job) error {
			if n := exitStatus(j); n != 0 {
				status = max(status, n&0xff, 1)
			}
			return nil
		})
	})
	if err == nil && status != 0 {
		err = &fronts.Status{Code: status}
	}
	return err
}
