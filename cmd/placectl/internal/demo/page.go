package demo

import (
	"fmt"
	"io"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/chart"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/text"
)

// shownWaiting is how many rows of those that wait the page has; the JSON has all.
const shownWaiting = 10

// page is the report as people read it: sections with a heading.
type page struct {
	output.Page
	*Report
	ramp []rune
}

// Print shows the report: as a page for people, else as one record of figures, and for
// programs everything that the page shows, uncut. Brief is the figures alone. Blocks
// says that the terminal shows more than ASCII.
func (rep *Report) Print(w io.Writer, o output.Options, brief, blocks bool) error {
	p := &page{Page: output.Page{Options: o}, Report: rep, ramp: chart.Ramp(blocks)}
	sections := []func() error{p.summary, p.history, p.policies, p.queue, p.next}
	switch {
	case o.Format != output.Table:
		sections = []func() error{p.record}
	case brief:
		sections = sections[:1]
	}
	for _, section := range sections {
		if err := section(); err != nil {
			return err
		}
	}
	_, err := p.WriteTo(w)
	return err
}

// record is the report for programs.
func (p *page) record() error {
	f := new(output.Record)
	s, r, d := p.past, p.replay, p.past.data
	f.Add("db", output.Text, output.OrNil(p.DB))
	f.Add("start", output.Time, d.From)
	f.Add("end", output.Time, d.Until)
	f.Add("nodes", output.Integer, len(d.Nodes))
	f.Add("ncpus", output.Integer, d.CPUs())
	f.Add("policy", output.Text, s.Policy)
	f.Add("requests", output.Integer, len(d.Jobs))
	f.Add("started", output.Integer, s.running+s.finished)
	f.Add("finished", output.Integer, s.finished)
	f.Add("running", output.Integer, s.running)
	f.Add("waiting", output.Integer, s.Waiting)
	f.Add("waited", output.Integer, s.Later)
	median, _ := s.waitTimes()
	f.Add("median_wait", output.Duration, median)
	f.Add("longest_wait", output.Duration, s.LongestWait)
	f.Add("mean_wait", output.Number, s.MeanWait)
	f.Add("let_in", output.Integer, s.letIn)
	f.Add("ncpus_busy", output.Number, s.CPUsBusy)
	f.Add("transactions", output.Integer, r.Transactions)
	f.Add("seconds", output.Number, r.Took.Seconds())
	f.Add("jobs_per_second", output.Number, p.rate())
	f.Add("policies", output.Object, p.Outcomes)
	f.Add("next", output.Object, p.Hints)
	return p.Record(f)
}

// rate is jobs a second, all the work around them included.
func (rep *Report) rate() float64 {
	return float64(len(rep.past.data.Jobs)) / max(rep.replay.Took.Seconds(), 1e-9)
}

func (p *page) summary() error {
	s, r, d := p.past, p.replay, p.past.data
	p.Printf("Six days of MetaCentrum's cluster wagap (Brno, February 2013), replayed.\n\n")
	f := new(output.Record)
	add := func(name, format string, args ...any) { f.Add(name, output.Text, fmt.Sprintf(format, args...)) }
	add("cluster", "%d nodes, %s cpus", len(d.Nodes), text.Comma(d.CPUs()))
	add("time", "moved: it begins %s and ends now", text.AppendLocal(nil, d.From, p.Zone))
	add("jobs", "%s, submitted as they were asked, with the run times recorded", text.Comma(len(d.Jobs)))
	median, longest := s.waitTimes()
	add("started", "%s: %s at once, %d after a wait (median %s, longest %s)", text.Comma(s.AtOnce+s.Later), text.Comma(s.AtOnce), s.Later,
		short(median), short(longest))
	add("waiting", "%d, in the queue", s.Waiting)
	add("reserved", "%d jobs were let into reservation short; the others keep nodes from everybody", s.letIn)
	add("in use", "%.0f %% of the cpus, on average", 100*s.CPUsBusy)
	add("policy", "%s, which is the default; the small nodes have priority", s.Policy)
	add("speed", "%.2f s: %s jobs a second", r.Took.Seconds(), text.Comma(int64(p.rate())))
	add("on disk", "%s transactions, each durable before the next began", text.Comma(r.Transactions))
	add("database", "%s", p.database())
	if err := p.Record(f); err != nil {
		return err
	}
	p.Printf("%s", "\nEvery job asks for what its user wrote behind -l nodes=: 4:ppn=8 is eight cpus\n"+
		"on each of four nodes, and the job's memory is shared out among them. It is\n"+
		"submitted when it was; whenever a job comes or ends, a cycle makes a pass over\n"+
		"the queue, starts what fits, and plans a start for the first that does not. The\n"+
		"cluster begins empty: what ran before is not among these days.\n")
	return nil
}

func (rep *Report) database() string {
	if rep.DB == "" {
		return "not kept"
	}
	return rep.DB
}

// short is a duration without its seconds once it has hours.
func short(seconds int64) string {
	if seconds >= 3600 {
		seconds -= seconds % 60
	}
	return string(text.AppendDuration(nil, seconds))
}

// line adds a line of a drawing.
func (p *page) line(name, drawn, note string) {
	p.Printf("%s", output.EndLine(fmt.Appendf(nil, "  %-12s|%s|  %s", name, drawn, note)))
}

func (p *page) history() error {
	s := p.past
	p.Heading("How full it was:", " cpus that jobs had; a column is the mean of three hours")
	var ruler strings.Builder
	for day := range 6 {
		fmt.Fprintf(&ruler, "%-8s", fmt.Sprintf("-%dd", 6-day))
	}
	p.line("", ruler.String(), "now")
	for i := range s.kinds {
		k := &s.kinds[i]
		p.line(k.name, p.draw(&k.taken, k.cpus), fmt.Sprintf("of %s cpus", text.Comma(k.cpus)))
	}
	length := (s.data.Until - s.data.From) / columns
	for _, of := range []struct {
		name string
		row  *row
	}{{"running", &s.runs}, {"waiting", &s.waited}} {
		var most int64
		for _, v := range of.row {
			most = max(most, (v+length-1)/length)
		}
		p.line(of.name, p.draw(of.row, most), fmt.Sprintf("up to %d jobs", most))
	}
	for _, v := range p.reserved {
		if v.Start.Unix() < s.data.Until {
			p.line(v.Name, s.marked(v.Start.Unix(), v.End.Unix()), fmt.Sprintf("on %d nodes", len(v.Nodes)))
		}
	}
	return nil
}

// draw draws a row, full being what fills a column.
func (p *page) draw(r *row, full int64) string {
	length := (p.past.data.Until - p.past.data.From) / columns
	var b strings.Builder
	for _, v := range r {
		b.WriteRune(chart.Level(p.ramp, v, full*length))
	}
	return b.String()
}

// marked marks a stretch of time.
func (p *past) marked(start, end int64) string {
	var r row
	p.add(&r, start, min(end, p.data.Until), 1)
	var b strings.Builder
	for _, v := range r {
		b.WriteByte(" ="[min(v, 1)])
	}
	return b.String()
}

func (p *page) policies() error {
	if len(p.Outcomes) < 2 {
		return nil
	}
	p.Heading("Policies:", " the same six days with others. firstavailable takes nodes as declared,\n"+
		"tetris those that fit best, cpuload those with the most idle cpus. Waits that\n"+
		"are not over count up to now; cpus is how much of them was in use")
	var rows [][]any
	for _, o := range p.Outcomes {
		rows = append(rows, []any{o.Policy, o.AtOnce, o.Later, o.Waiting, short(int64(o.MeanWait)), short(o.LongestWait),
			fmt.Sprintf("%.0f%%", 100*o.CPUsBusy)})
	}
	return p.Table([]output.Column{{Name: "policy"}, {Name: "at_once", Kind: output.Integer}, {Name: "later", Kind: output.Integer}, {Name: "waiting", Kind: output.Integer},
		{Name: "mean_wait", Right: true}, {Name: "longest", Right: true}, {Name: "cpus", Right: true}}, rows)
}

func (p *page) queue() error {
	if len(p.waiting) == 0 {
		return nil
	}
	s := p.past
	p.Heading("The queue:", " %d jobs, and when each is expected to start", s.Waiting)
	now := s.data.Until
	var rows [][]any
	shown := p.waiting[:min(shownWaiting, len(p.waiting))]
	for _, w := range shown {
		row := []any{w.jobs, w.request, w.walltime, minutes(now - w.submit.Unix()), nil, string(w.waitsFor)}
		if !w.start.IsZero() {
			row[4] = minutes(w.start.Unix() - now)
		}
		rows = append(rows, row)
	}
	err := p.Table([]output.Column{{Name: "jobs", Kind: output.Integer}, {Name: "request"}, {Name: "walltime", Kind: output.Duration}, {Name: "waited", Kind: output.Duration},
		{Name: "starts_in", Kind: output.Duration}, {Name: "waits_for"}}, rows)
	if n := len(p.waiting) - len(shown); n > 0 {
		p.Printf("and %s more; -o json shows all\n", text.Plural(n, "kind"))
	}
	return err
}

func minutes(seconds int64) int64 { return seconds - seconds%60 }

func (p *page) next() error {
	if len(p.Hints) == 0 {
		return nil
	}
	p.Heading("Try next:", " the database is yours, and in it the time is now")
	for _, h := range p.Hints {
		p.Printf("  %s\n      %s\n", h.Command, h.Why)
	}
	return nil
}
