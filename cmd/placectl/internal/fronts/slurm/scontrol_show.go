package slurm

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// licenses lists the licenses of the cluster, or one of them.
func licenses(about *fronts.About, name string) (text string) {
	for _, l := range about.Licenses {
		if name == "" || l.Name == name {
			text += fmt.Sprintf("LicenseName=%s\n    Total=%d Used=%d Free=%d Reserved=0 Remote=no\n", l.Name, l.Total,
				l.Used, l.Free)
		}
	}
	if text == "" {
		return "No licenses configured in Slurm.\n"
	}
	return text
}

func show(c *fronts.Call, set fronts.Set, typed string, words []string) error {
	typed, name, ok := strings.Cut(typed, "=")
	if !ok && len(words) > 0 {
		name = words[0]
	}
	what := strings.ToLower(typed)
	switch {
	case what == "hostnames" || what == "hostname":
		if name == "" { // in a job, its nodes
			name = cmp.Or(c.Getenv("SLURM_JOB_NODELIST"), c.Getenv("SLURM_NODELIST"), c.Getenv("PLACECTL_NODELIST"))
		}
		names, err := index.ExpandNodeList(name)
		switch {
		case name == "":
			return fronts.Failf(1, "scontrol: error: host list is empty")
		case err != nil:
			return fronts.Failf(1, "Invalid hostlist: %s", name)
		}
		fmt.Fprintln(c.Stdout, strings.Join(names, "\n"))
		return nil
	case what == "hostlist" || what == "hostlistsorted":
		names, err := listed(c, name)
		if err != nil {
			return err
		}
		if what == "hostlistsorted" {
			slices.Sort(names)
		}
		fmt.Fprintln(c.Stdout, fold(names))
		return nil
	}
	if set.Has("json") {
		return showJSON(c, what, name)
	}
	var shown string
	err := c.View(func(v fronts.View) (err error) {
		about, err := v.About()
		if err != nil {
			return err
		}
		switch {
		case isJobs(what):
			shown, err = showJobs(c, v, about, set, name)
		case strings.HasPrefix("nodes", what):
			shown, err = showNodes(c, v, about, set, name)
		case strings.HasPrefix("partitions", what):
			shown, err = showPartitions(v, about, set, name)
		case strings.HasPrefix("config", what):
			shown = showConfig(c, about)
		case strings.HasPrefix("licenses", what):
			shown = licenses(about, name)
		case strings.HasPrefix("reservations", what):
			shown, err = showReservations(c, v, about, set, name)
		default:
			err = fronts.Failf(1, "invalid entity:%s for keyword:show", typed)
		}
		return err
	})
	if err == nil {
		_, err = fmt.Fprint(c.Stdout, shown)
	}
	return err
}

func showReservations(c *fronts.Call, v fronts.View, about *fronts.About, set fronts.Set, name string) (string, error) {
	var b strings.Builder
	cal := calendarOf(c, about.Now)
	for _, r := range about.Reserved {
		if name != "" && r.Name != name {
			continue
		}
		text := reservationText(r, cal)
		if set.Has("oneliner") {
			text = strings.Join(strings.Fields(text), " ") + "\n"
		}
		b.WriteString(text)
	}
	switch {
	case b.Len() > 0:
	case name != "":
		return "", fronts.Failf(1, "Reservation %s not found", fronts.Word(name))
	default:
		return "No reservations in the system\n", nil
	}
	return b.String(), nil
}

// listed returns the names of a list, or those in a file whose path is absolute.
func listed(c *fronts.Call, list string) ([]string, error) {
	if strings.HasPrefix(list, "/") {
		file, err := c.Open(list)
		if err != nil {
			return nil, fronts.Failf(1, "Invalid hostlist: %s", list)
		}
		defer file.Close()
		whole, err := io.ReadAll(io.LimitReader(file, maxScript))
		if err != nil {
			return nil, fronts.Failf(1, "scontrol: error: %s: %v", list, err)
		}
		list = string(whole)
	}
	names, err := expand(
		strings.Join(strings.FieldsFunc(list, func(r rune) bool { return r == '\n' || r == '\r' || r == ' ' }), ","))
	if err != nil {
		return nil, fronts.Failf(1, "Invalid hostlist: %s", text.Printable(list))
	}
	return names, nil
}

func showJobs(c *fronts.Call, v fronts.View, about *fronts.About, set fronts.Set, name string) (string, error) {
	jobs, err := shownJobs(v, about, name)
	if err == nil && len(jobs) == 0 {
		return "No jobs in the system\n", nil
	}
	var b strings.Builder
	cal := calendarOf(c, about.Now)
	for _, j := range jobs {
		text := jobText(&queued{Job: j, about: about, cal: cal, people: c.People}, set.Has("details"))
		if set.Has("oneliner") {
			text = strings.Join(strings.Fields(text), " ") + "\n"
		}
		b.WriteString(text)
	}
	return b.String(), err
}

// shownJobs returns the jobs of a name. Without a name they are those that have not ended, or ended
// recently.
func shownJobs(v fronts.View, about *fronts.About, name string) (jobs []*fronts.Job, err error) {
	if name != "" {
		if jobs, err = find(v, name, true); errors.Is(err, errNoJob) {
			err = fronts.Failf(1, "slurm_load_jobs error: Invalid job id specified")
		}
		return jobs, err
	}
	err = v.Jobs(fronts.Selection{Ended: true, Since: about.Now.Add(-about.Keep), Details: true, Why: true,
		Starts: true}, func(j *fronts.Job) error {
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
			cal := calendarOf(c, about.Now)
			for _, j := range jobs {
				rows = append(rows, &queued{Job: j, about: about, cal: cal, people: c.People})
			}
			return err
		}
		list, err := shownNodes(c, v, name)
		for _, n := range list {
			nodes = append(nodes, nodeJSON(n, about.QueueOf(n.Queue)))
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case isJob:
		return jobsJSON(c, rows)
	}
	return nodesJSON(c, nodes)
}

// isJobs reports whether a word of show means jobs.
func isJobs(what string) bool {
	return strings.HasPrefix("jobs", what) && what != "" || what == "jobid" || what == "jobids"
}
