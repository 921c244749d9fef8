package verbs

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
)

// DefaultWidth is how wide help is if the reader's width is unknown.
const DefaultWidth = 80

// Page is help that is being written, no wider than so many columns.
type Page struct {
	strings.Builder
	Width int
}

// NewPage begins a page; a width of 0 is the default one. Nothing is wrapped to less than
// 40 columns, and lines longer than 100 are not read.
func NewPage(width int) *Page {
	if width == 0 {
		width = DefaultWidth
	}
	return &Page{Width: min(max(width, 40), 100)}
}

// wrapped writes a text, the first line behind what stands there already, the others behind
// an indent of that width.
func (p *Page) wrapped(text string, indent int) {
	for rest := []byte(text); ; {
		n := output.BreakAt(rest, max(p.Width-indent, 20))
		p.WriteString(strings.TrimRight(string(rest[:n]), " ") + "\n")
		if rest = bytes.TrimLeft(rest[n:], " "); len(rest) == 0 {
			return
		}
		p.WriteString(strings.Repeat(" ", indent))
	}
}

// hanging writes a line, and behind an indent what of it is too long.
func (p *Page) hanging(line string, indent int) {
	n := output.BreakAt([]byte(line), p.Width)
	p.WriteString(strings.TrimRight(line[:n], " ") + "\n")
	if rest := strings.TrimLeft(line[n:], " "); rest != "" {
		p.WriteString(strings.Repeat(" ", indent))
		p.wrapped(rest, indent)
	}
}

// title begins a part of the page.
func (p *Page) title(s string) { p.WriteString("\n" + s + "\n") }

// Entry writes a line of a list: a label, and what it means, from a column on.
func (p *Page) Entry(label, text string, column int) {
	p.WriteString("  " + label)
	if pad := column - 2 - output.TextWidth(label); pad > 0 {
		p.WriteString(strings.Repeat(" ", pad))
	} else {
		p.WriteString("\n" + strings.Repeat(" ", column))
	}
	p.wrapped(text, column)
}

// prose writes paragraphs, which are apart by an empty line, or by one that is indented and
// stays a line of its own. How a paragraph was broken into lines does not count.
func (p *Page) prose(text string) {
	var paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			p.wrapped(strings.Join(paragraph, " "), 0)
			paragraph = nil
		}
	}
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		switch {
		case line == "" || line[0] == ' ':
			flush()
			p.hanging(line, hangs(line))
		default:
			paragraph = append(paragraph, line)
		}
	}
	flush()
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

// code writes command lines behind an indent. One that is too long goes on in the next line,
// as a shell would read it.
func (p *Page) code(text string) {
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		indent := "  "
		for len(indent)+len(line) > p.Width {
			at := blankOutside(line, p.Width-len(indent)-len(" \\"))
			if at < 0 {
				break
			}
			fmt.Fprintln(p, indent+line[:at]+" \\")
			line, indent = line[at+1:], "      "
		}
		fmt.Fprintln(p, indent+line)
	}
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
