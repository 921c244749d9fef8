// Package explain tells why a request starts now or does not, and why a job is where
// it is: as a page for people, as a document for programs, and as one table in the
// other forms. What is told has been found out by package store (Explained); each file
// here has a noun of it, in words and as JSON. It names the flags with which a request
// can be changed, and knows no verb and no transaction: it gets the names of what it
// has numbers of through Names.
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

// page is an explanation that is put into words. Times in them are short and local for
// people, RFC 3339 for programs.
type page struct {
	output.Page
	ex        store.Explained // with an empty Explanation where there is none
	explained bool            // there is one
	names     Names
	defs      *index.Defs
	now       int64
}

// How much of long lists the page shows; the JSON has all.
const (
	shownBuckets = 8
	shownSets    = 8
	shownNames   = 40 // characters of a list of nodes
)

// Print writes an explanation made at now, in Unix seconds: as a page for people, as a document for
// programs, and in the other forms its main table, which is that of the requested nodes, of the
// reasons, or of a job.
func Print(w io.Writer, o output.Options, ex *store.Explained, names Names, defs *index.Defs, now int64) (err error) {
	p := &page{Page: output.Page{Options: o}, ex: *ex, explained: ex.Explanation != nil, names: names, defs: defs, now: now}
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

// summary is the verdict.
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

// document is the explanation as one JSON document: the same fields whatever is
// explained.
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
	}{{"chunks", p.chunkObjects}, {"sets", p.setObjects}, {"hosts", p.hostObjects}, {"helps", p.helpObjects}, {"priority", p.rankObjects},
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
