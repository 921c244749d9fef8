package main

import (
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

func manCommand(r *runner) *cli.Command {
	return r.verb(&cli.Command{
		Name:     "man",
		Category: "Store",
		Usage:    "print the manual page, all verbs in it",
		Action:   r.man,
	}, about{Example: "placectl man | man -l -\nplacectl man > /usr/local/share/man/man1/placectl.1", Exits: []int{}})
}

// man writes what help says as a page of roff: the summary of all, then a section for
// each verb. The layout of help is kept, for it is one.
func (r *runner) man(c *cli.Context) error {
	if err := wantArgs(c, 0, 0); err != nil {
		return err
	}
	var page, text strings.Builder
	page.WriteString(".TH PLACECTL 1\n.SH NAME\nplacectl \\- the SQLite of batch scheduling: one file, no daemon\n.SH SUMMARY\n")
	r.helpAll(&text)
	writeRoff(&page, text.String())
	for _, v := range r.verbs {
		r.manVerb(&page, v.make(r), "")
	}
	_, err := io.WriteString(r.stdout, page.String())
	return err
}

// manVerb writes a verb's section, and those of the verbs below it.
func (r *runner) manVerb(page *strings.Builder, c *cli.Command, above string) {
	if c.Hidden {
		return
	}
	path := strings.TrimSpace(above + " " + c.Name)
	page.WriteString(".SH " + strings.ToUpper(path) + "\n")
	var text strings.Builder
	r.helpVerb(&text, c, path)
	writeRoff(page, text.String())
	for _, sub := range c.Subcommands {
		r.manVerb(page, sub, path)
	}
}

// writeRoff writes text as it is laid out.
func writeRoff(page *strings.Builder, text string) {
	page.WriteString(".nf\n")
	for line := range strings.Lines(strings.TrimSpace(text)) {
		line = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(line)
		if strings.HasPrefix(line, ".") {
			page.WriteString(`\&`)
		}
		page.WriteString(line)
	}
	page.WriteString("\n.fi\n")
}
