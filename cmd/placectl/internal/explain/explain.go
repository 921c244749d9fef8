// Package explain says why a request starts now or does not, and why a job is where it is. It does so
// as a page for people, as a document for programs, and as one table in the other forms. Package store
// finds out the facts (Explained). Each file here formats one noun of it, in words and, by a table of
// its fields, as JSON. The package names the flags that can change a request, but knows no verb and no
// transaction. It looks up names by number through Names.
package explain

import (
	"io"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// Names looks up names by number. A *engine.Tx does.
type Names interface {
	Names(numbers []uint32) ([]string, error)
	Owner(timeline.Busy) (engine.Owner, error)
}

// page is an explanation in words. Times in it are short and local for people, RFC 3339 for programs.
type page struct {
	output.Page
	ex        engine.Explained // with an empty Explanation if it has none
	explained bool             // ex has an Explanation
	names     Names
	defs      *index.Defs
	now       int64
	err       error // the first failure, after which nothing is written
}

// The limits of long lists on the page. JSON has everything.
const (
	shownBuckets = 8
	shownSets    = 8
	shownNames   = 40 // characters in a list of nodes
)

// Print writes an explanation made at now, in Unix seconds. It is a page for people, a document for
// programs, and in other forms its main table: the requested nodes, the reasons, or a job.
func Print(w io.Writer, o output.Options, ex *engine.Explained, names Names, defs *index.Defs, now int64) error {
	p := &page{Page: output.Page{Options: o}, ex: *ex, explained: ex.Explanation != nil, names: names, defs: defs,
		now: now}
	if !p.explained {
		p.ex.Explanation = new(placer.Explanation)
	}
	switch {
	case o.Format == output.Table:
		p.sections()
	case o.Format.Traits().Document:
		p.document()
	case !p.explained, ex.Job != nil && len(ex.Nodes) == 0:
		p.summary()
	case len(ex.Nodes) > 0:
		p.table(0, p.askedFields().Pick("node chunk fits reason detail until"), len(p.ex.Nodes))
	default:
		reasons := p.reasons()
		p.table(1, p.reasonFields(reasons).Pick("chunk reason detail nodes names until"), len(reasons))
	}
	if p.err != nil {
		return p.err
	}
	_, err := p.WriteTo(w)
	return err
}

// failed keeps the first failure.
func (p *page) failed(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *page) sections() {
	sections := []func(){p.summary, p.ahead, p.depends}
	if p.explained {
		sections = []func(){p.summary, p.depends, p.chunks, p.sets, p.hosts, p.helps, p.askedNodes, p.ranking}
	}
	for _, section := range sections {
		section()
	}
}

// table adds a table of n things. -o id prints its column id.
func (p *page) table(id int, fields output.Fields[int], n int) {
	t := p.Begin(output.Result{Columns: fields.Columns(), ID: id})
	for i := range n {
		p.failed(fields.Print(t, i))
	}
	p.failed(t.Close())
}

// summary adds the verdict.
func (p *page) summary() {
	f := new(output.Record)
	if p.ex.Job != nil {
		p.jobSummary(f)
	}
	if p.explained && p.ex.Job == nil {
		p.requestSummary(f)
	}
	p.failed(p.Record(f))
}

// document writes the explanation as one JSON document, with the same fields whatever it explains.
func (p *page) document() {
	f := new(output.Record)
	add := func(name string, fields output.Fields[int], n int) {
		f.Add(name, output.Object, output.ObjectsOf(fields, n))
	}
	f.Add("request", output.Object, p.requestObject())
	f.Add("job", output.Object, p.jobObject())
	p.verdictFields(f)
	add("chunks", p.chunkFields(), len(p.ex.Chunks))
	add("sets", setFields(p.ex.Sets), len(p.ex.Sets))
	add("hosts", hostFields(p.ex.Hosts), len(p.ex.Hosts))
	add("helps", p.helpFields(), len(p.ex.Helps))
	add("priority", p.rankFields(), len(p.ex.Ranking))
	add("asked_nodes", p.askedFields().Pick("node chunk fits_now reason detail until"), len(p.ex.Nodes))
	add("ahead", p.aheadFields().Pick("job reservation who until overdue nodes"), len(p.ex.Ahead))
	p.failed(p.Record(f))
}

func (p *page) more(n int, noun string) {
	if n > 0 {
		p.Printf("and %s more; -o json shows all\n", text.Plural(n, noun))
	}
}
