package explain

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
)

func (p *page) helps() {
	ex := p.ex
	if ex.Verdict == placer.StartsNow {
		return
	}
	const title = "What would help"
	columns := "change flag"
	switch {
	case len(ex.Helps) == 0 && ex.Impossible():
		p.Heading(title, ": no single change makes it possible")
		return
	case len(ex.Helps) == 0:
		p.Heading(title, ": no single change starts it now")
		return
	case ex.Impossible():
		p.Heading(title, ": it could run with one of these")
		columns += " start"
	default:
		p.Heading(title, ": it would start now with one of these")
	}
	p.table(0, p.helpFields().Pick(columns), len(ex.Helps))
}

// help says what to change, and with which flag.
func (p *page) help(h *placer.Help) (words, flag string) {
	flag = "--" + h.Change + " " + text.ShellWord(h.To)
	switch h.Change {
	case "select":
		words = p.fewer(h)
		flag = "-l " + text.ShellWord(h.To)
	case "walltime":
		words = string(text.AppendDuration(nil, p.ex.Ask.Duration-h.Ask.Duration)) + " shorter"
		flag = "-t " + string(text.AppendDuration(nil, h.Ask.Duration))
	case "place":
		words = p.placed(h.Ask.Spec.Place)
	case "access":
		words = fmt.Sprintf("access %s instead of %s", h.To, p.ex.Ask.Access)
	case "pool":
		words = "less of a pool: " + h.To
	case "policy":
		words = "nodes that are not in a row"
	case "queue":
		if words = "in queue " + h.To; h.To == "" {
			words = "in no queue"
		}
	case placer.HelpResume:
		words, flag = "nodes back in service", "node resume "+h.To
	case "reservation":
		words = "without the reservation"
	}
	return words, flag
}

func (p *page) fewer(h *placer.Help) string {
	kinds := len(p.ex.Ask.Chunks)
	switch {
	case h.Fewer == p.ex.Ask.Chunks[h.Chunk].Count:
		return fmt.Sprintf("without chunk %d", h.Chunk+1)
	case kinds == 1:
		return fmt.Sprintf("%s fewer", text.Plural(h.Fewer, "chunk"))
	}
	return fmt.Sprintf("%d fewer of chunk %d", h.Fewer, h.Chunk+1)
}

// placed says how a place differs from the requested one.
func (p *page) placed(q placer.Place) string {
	was := p.ex.Ask.Spec.Place
	var parts []string
	if q.Arrange != was.Arrange {
		parts = append(parts, fmt.Sprintf("place %s instead of %s", q.Arrange, was.Arrange))
	}
	switch {
	case q.Share == was.Share:
	case q.Exclusive():
		parts = append(parts, "whole nodes instead of whole hosts")
	default:
		parts = append(parts, "shared nodes instead of whole ones")
	}
	if q.HasGroup != was.HasGroup {
		parts = append(parts, "across placement sets")
	}
	return strings.Join(parts, ", ")
}

// helpFields are the fields of a change that would help. People read it in words, programs its name.
func (p *page) helpFields() output.Fields[int] {
	words := func(i int) any {
		words, _ := p.help(&p.ex.Helps[i])
		return words
	}
	return output.Fields[int]{
		{Name: "change", Required: true, Value: func(i int) any {
			if p.Format == output.Table {
				return words(i)
			}
			return p.ex.Helps[i].Change
		}},
		{Name: "to", Kind: output.Object, Value: func(i int) any {
			if h := &p.ex.Helps[i]; h.Change == "walltime" {
				return h.Ask.Duration
			}
			return p.ex.Helps[i].To
		}},
		{Name: "start", Kind: output.Time, Required: true, Value: func(i int) any { return p.ex.Helps[i].Start }},
		{Name: "words", Required: true, Value: words},
		{Name: "flag", Required: true, Value: func(i int) any {
			_, flag := p.help(&p.ex.Helps[i])
			return flag
		}},
	}
}
