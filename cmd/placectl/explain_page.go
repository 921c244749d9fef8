package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
	"github.com/placectl/placectl/timeline"
)

// How much of long lists the page shows; the JSON has all.
const (
	shownBuckets = 8
	shownSets    = 8
	shownNames   = 40 // characters of a list of nodes
)

// printExplained shows an explanation: as a page for people, as a document for
// programs, and in the other forms its main table, which is that of the nodes
// asked about, or of the reasons, or what is known of a job.
func (r *runner) printExplained(tx *store.Tx, ex *store.Explained) error {
	words, err := r.wording(tx, ex.Ask)
	if err != nil {
		return err
	}
	var held bytes.Buffer
	p := explainPage{runner: *r, ex: ex, w: words, out: &held}
	p.stdout = &held
	switch {
	case r.Output == output.Table:
		err = p.page()
	case r.Output.IsDocument():
		err = p.document()
	case ex.Explanation == nil, ex.Job != nil && len(ex.Nodes) == 0:
		err = p.summary()
	case len(ex.Nodes) > 0:
		err = p.nodes()
	default:
		err = p.reasons()
	}
	if err != nil {
		return err
	}
	_, err = r.stdout.Write(held.Bytes())
	return err
}

// explainPage is an explanation as people read it.
type explainPage struct {
	runner
	ex  *store.Explained
	w   *wording
	out *bytes.Buffer
}

func (p *explainPage) page() error {
	sections := []func() error{p.summary, p.ahead, p.depends}
	if p.ex.Explanation != nil {
		sections = []func() error{p.summary, p.depends, p.chunks, p.sets, p.hosts, p.helps, p.askedNodes, p.ranking}
	}
	for _, section := range sections {
		if err := section(); err != nil {
			return err
		}
	}
	return nil
}

func (p *explainPage) heading(title, format string, args ...any) {
	if p.colored() {
		title = "\x1b[1m" + title + "\x1b[0m"
	}
	fmt.Fprintf(p.out, "\n%s%s\n", title, fmt.Sprintf(format, args...))
}

func (p *explainPage) table(columns []output.Column, rows [][]any) error {
	t := p.printer(output.Result{Columns: columns})
	for _, row := range rows {
		t.Row(row...)
	}
	return t.Close()
}

// summary is the verdict.
func (p *explainPage) summary() error {
	res := output.Result{Record: true}
	var row []any
	add := func(name string, k output.Kind, v any) {
		res.Columns = append(res.Columns, output.Column{Name: name, Kind: k})
		row = append(row, v)
	}
	if p.ex.Job != nil {
		if err := p.jobSummary(add); err != nil {
			return err
		}
	}
	if p.ex.Explanation != nil && p.ex.Job == nil {
		if err := p.requestSummary(add); err != nil {
			return err
		}
	}
	t := p.printer(res)
	t.Row(row...)
	return t.Close()
}

func (p *explainPage) requestSummary(add func(string, output.Kind, any)) error {
	ex := p.ex
	add("request", output.Text, p.w.asked(ex.Request))
	add("verdict", output.Text, p.placing())
	if ex.Together {
		add("note", output.Text, "each chunk would fit by itself, not all of them together")
	}
	if ex.Verdict == placer.StartsLater {
		add("earliest", output.Text, p.start(ex.Plan, ex.WaitsFor))
	}
	if err := p.planned(add, ex.Plan); err != nil {
		return err
	}
	add("path", output.Text, fmt.Sprintf("%s: %s", ex.Path, ex.Explanation.Why))
	add("policy", output.Text, fmt.Sprintf("%s: %s", ex.Policy, ex.Policy.Doc()))
	return nil
}

// placing is the verdict on placing it now.
func (p *explainPage) placing() string {
	switch p.ex.Verdict {
	case placer.StartsNow:
		return "starts now"
	case placer.StartsLater:
		return "not now: " + p.ex.Refusal.Why
	}
	return "never: " + p.ex.Refusal.Why
}

// planned is where it starts, by a plan.
func (p *explainPage) planned(add func(string, output.Kind, any), plan *placer.Plan) error {
	if plan == nil {
		return nil
	}
	names, err := p.names(plan.NodeNumbers())
	add("nodes", output.Text, names)
	add("set", output.Text, orNil(plan.Set))
	return err
}

// start says when, and what that waits for.
func (p *explainPage) start(plan *placer.Plan, waitsFor []string) string {
	if plan == nil {
		return "not known"
	}
	text := fmt.Sprintf("%s, in %s", spell.AppendLocal(nil, plan.Start, p.loc), spell.AppendDuration(nil, plan.Start-p.w.tx.Now()))
	if len(waitsFor) > 0 {
		text += ", at the end of " + someOf(waitsFor)
	}
	return text
}

// someOf joins the first few of many words.
func someOf(words []string) string {
	const few = 4
	if len(words) > few+1 {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:few], ", "), len(words)-few)
	}
	return strings.Join(words, ", ")
}

// names is a list of nodes, folded; of a long one the beginning, and how many more
// there are.
func (p *explainPage) names(numbers []uint32) (string, error) {
	var once []uint32
	seen := make(map[uint32]bool)
	for _, n := range numbers {
		if !seen[n] {
			seen[n] = true
			once = append(once, n)
		}
	}
	names, err := p.w.tx.NodeNames(once)
	if err != nil {
		return "", err
	}
	folded := index.FoldNodeList(names)
	if len(folded) <= shownNames {
		return folded, nil
	}
	items, err := index.SplitNodeList(folded)
	if err != nil {
		return folded, nil
	}
	shown, length := 0, 0
	for shown < len(items) && (shown == 0 || length+len(items[shown]) <= shownNames) {
		length += len(items[shown]) + 1
		shown++
	}
	first := strings.Join(items[:shown], ",")
	if in, err := index.ExpandNodeList(first); err == nil && len(in) < len(names) {
		return fmt.Sprintf("%s and %d more", first, len(names)-len(in)), nil
	}
	return folded, nil
}

// until is when a reason ceases, nil for one that does not.
func until(v *placer.Reason) any {
	if v.Cause == placer.CauseFits || v.Until == timeline.Forever {
		return nil
	}
	return v.Until
}

// chunks is where the nodes stand for each chunk.
func (p *explainPage) chunks() error {
	for i := range p.ex.Chunks {
		view := &p.ex.Chunks[i]
		if p.ex.Packed {
			p.heading("All chunks on one node", ": %s wanted, %s with room now", view.Text(p.w.defs), spell.Plural(int(view.Fits), "node"))
		} else {
			p.heading(fmt.Sprintf("Chunk %d", i+1), ": %d of %s wanted, room for %d now", view.Chunk.Count, view.Text(p.w.defs), view.Fits)
		}
		var rows [][]any
		for k := range view.Reasons {
			v := &view.Reasons[k]
			why, err := p.w.reason(v)
			if err != nil {
				return err
			}
			names, err := p.names(v.Nodes)
			if err != nil {
				return err
			}
			rows = append(rows, []any{len(v.Nodes), why, until(v), names})
		}
		columns := []output.Column{{Name: "nodes", Kind: output.Integer}, {Name: "reason"}, {Name: "until", Kind: output.Time}, {Name: "names"}}
		if err := p.table(columns, rows); err != nil {
			return err
		}
		if err := p.buckets(view); err != nil {
			return err
		}
	}
	return nil
}

func (p *explainPage) buckets(view *placer.ChunkView) error {
	if len(view.Buckets) == 0 {
		fmt.Fprint(p.out, "\nno bucket has nodes for it\n")
		return nil
	}
	ix, err := p.w.tx.Index()
	if err != nil {
		return err
	}
	shown := view.Buckets[:min(shownBuckets, len(view.Buckets))]
	var rows [][]any
	for _, b := range shown {
		rows = append(rows, []any{ix.Describe(b.Bucket), b.Free, b.Later, b.Busy, b.Fits})
	}
	fmt.Fprintln(p.out)
	err = p.table([]output.Column{{Name: "bucket"}, {Name: "free", Kind: output.Integer}, {Name: "later", Kind: output.Integer}, {Name: "busy", Kind: output.Integer},
		{Name: "with room", Kind: output.Integer}}, rows)
	p.more(len(view.Buckets)-len(shown), "bucket")
	return err
}

func (p *explainPage) more(n int, noun string) {
	if n > 0 {
		fmt.Fprintf(p.out, "and %s more; -o json shows all\n", spell.Plural(n, noun))
	}
}

func (p *explainPage) sets() error {
	if len(p.ex.Sets) == 0 {
		return nil
	}
	p.heading("Placement sets", ": it keeps to one of these, which could hold it, in this order")
	shown := p.ex.Sets[:min(shownSets, len(p.ex.Sets))]
	wants := make([]int, len(p.ex.Chunks))
	for i := range wants {
		wants[i] = p.ex.Chunks[i].Chunk.Count
	}
	var rows [][]any
	for _, s := range shown {
		rows = append(rows, []any{s.Name, s.Nodes, roomFor(s.Fits, wants)})
	}
	err := p.table([]output.Column{{Name: "set"}, {Name: "nodes", Kind: output.Integer}, {Name: "room now for"}}, rows)
	p.more(len(p.ex.Sets)-len(shown), "set")
	return err
}

// roomFor says for how many of each chunk there is room.
func roomFor(fits []int64, wants []int) string {
	room := make([]string, len(fits))
	for i, n := range fits {
		room[i] = fmt.Sprintf("%d of %d", min(n, int64(wants[i])), wants[i])
	}
	return strings.Join(room, ", ")
}

func (p *explainPage) hosts() error {
	if len(p.ex.Hosts) == 0 {
		return nil
	}
	p.heading("Hosts of several nodes", ": it may lie on those of one host, too")
	shown := p.ex.Hosts[:min(shownSets, len(p.ex.Hosts))]
	var rows [][]any
	for _, h := range shown {
		rows = append(rows, []any{h.Name, h.Nodes, roomFor(h.Fits, h.Wants)})
	}
	err := p.table([]output.Column{{Name: "host"}, {Name: "nodes", Kind: output.Integer}, {Name: "room now for"}}, rows)
	p.more(len(p.ex.Hosts)-len(shown), "host")
	return err
}

func (p *explainPage) helps() error {
	ex := p.ex
	if ex.Verdict == placer.StartsNow {
		return nil
	}
	const title = "What would help"
	switch {
	case len(ex.Helps) == 0 && ex.Verdict == placer.NeverStarts:
		p.heading(title, ": no single change makes it possible")
		return nil
	case len(ex.Helps) == 0:
		p.heading(title, ": no single change starts it now")
		return nil
	case ex.Verdict == placer.NeverStarts:
		p.heading(title, ": it could run with one of these")
	default:
		p.heading(title, ": it would start now with one of these")
	}
	columns := []output.Column{{Name: "change"}, {Name: "flag"}}
	if ex.Verdict == placer.NeverStarts {
		columns = append(columns, output.Column{Name: "start", Kind: output.Time})
	}
	var rows [][]any
	for i := range ex.Helps {
		change, flag := p.w.help(&ex.Helps[i])
		rows = append(rows, []any{change, flag, ex.Helps[i].Start}[:len(columns)])
	}
	return p.table(columns, rows)
}

func (p *explainPage) askedNodes() error {
	if len(p.ex.Nodes) == 0 {
		return nil
	}
	p.heading("Nodes asked about", "")
	return p.nodes()
}
