package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/placectl/placectl/cmd/placectl/internal/chart"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
)

// How much of each list the page shows; the JSON has all.
const (
	shownRunning = 5
	shownWaiting = 10
)

// printDemo shows the report: as a page for people, else as one record in the
// form that -o asks for.
func (r *runner) printDemo(rep *demoReport) error {
	if r.Output != output.Table {
		return r.printDemoRecord(rep)
	}
	var out bytes.Buffer
	page := demoPage{runner: *r, rep: rep, out: &out}
	page.stdout = &out // the tables of the page go into it, and it is written at once
	sections := []func() error{page.summary, page.history, page.nodes, page.buckets, page.policies, page.running, page.waiting, page.reservations, page.next}
	if r.Quiet {
		sections = sections[:1]
	}
	for _, section := range sections {
		if err := section(); err != nil {
			return err
		}
	}
	if _, err := r.stdout.Write(out.Bytes()); err != nil {
		return fmt.Errorf("the answer could not be written: %w", err)
	}
	return nil
}

// demoPage is the report as people read it: sections with a heading, most of
// them a table.
type demoPage struct {
	runner
	rep *demoReport
	out *bytes.Buffer
}

// heading begins a section: its title, and what it shows.
func (p *demoPage) heading(title, format string, args ...any) {
	title += ":"
	if p.colored() {
		title = "\x1b[1m" + title + "\x1b[0m"
	}
	fmt.Fprintf(p.out, "\n%s %s\n", title, fmt.Sprintf(format, args...))
}

// table prints rows under columns.
func (p *demoPage) table(columns []output.Column, rows [][]any) error {
	t := p.printer(output.Result{Columns: columns})
	for _, row := range rows {
		t.Row(row...)
	}
	return t.Close()
}

func (p *demoPage) summary() error {
	d, s, h := p.rep.d, &p.rep.d.stats, &p.rep.d.history
	waited, median, longest := s.waits()
	fmt.Fprint(p.out, "Six days of MetaCentrum's cluster wagap (Brno, February 2013), replayed.\n\n")
	t := p.printer(output.Result{Record: true, Columns: []output.Column{{Name: "cluster"}, {Name: "time"}, {Name: "requests"}, {Name: "placed"},
		{Name: "waiting"}, {Name: "sharing"}, {Name: "in use"}, {Name: "policy"}, {Name: "speed"}, {Name: "on disk"}, {Name: "database"}}})
	t.Row(
		fmt.Sprintf("%d nodes, %s cpus", len(d.data.Nodes), spell.Comma(d.data.cpus())),
		fmt.Sprintf("moved: it begins %s and ends now", spell.AppendLocal(nil, d.data.From, p.loc)),
		fmt.Sprintf("%s, as they were asked, with the run times recorded", spell.Comma(int64(len(d.data.Jobs)))),
		fmt.Sprintf("%s: %s at once, %d after a wait (median %s, longest %s)", spell.Comma(int64(s.Placed)),
			spell.Comma(int64(s.Placed-waited)), waited, shortSpan(median), shortSpan(longest)),
		fmt.Sprintf("%d at the end, %d at most", len(d.waiting), s.MostWaiting),
		fmt.Sprintf("%s jobs had others beside them on a node, at most %d on one at once", spell.Comma(int64(s.Shared)), slices.Max(h.most)),
		fmt.Sprintf("%.0f %% of the cpus; %.0f %% of the nodes, %.1f jobs on each", 100*h.cpusPart(), 100*h.nodesPart(), h.jobsPerNode()),
		fmt.Sprintf("%s, which is the default; the small nodes have priority", d.how.Policy),
		fmt.Sprintf("%s placements, %s releases in %.2f s: %s placements a second",
			spell.Comma(int64(s.Placed)), spell.Comma(int64(s.Released)), s.Took.Seconds(), spell.Comma(int64(s.rate()))),
		fmt.Sprintf("%s transactions, each durable before the next began", spell.Comma(int64(s.Transactions))),
		firstOf(p.rep.DB, "not kept"))
	if err := t.Close(); err != nil {
		return err
	}
	fmt.Fprint(p.out, "\nEvery job asks for what its user wrote behind -l nodes=: 4:ppn=8 is eight cpus\n"+
		"on each of four nodes, and the job's memory is shared out among them. What it\n"+
		"leaves of a node others may have, so that only one that fills it is sure to be\n"+
		"alone there. The cluster begins empty: what ran before is not among these days.\n")
	return nil
}

// shortSpan is a duration without its seconds once it has hours.
func shortSpan(seconds int64) string {
	if seconds >= 3600 {
		seconds -= seconds % 60
	}
	return string(spell.AppendDuration(nil, seconds))
}

// line prints a row of a drawing.
func (p *demoPage) line(name, drawn, note string) {
	p.out.Write(output.EndLine(fmt.Appendf(nil, "  %-12s|%s|  %s", name, drawn, note)))
}

func (p *demoPage) history() error {
	h := &p.rep.d.history
	p.heading("How full it was", "cpus that jobs had; a column is the mean of three hours")
	ramp := chart.Ramp(p.blocks())
	var ruler strings.Builder
	for day := range 6 {
		fmt.Fprintf(&ruler, "%-8s", fmt.Sprintf("-%dd", 6-day))
	}
	p.line("", ruler.String(), "now")
	for i := range h.kinds {
		k := &h.kinds[i]
		p.line(k.name, h.draw(ramp, &k.levels, k.cpus), fmt.Sprintf("of %s cpus", spell.Comma(k.cpus)))
	}
	for _, row := range []struct {
		name   string
		levels *[historyColumns]int64
	}{{"running", &h.running}, {"waiting", &h.waiting}} {
		most := h.highest(row.levels)
		p.line(row.name, h.draw(ramp, row.levels, most), fmt.Sprintf("up to %d jobs", most))
	}
	for _, v := range p.rep.Reservations {
		if v.State != "planned" {
			p.line(v.Name, h.drawSpan(int64(v.Start), int64(v.End)), fmt.Sprintf("on %d nodes", len(v.Nodes)))
		}
	}
	return nil
}

func (p *demoPage) buckets() error {
	p.heading("Buckets", "nodes that are alike. A placement looks at these before it looks at\n"+
		"nodes; later are those that are free now and reserved for later")
	var rows [][]any
	for _, b := range p.rep.Buckets {
		rows = append(rows, []any{b.Nodes, b.Signature, b.Priority, b.Total, b.Free, b.Later, b.Busy})
	}
	return p.table([]output.Column{{Name: "nodes", Kind: output.List, Nodes: true}, {Name: "signature"}, {Name: "priority", Kind: output.Integer},
		{Name: "total", Kind: output.Integer}, {Name: "free", Kind: output.Integer}, {Name: "later", Kind: output.Integer}, {Name: "busy", Kind: output.Integer}}, rows)
}

func (p *demoPage) policies() error {
	if len(p.rep.Policies) < 2 {
		return nil
	}
	p.heading("Policies", "the same six days with others. firstavailable takes nodes as declared,\n"+
		"tetris those that fit best, cpuload those with the most idle cpus; in the last\n"+
		"line every job is alone on its nodes. Waits that are not over count up to now;\n"+
		"cpus and nodes are how much of them was in use, jobs how many were on a node")
	var rows [][]any
	for _, o := range p.rep.Policies {
		name := o.Policy
		if o.Whole {
			name = "whole nodes"
		}
		rows = append(rows, []any{name, o.AtOnce, o.Later, o.Waiting, shortSpan(int64(o.MeanWait)), shortSpan(o.LongestWait),
			fmt.Sprintf("%.0f%%", 100*o.CPUsBusy), fmt.Sprintf("%.0f%%", 100*o.NodesUsed), fmt.Sprintf("%.1f", o.JobsPerNode)})
	}
	return p.table([]output.Column{{Name: "policy"}, {Name: "at_once", Kind: output.Integer}, {Name: "later", Kind: output.Integer}, {Name: "waiting", Kind: output.Integer},
		{Name: "mean_wait", Right: true}, {Name: "longest", Right: true}, {Name: "cpus", Right: true}, {Name: "nodes", Right: true}, {Name: "jobs", Right: true}}, rows)
}

func (p *demoPage) running() error {
	p.heading("Running", "%d jobs. Those whose walltime ends next", len(p.rep.Running))
	var rows [][]any
	for _, j := range p.rep.Running[:min(shownRunning, len(p.rep.Running))] {
		rows = append(rows, []any{j.Job, j.User, j.Request, p.until(j.End), j.Nodes})
	}
	return p.table([]output.Column{{Name: "job"}, {Name: "user"}, {Name: "request"}, {Name: "ends_in", Kind: output.Duration}, {Name: "nodes", Kind: output.List, Nodes: true}}, rows)
}

// until is how long it is to an instant, or how long ago, in whole minutes.
func (p *demoPage) until(t demoTime) time.Duration {
	return (time.Duration(int64(t)-p.rep.d.data.Until) * time.Second).Truncate(time.Minute)
}

func (p *demoPage) waiting() error {
	if len(p.rep.Waiting) == 0 {
		return nil
	}
	p.heading("Waiting", "%d jobs, and when each could start if it were its turn.\n"+
		"This queue is the demo's own: the database does not keep one yet", len(p.rep.d.waiting))
	var rows [][]any
	shown := p.rep.Waiting[:min(shownWaiting, len(p.rep.Waiting))]
	for _, w := range shown {
		rows = append(rows, []any{w.Jobs, w.Request, w.Walltime, -p.until(w.Submit), p.until(w.Start), w.WaitsFor})
	}
	err := p.table([]output.Column{{Name: "jobs", Kind: output.Integer}, {Name: "request"}, {Name: "walltime", Kind: output.Duration}, {Name: "waited", Kind: output.Duration},
		{Name: "starts_in", Kind: output.Duration}, {Name: "waits_for", Kind: output.List}}, rows)
	if n := len(p.rep.Waiting) - len(shown); n > 0 {
		fmt.Fprintf(p.out, "and %s more; -o json shows all\n", spell.Plural(n, "kind"))
	}
	return err
}

func (p *demoPage) reservations() error {
	s := &p.rep.d.stats
	p.heading("Reserved", "whole nodes or parts of them, for those whom access lets in, or for\n"+
		"nobody: %d jobs were let in. Before it begins the nodes take jobs that end in\n"+
		"time, and take those first: %s of the jobs placed", s.LetIn, spell.Comma(int64(s.FittedIn)))
	var rows [][]any
	for _, v := range p.rep.Reservations {
		rows = append(rows, []any{v.Name, v.State, p.until(v.Start), shortSpan(int64(v.End - v.Start)), v.Nodes, v.takes(), orNil(v.Allow)})
	}
	return p.table([]output.Column{{Name: "name"}, {Name: "state"}, {Name: "begins_in", Kind: output.Duration}, {Name: "lasts", Right: true},
		{Name: "nodes", Kind: output.List, Nodes: true}, {Name: "of_each"}, {Name: "access"}}, rows)
}

// takes says what a reservation keeps of each of its nodes, where they are alike.
func (v *demoReservation) takes() string {
	if len(v.Takes) == 0 {
		return "all"
	}
	r := v.Takes[0].Resources
	return fmt.Sprintf("%d cpus, %s", r["ncpus"], humanize.IBytes(uint64(r["mem"])))
}

func (p *demoPage) next() error {
	if len(p.rep.Next) == 0 {
		return nil
	}
	p.heading("Try next", "the database is yours, and in it the time is now")
	for _, h := range p.rep.Next {
		fmt.Fprintf(p.out, "  %s\n      %s\n", h.Command, h.Why)
	}
	return nil
}
