package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// How much of each list the page shows; the JSON has all.
const (
	shownNodes   = 6
	shownRunning = 5
	shownWaiting = 10
)

// printDemo shows the report: as a page for people, else as one record in the
// form that -o asks for.
func (r *runner) printDemo(rep *demoReport) error {
	if r.Output != formatTable {
		return r.printDemoRecord(rep)
	}
	var out bytes.Buffer
	page := demoPage{runner: *r, rep: rep, out: &out}
	page.stdout = &out // the tables of the page go into it, and it is written at once
	sections := []func() error{page.summary, page.history, page.buckets, page.busiest, page.running, page.waiting, page.reservations, page.next}
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
func (p *demoPage) table(columns []column, rows [][]any) error {
	t := p.printer(result{Columns: columns})
	for _, row := range rows {
		t.row(row...)
	}
	return t.close()
}

func (p *demoPage) summary() error {
	d, s := p.rep.d, &p.rep.d.stats
	waited, median, longest := s.waits()
	fmt.Fprint(p.out, "Six days of MetaCentrum's cluster wagap (Brno, January 2013), replayed.\n\n")
	t := p.printer(result{Record: true, Columns: []column{{Name: "cluster"}, {Name: "time"}, {Name: "requests"}, {Name: "placed"},
		{Name: "waiting"}, {Name: "left out"}, {Name: "nodes busy"}, {Name: "speed"}, {Name: "on disk"}, {Name: "database"}}})
	t.row(
		fmt.Sprintf("%d nodes, %s cpus", len(d.data.Nodes), humanize.Comma(d.data.cpus())),
		fmt.Sprintf("moved: it begins %s and ends now", p.appendLocal(nil, d.data.From)),
		fmt.Sprintf("%s, with the run times recorded", humanize.Comma(int64(d.data.Requests))),
		fmt.Sprintf("%d: %d at once, %d after a wait (median %s, longest %s)", s.Placed, s.Placed-waited, waited, shortSpan(median), shortSpan(longest)),
		fmt.Sprintf("%d at the end, %d at most", len(d.waiting), s.MostWaiting),
		leftOutText(d.data.LeftOut),
		fmt.Sprintf("%.0f %% of the time", 100*d.busyPart()),
		fmt.Sprintf("%d placements, %d releases in %.2f s: %s placements a second",
			s.Placed, s.Released, s.Took.Seconds(), humanize.Comma(int64(s.rate()))),
		fmt.Sprintf("%s transactions, each durable before the next began", humanize.Comma(int64(s.Transactions))),
		firstOf(p.rep.DB, "not kept"))
	if err := t.close(); err != nil {
		return err
	}
	fmt.Fprint(p.out, "\nEvery job has whole nodes to itself, as if it had said #excl: sharing nodes\n"+
		"comes with a later version. As recorded, small jobs shared nodes, and fewer\nhad to wait.\n")
	return nil
}

// leftOutText lists the reasons for which jobs were left out.
func leftOutText(reasons map[string]int) any {
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		parts = append(parts, fmt.Sprintf("%d that %s", reasons[why], why))
	}
	return orNil(strings.Join(parts, "; "))
}

// shortSpan is a duration without its seconds once it has hours.
func shortSpan(seconds int64) string {
	if seconds >= 3600 {
		seconds -= seconds % 60
	}
	return string(appendSpan(nil, seconds))
}

func (p *demoPage) history() error {
	h := &p.rep.d.history
	p.heading("How full it was", "nodes that jobs had; a column is the mean of three hours")
	ramp := p.ramp()
	line := func(name, drawn, note string) {
		p.out.Write(endLine(fmt.Appendf(nil, "  %-12s|%s|  %s", name, drawn, note)))
	}
	var ruler strings.Builder
	for day := range 6 {
		fmt.Fprintf(&ruler, "%-8s", fmt.Sprintf("-%dd", 6-day))
	}
	line("", ruler.String(), "now")
	for i, kind := range h.kinds {
		line(kind, h.draw(ramp, &h.levels[i], int64(h.nodes[i])), fmt.Sprintf("of %d nodes", h.nodes[i]))
	}
	most := (slices.Max(h.waiting[:]) + h.column - 1) / h.column
	line("waiting", h.draw(ramp, &h.waiting, most), fmt.Sprintf("up to %d jobs", most))
	done := p.rep.Reservations[0] // the only one in the past
	line(done.Name, h.drawBlocked(), fmt.Sprintf("of %d nodes", len(done.Nodes)))
	return nil
}

func (p *demoPage) buckets() error {
	p.heading("Buckets", "nodes that are alike. A placement looks at these, not at every node;\n"+
		"later are those that are free now and reserved for later")
	var rows [][]any
	for _, b := range p.rep.Buckets {
		rows = append(rows, []any{b.Nodes, b.Signature, b.Priority, b.Total, b.Free, b.Later, b.Busy})
	}
	return p.table([]column{{Name: "nodes", Kind: list, Nodes: true}, {Name: "signature"}, {Name: "priority", Kind: integer},
		{Name: "total", Kind: integer}, {Name: "free", Kind: integer}, {Name: "later", Kind: integer}, {Name: "busy", Kind: integer}}, rows)
}

func (p *demoPage) busiest() error {
	p.heading("Busiest nodes", "by the time that jobs had them")
	var rows [][]any
	whole := p.rep.d.data.Until - p.rep.d.data.From
	for _, n := range p.rep.Busiest[:shownNodes] {
		part := float64(n.Seconds) / float64(whole)
		rows = append(rows, []any{n.Node, n.Jobs, time.Duration(n.Seconds/60*60) * time.Second, fmt.Sprintf("%.0f%%", 100*part), demoBar(part, 30)})
	}
	return p.table([]column{{Name: "node"}, {Name: "jobs", Kind: integer}, {Name: "busy", Kind: span}, {Name: "part", Right: true}, {Name: ""}}, rows)
}

func (p *demoPage) running() error {
	p.heading("Running", "%d jobs. Those whose walltime ends next", len(p.rep.Running))
	var rows [][]any
	for _, j := range p.rep.Running[:min(shownRunning, len(p.rep.Running))] {
		rows = append(rows, []any{j.Job, j.User, j.Request, p.until(j.End), j.Nodes})
	}
	return p.table([]column{{Name: "job"}, {Name: "user"}, {Name: "request"}, {Name: "ends_in", Kind: span}, {Name: "nodes", Kind: list, Nodes: true}}, rows)
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
	err := p.table([]column{{Name: "jobs", Kind: integer}, {Name: "request"}, {Name: "walltime", Kind: span}, {Name: "waited", Kind: span},
		{Name: "starts_in", Kind: span}, {Name: "waits_for", Kind: list}}, rows)
	if n := len(p.rep.Waiting) - len(shown); n > 0 {
		fmt.Fprintf(p.out, "and %s more; -o json shows all\n", plural(n, "kind"))
	}
	return err
}

func (p *demoPage) reservations() error {
	p.heading("Reserved", "a day ahead. Until then the nodes take jobs that end in time,\n"+
		"and take those first: %d of the jobs placed", p.rep.d.stats.FittedIn)
	var rows [][]any
	for _, v := range p.rep.Reservations {
		rows = append(rows, []any{v.Name, v.State, int64(v.Start), int64(v.End), v.Nodes})
	}
	return p.table(reservationColumns()[:5], rows)
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
