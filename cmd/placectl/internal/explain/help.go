package explain

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
)

func (p *page) helps() error {
	ex := p.ex
	if ex.Verdict == placer.StartsNow {
		return nil
	}
	const title = "What would help"
	switch {
	case len(ex.Helps) == 0 && ex.Impossible():
		p.Heading(title, ": no single change makes it possible")
		return nil
	case len(ex.Helps) == 0:
		p.Heading(title, ": no single change starts it now")
		return nil
	case ex.Impossible():
		p.Heading(title, ": it could run with one of these")
	default:
		p.Heading(title, ": it would start now with one of these")
	}
	columns := []output.Column{{Name: "change"}, {Name: "flag"}}
	if ex.Impossible() {
		columns = append(columns, output.Column{Name: "start", Kind: output.Time})
	}
	var rows [][]any
	for i := range ex.Helps {
		change, flag := p.help(&ex.Helps[i])
		rows = append(rows, []any{change, flag, ex.Helps[i].Start}[:len(columns)])
	}
	return p.Table(columns, rows)
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

type helpObject struct {
	Change string `json:"change"`
	To     any    `json:"to"`
	Start  string `json:"start"`
	Words  string `json:"words"`
	Flag   string `json:"flag"`
}

func (p *page) helpObjects() (any, error) {
	out := []helpObject{}
	for i := range p.ex.Helps {
		h := &p.ex.Helps[i]
		o := helpObject{Change: h.Change, To: h.To, Start: string(text.AppendRFC3339(nil, h.Start))}
		if h.Change == "walltime" {
			o.To = h.Ask.Duration
		}
		o.Words, o.Flag = p.help(h)
		out = append(out, o)
	}
	return out, nil
}
