package main

import (
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

func manVerb() *verb {
	return &verb{
		Name:     "man",
		Category: "Store",
		Usage:    "print the manual page, all verbs in it",
		Example:  "placectl man | man -l -\nplacectl man > /usr/local/share/man/man1/placectl.1",
		Run:      (*runner).man,
	}
}

// man writes what help says as a page of roff: the summary of all, then a section for
// each verb. The layout of help is kept, for it is one.
func (r *runner) man(*cli.Context) error {
	var page, text strings.Builder
	page.WriteString(".TH PLACECTL 1\n.SH NAME\nplacectl \\- the SQLite of batch scheduling: one file, no daemon\n.SH SUMMARY\n")
	r.verbs.Help(&text)
	writeRoff(&page, text.String())
	for _, e := range r.verbs {
		manSection(&page, e.Verb(), "")
	}
	_, err := io.WriteString(r.stdout, page.String())
	return err
}

// manSection writes a verb's section, and those of the verbs below it.
func manSection(page *strings.Builder, v *verb, above string) {
	if v.Hidden {
		return
	}
	path := strings.TrimSpace(above + " " + v.Name)
	page.WriteString(".SH " + strings.ToUpper(path) + "\n")
	var text strings.Builder
	v.Help(&text, path)
	writeRoff(page, text.String())
	for _, sub := range v.Verbs {
		manSection(page, sub, path)
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
