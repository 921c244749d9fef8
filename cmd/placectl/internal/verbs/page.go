package verbs

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/urfave/cli/v2"
)

// DefaultWidth is how wide help is if the reader's width is unknown.
const DefaultWidth = 80

// layout is how wide lines are.
type layout struct{ width int }

// page lays out a template of the cli package. Nothing is wrapped to less than 40 columns, and
// lines longer than 100 are not read; a width of 0 is the default one.
func page(template string, data any, width int) string {
	l := layout{min(max(cmp.Or(width, DefaultWidth), 40), 100)}
	var b strings.Builder
	cli.HelpPrinterCustom(&b, template, data, map[string]any{"wrap": l.wrap, "entry": l.entry, "prose": l.prose, "code": l.code, "status": l.status})
	return b.String()
}

// wrap lays out a text whose first line stands where it begins, the others behind an indent.
func (l layout) wrap(text string, indent int) string {
	var b strings.Builder
	for rest := []byte(text); ; {
		n := output.BreakAt(rest, max(l.width-indent, 20))
		b.WriteString(strings.TrimRight(string(rest[:n]), " ") + "\n")
		if rest = bytes.TrimLeft(rest[n:], " "); len(rest) == 0 {
			return b.String()
		}
		b.WriteString(strings.Repeat(" ", indent))
	}
}

// hanging lays out a line, and behind an indent what of it is too long.
func (l layout) hanging(line string, indent int) string {
	n := output.BreakAt([]byte(line), l.width)
	first := strings.TrimRight(line[:n], " ") + "\n"
	if rest := strings.TrimLeft(line[n:], " "); rest != "" {
		first += strings.Repeat(" ", indent) + l.wrap(rest, indent)
	}
	return first
}

// HelpLine is a line of a list, and its explanation from a column on.
func HelpLine(label, text string, column int) string {
	return layout{DefaultWidth}.entry(label, text, column)
}

func (l layout) entry(label, text string, column int) string {
	gap := "\n" + strings.Repeat(" ", column)
	if pad := column - 2 - output.TextWidth(label); pad > 0 {
		gap = strings.Repeat(" ", pad)
	}
	return "  " + label + gap + l.wrap(text, column)
}

// status is an exit status, and what it means.
func (l layout) status(code int, text string) string {
	return fmt.Sprintf("  %3d  ", code) + l.wrap(text, 7)
}

// prose lays out paragraphs, which are apart by an empty line, or by one that is indented and
// stays a line of its own. How a paragraph was broken into lines does not count.
func (l layout) prose(text string) string {
	var b strings.Builder
	var paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			b.WriteString(l.wrap(strings.Join(paragraph, " "), 0))
			paragraph = nil
		}
	}
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		switch {
		case line == "" || line[0] == ' ':
			flush()
			b.WriteString(l.hanging(line, hangs(line)))
		default:
			paragraph = append(paragraph, line)
		}
	}
	flush()
	return b.String()
}

// hangs is how far an indented line that is too long is indented where it goes on: below its
// second column if it has one.
func hangs(line string) int {
	text := strings.TrimLeft(line, " ")
	if _, second, ok := strings.Cut(text, "  "); ok {
		return len(line) - len(strings.TrimLeft(second, " "))
	}
	return len(line) - len(text) + 2
}

// code lays out command lines behind an indent. One that is too long goes on in the next line,
// as a shell would read it.
func (l layout) code(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		indent := "  "
		for len(indent)+len(line) > l.width {
			at := blankOutside(line, l.width-len(indent)-len(" \\"))
			if at < 0 {
				break
			}
			fmt.Fprintln(&b, indent+line[:at]+" \\")
			line, indent = line[at+1:], "      "
		}
		fmt.Fprintln(&b, indent+line)
	}
	return b.String()
}

// blankOutside is where the last blank of a command line is that stands no further than so
// and outside quotes and comments, -1 where there is none.
func blankOutside(line string, most int) int {
	last, quote := -1, byte(0)
	for i := 0; i < len(line) && i <= most; i++ {
		switch c := line[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '#' && i > 0 && line[i-1] == ' ':
			return last
		case c == ' ' && i > 0 && line[i-1] != ' ':
			last = i
		}
	}
	return last
}
