package lineedit

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
)

const mostListed = 200 // candidates

// complete makes the word before the cursor as long as all candidates have it in common,
// and lists them where that is no longer than it was.
func (e *Editor) complete() {
	if e.Complete == nil {
		return
	}
	text := e.line.String()
	pos := len(string(e.line.text[:e.line.at]))
	head, found, tail := e.Complete(text, pos)
	if len(found) == 0 {
		return
	}
	common := found[0]
	for _, f := range found[1:] {
		for !strings.HasPrefix(strings.ToLower(f), strings.ToLower(common)) {
			common = common[:len(common)-1]
		}
	}
	if word := text[len(head):pos]; len(common) > len(word) || len(found) == 1 {
		e.line.set(head + common + tail)
		e.line.at = len([]rune(head + common))
		return
	}
	width, height := e.term.Size()
	if width <= 0 {
		width = 80
	}
	e.below = list(found, width, max(height-2, 1))
}

// list puts candidates into columns, and says how many there is no room for.
func list(found []string, width, height int) []string {
	wide := 0
	for _, f := range found {
		wide = max(wide, output.TextWidth(f)+2)
	}
	across := max(width/wide, 1)
	shown := min(len(found), mostListed, max(height-1, 1)*across)
	var rows []string
	for i := 0; i < shown; i += across {
		var b strings.Builder
		for _, f := range found[i:min(i+across, shown)] {
			b.WriteString(f + strings.Repeat(" ", wide-output.TextWidth(f)))
		}
		rows = append(rows, clip(strings.TrimRight(b.String(), " "), width))
	}
	if shown < len(found) {
		rows = append(rows, clip(fmt.Sprintf("and %d more", len(found)-shown), width))
	}
	return rows
}
