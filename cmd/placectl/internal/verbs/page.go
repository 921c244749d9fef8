package verbs

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/urfave/cli/v2"
)

// DefaultWidth is the width of help if the reader's width is unknown.
const DefaultWidth = 80

// layout breaks text into lines of a width.
type layout struct{ width int }

// page lays out a template of the cli package. The width is kept between 40 and 100 columns:
// longer lines are hard to read. A width of 0 is the default.
func page(template string, data any, width int) string {
	l := layout{min(max(cmp.Or(width, DefaultWidth), 40), 100)}
	var b strings.Builder
	cli.HelpPrinterCustom(&b, template, data, map[string]any{"wrap": l.wrap, "entry": l.entry, "prose": l.prose,
		"code": l.code, "status": l.status, "markdown": l.markdown})
	return b.String()
}

// wrap lays out a text whose first line begins where it stands, and indents the other lines.
func (l layout) wrap(text string, indent int) string {
	return strings.Join(output.Wrap(text, max(l.width-indent, 20)), "\n"+strings.Repeat(" ", indent)) + "\n"
}

// hanging lays out a line, and indents its continuation if it is too long.
func (l layout) hanging(line string, indent int) string {
	n := output.BreakAt([]byte(line), l.width)
	first := strings.TrimRight(line[:n], " ") + "\n"
	if rest := strings.TrimLeft(line[n:], " "); rest != "" {
		first += strings.Repeat(" ", indent) + l.wrap(rest, indent)
	}
	return first
}

// HelpLine formats a line of a list, with its explanation from a column on.
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

// status formats an exit status and its meaning.
func (l layout) status(code int, text string) string {
	return fmt.Sprintf("  %3d  ", code) + l.wrap(text, 7)
}

// prose lays out paragraphs. An empty line separates them. An indented line stays a line of its
// own. Other line breaks within a paragraph do not count.
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

// hangs returns the indent at which an indented line goes on if it is too long: below its second
// column if it has one.
func hangs(line string) int {
	text := strings.TrimLeft(line, " ")
	if _, second, ok := strings.Cut(text, "  "); ok {
		return len(line) - len(strings.TrimLeft(second, " "))
	}
	return len(line) - len(text) + 2
}

// code lays out command lines with an indent. A line that is too long continues on the next, as a
// shell would read it.
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

// blankOutside returns the position, at most most, of the last blank of a command
// line, outside quotes and comments, or -1 if there is none.
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
