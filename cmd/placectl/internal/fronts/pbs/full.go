package pbs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/internal/environ"
	"github.com/placectl/placectl/internal/text"
)

// attribute is a line of qstat -f. A number is also one in JSON.
type attribute struct {
	name, resource string
	value          string
}

// attributes lists a job's attributes in the order of qstat -f.
func (s *status) attributes(e *entry) (list []attribute) {
	add := func(name, value string) {
		if value != "" {
			list = append(list, attribute{name: name, value: value})
		}
	}
	of := func(name, resource, value string) {
		if value != "" {
			list = append(list, attribute{name, resource, value})
		}
	}
	at := func(name string, t time.Time) {
		if !t.IsZero() {
			add(name, stamp(t, s.c.Zone))
		}
	}
	d := e.Detail
	if d == nil {
		d = new(fronts.Detail)
	}
	host := cmp.Or(d.Host, s.c.Exec)
	add("Job_Name", fronts.Word(e.Name))
	add("Job_Owner", fronts.Word(e.User)+"@"+host)
	if e.State >= fronts.Running && e.all == nil && !e.Start.IsZero() {
		of("resources_used", "cput", clock(d.CPUUser+d.CPUSys))
		if d.MaxRSS > 0 {
			of("resources_used", "mem", strconv.FormatInt((d.MaxRSS+1023)/1024, 10)+"kb")
		}
		of("resources_used", "ncpus", strconv.Itoa(e.CPUs))
		of("resources_used", "walltime", clock(e.Elapsed(s.about.Now)))
	}
	add("job_state", s.letter(e))
	add("queue", s.about.QueueOf(e.Queue))
	add("server", s.about.Server)
	add("Account_Name", fronts.Word(e.Account))
	at("ctime", e.Submit)
	add("depend", depend(e.Job, s.about.Server))
	add("Error_Path", hostPath(host, cmp.Or(d.Err, d.Out)))
	if e.State >= fronts.Running {
		add("exec_host", execHost(e.Job))
		add("exec_vnode", d.ExecVNode)
	}
	hold := "n"
	if e.State == fronts.Held {
		hold = "u"
	} else if e.Wait == fronts.ForJob {
		hold = "s"
	}
	add("Hold_Types", hold)
	join := "n"
	if d.Joined {
		join = "oe"
	}
	add("Join_Path", join)
	add("Mail_Points", mailPoints(d.Mail))
	at("mtime", latest(e.Job))
	add("Output_Path", hostPath(host, d.Out))
	add("Priority", strconv.FormatInt(e.Priority, 10))
	at("qtime", e.Submit)
	add("Rerunable", yes(e.Requeue))
	if e.Mem > 0 {
		of("Resource_List", "mem", size(e.Mem))
	}
	of("Resource_List", "ncpus", strconv.Itoa(e.CPUs))
	if e.GPUs > 0 {
		of("Resource_List", "ngpus", strconv.Itoa(e.GPUs))
	}
	of("Resource_List", "nodect", strconv.Itoa(cmp.Or(e.NodeCount, 1)))
	of("Resource_List", "place", cmp.Or(e.Place, "free"))
	of("Resource_List", "select", e.Select)
	of("Resource_List", "walltime", clock(e.Walltime))
	if e.State >= fronts.Running {
		at("stime", e.Start)
	}
	if e.State.Over() && e.all == nil {
		at("obittime", e.End)
	}
	for _, kv := range s.variables(e, d) {
		if name, value, _ := strings.Cut(kv, "="); name != "" {
			of("Variable_List", name, cmp.Or(value, " "))
		}
	}
	if e.State < fronts.Running || e.State.Over() {
		add("comment", strings.TrimSpace(e.Reason))
	}
	if !e.Begin.IsZero() {
		at("Execution_Time", e.Begin)
	}
	at("etime", e.Submit)
	if e.Attempt > 0 {
		add("run_count", strconv.Itoa(e.Attempt))
	}
	if e.State.Over() && e.all == nil {
		add("Exit_status", strconv.Itoa(exitStatus(e.Job)))
	}
	add("Submit_arguments", arguments(d.Line))
	if e.all != nil {
		s.arrayAttributes(e, add)
	} else if e.Array != 0 {
		add("array_id", fmt.Sprintf("%d[].%s", e.Array, s.about.Server))
		add("array_index", strconv.Itoa(e.Index))
	}
	add("project", cmp.Or(e.Account, "_pbs_project_default"))
	return list
}

func (s *status) arrayAttributes(e *entry, add func(name, value string)) {
	var n [4]int // queued, running, exiting, expired
	var all, left []int
	for _, j := range e.all {
		all = append(all, j.Index)
		switch {
		case j.State.Over():
			n[3]++
		case j.State == fronts.Running && j.Ending:
			n[2]++
		case j.State == fronts.Running:
			n[1]++
		default:
			n[0]++
			left = append(left, j.Index)
		}
	}
	add("array", "True")
	add("array_state_count", fmt.Sprintf("Queued:%d Running:%d Exiting:%d Expired:%d", n[0], n[1], n[2], n[3]))
	add("array_indices_submitted", text.Ranges(all))
	add("array_indices_remaining", cmp.Or(text.Ranges(left), "-"))
}

func yes(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

func hostPath(host, path string) string {
	if path == "" {
		return ""
	}
	return host + ":" + path
}

// latest returns the time of a job's last change.
func latest(j *fronts.Job) time.Time {
	switch {
	case j.State.Over():
		return j.End
	case j.State == fronts.Running:
		return j.Start
	}
	return j.Submit
}

func depend(j *fronts.Job, server string) string {
	words := make([]string, len(j.After))
	for i, d := range j.After {
		all := ""
		if d.Array {
			all = "[]"
		}
		words[i] = fmt.Sprintf("%s:%d%s.%s@%s", d.Kind, d.Job, all, server, server)
	}
	return strings.Join(words, ",")
}

func mailPoints(mail string) string {
	points := ""
	for _, p := range [][2]string{{"fail", "a"}, {"begin", "b"}, {"end", "e"}} {
		if strings.Contains(mail, p[0]) {
			points += p[1]
		}
	}
	return cmp.Or(points, "n")
}

// arguments returns the words after the command's name.
func arguments(line string) string {
	_, rest, _ := strings.Cut(line, " ")
	return rest
}

// variables returns a job's variables for Variable_List: first those of the submission, as PBS_O_ variables,
// then those given by -v or -V.
func (s *status) variables(e *entry, d *fronts.Detail) (list []string) {
	if len(d.Env) == 0 {
		return nil
	}
	for _, name := range environ.PBSOrigin {
		for _, kv := range d.Env {
			if strings.HasPrefix(kv, name+"=") {
				list = append(list, "PBS_O_"+kv)
			}
		}
	}
	list = append(list, "PBS_O_WORKDIR="+cmp.Or(d.From, d.Dir), "PBS_O_SYSTEM=Linux",
		"PBS_O_QUEUE="+s.about.QueueOf(e.Queue), "PBS_O_HOST="+cmp.Or(d.Host, s.c.Exec))
	for _, kv := range d.Env {
		if name, _, _ := strings.Cut(kv, "="); !slices.Contains(environ.PBSOrigin, name) {
			list = append(list, kv)
		}
	}
	return list
}
