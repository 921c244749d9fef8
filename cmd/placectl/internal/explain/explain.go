// Package explain says why a request starts now or does not, and why a job is where it is. It does so
// as a page for people, as a document for programs, and as one table in the other forms. Package store
// finds out the facts (Explained). Each file here formats one noun of it, in words and as JSON. The
// package names the flags that can change a request, but knows no verb and no transaction. It looks up
// names by number through Names.
package explain

import (
	"io"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
	"github.com/placectl/placectl/timeline"
)

// Names looks up names by number. A *store.Tx does.
type Names interface {
	Names(numbers []uint32) ([]string, error)
	Owner(timeline.Busy) (store.Owner, error)
}

// page is an explanation in words. Times in it are short and local for people, RFC 3339 for programs.
type page struct {
	output.Page
	ex        store.Explained // with an empty Explanation if it has none
	explained bool            // ex has an Explanation
	names     Names
	defs      *index.Defs
	now       int64
}

// The limits of long lists on the page. JSON has everything.
const (
	shownBuckets = 8
	shownSets    = 8
	shownNames   = 40 // characters in a list of nodes
)

// Print writes an explanation made at now, in Unix seconds. It is a page for people, a document for
// programs, and in other forms its main table: the requested nodes, the reasons, or a job.
func Print(w io.Writer, o output.Options, ex *store.Explained, names Names, defs *index.Defs, now int64) (err error) {
	p := &page{Page: output.Page{Options: o}, ex: *ex, explained: ex.Explanation != nil, names: names, defs: defs,
		now: now}
	if !p.explained {
		p.ex.Explanation = new(placer.Explanation)
	}
	switch {
	case o.Format == output.Table:
		err = p.sections()
	case o.Format.Traits().Document:
		err = p.document()
	case !p.explained, ex.Job != nil && len(ex.Nodes) == 0:
		err = p.summary()
	case len(ex.Nodes) > 0:
		err = p.nodes()
	default:
		err = p.reasons()
	}
	if err != nil {
		return err
	}
	_, err = p.WriteTo(w)
	return err
}

func (p *page) sections() error {
	sections := []func() error{p.summary, p.ahead, p.depends}
	if p.explained {
		sections = []func() error{p.summary, p.depends, p.chunks, p.sets, p.hosts, p.helps, p.askedNodes, p.ranking}
	}
	for _, section := range sections {
		if err := section(); err != nil {
			return err
		}
	}
	return nil
}

// summary adds the verdict.
func (p *page) summary() error {
	f := new(output.Record)
	if p.ex.Job != nil {
		if err := p.jobSummary(f); err != nil {
			return err
		}
	}
	if p.explained && p.ex.Job == nil {
		if err := p.requestSummary(f); err != nil {
			return err
		}
	}
	return p.Record(f)
}

// document writes the explanation as one JSON document, with the same fields whatever it explains.
func (p *page) document() error {
	f := new(output.Record)
	f.Add("request", output.Object, p.requestObject())
	f.Add("job", output.Object, p.jobObject())
	if err := p.verdictFields(f); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		make func() (any, error)
	}{{"chunks", p.chunkObjects}, {"sets", p.setObjects}, {"hosts", p.hostObjects}, {"helps", p.helpObjects},
		{"priority", p.rankObjects},
		{"asked_nodes", p.nodeObjects}, {"ahead", p.aheadObjects}} {
		list, err := part.make()
		if err != nil {
			return err
		}
		f.Add(part.name, output.Object, list)
	}
	return p.Record(f)
}

func (p *page) more(n int, noun string) {
	if n > 0 {
		p.Printf("and %s more; -o json shows all\n", text.Plural(n, noun))
	}
}
