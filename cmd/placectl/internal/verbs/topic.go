package verbs

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/placectl/placectl/docs"
)

// exits is the topic of exit statuses, which has no page in docs.
const exits = "exit"

// topics returns the words after help that are no verbs.
func topics() []string { return append(slices.Sorted(maps.Keys(docs.Pages)), exits) }

// Topic explains something that is no verb: a page of the documentation, or the exit statuses.
func (l List[R]) Topic(name string, width int) string {
	if name == exits {
		return l.Page("EXIT STATUS\n"+Statuses, width)
	}
	return page("{{markdown .}}", docs.Pages[name], width)
}

// markdown lays out a page of the documentation for a terminal: paragraphs to the width, code indented, and tables
// as lists, with what their first columns name on the left.
func (l layout) markdown(text string) string {
	var b strings.Builder
	text = regexp.MustCompile(`\[([^]\n]*)\]\([^)\n]*\)|\*\*`).ReplaceAllString(text, "$1") // links, bold words
	var paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			b.WriteString(l.wrap(strings.Join(paragraph, " "), 0))
			paragraph = nil
		}
	}
	code := false
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		fence := strings.HasPrefix(line, "```")
		switch {
		case fence, line == "", line[0] == '#', line[0] == '|', code:
			flush()
		}
		switch {
		case fence:
			code = !code
		case code:
			b.WriteString("  " + line + "\n")
		case line == "":
			b.WriteString("\n")
		case line[0] == '#':
			b.WriteString(strings.TrimLeft(line, "# ") + "\n")
		case strings.Trim(line, "|- ") == "": // between the heads of columns and the rows
		case line[0] == '|':
			cells := strings.Split(strings.Trim(line, "| "), " | ")
			label := strings.TrimSuffix(l.wrap(cells[0], 2), "\n")
			b.WriteString(l.entry(label, strings.Join(cells[1:], "; "), 22))
		default:
			if strings.HasPrefix(line, "- ") {
				flush()
			}
			paragraph = append(paragraph, line)
		}
	}
	flush()
	return b.String()
}
