package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// block is a piece of a page that readers paste.
type block struct {
	page, section string // section is "" before the first heading that begins one
	line          int
	lang          string // as of the fence, "sh" for indented lines
	code          string
	prints        string // the text block behind it
	not           string // why it is not pasted, as the comment before it says
}

var notPasted = regexp.MustCompile(`^<!-- not pasted: (.*) -->$`)

// readBlocks returns the blocks of a page. Headings of the given level begin sections.
func readBlocks(t *testing.T, page, heading string) (blocks []block) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	section, not, before := "", "", ""
	var now *block
	lines := strings.SplitAfter(string(text), "\n")
	for i, line := range lines {
		bare := strings.TrimRight(line, "\n")
		fence, isFence := strings.CutPrefix(bare, "```")
		switch indented, isIndented := strings.CutPrefix(line, "    "); {
		case now != nil && now.lang != "" && isFence: // it ends
			if n := len(blocks); now.lang == "text" && n > 0 && before != "" && blocks[n-1].lang != "console" {
				blocks[n-1].prints = now.code
			} else {
				blocks = append(blocks, *now)
			}
			now, before = nil, "block"
			continue
		case now != nil && (now.lang != "" || isIndented):
			if now.lang == "" {
				line = indented
			}
			now.code += line
			continue
		case now != nil: // indented lines end with the first that is not
			now.lang = "sh"
			blocks, now, before = append(blocks, *now), nil, ""
		}
		switch indented, isIndented := strings.CutPrefix(line, "    "); {
		case isFence:
			if fence == "" {
				fence = "none"
			}
			now, not = &block{page: filepath.Base(page), section: section, line: i + 1, lang: fence, not: not}, ""
		case isIndented && i > 0 && strings.TrimSpace(lines[i-1]) == "":
			now, not = &block{page: filepath.Base(page), section: section, line: i + 1, code: indented, not: not}, ""
		case notPasted.MatchString(bare):
			not = notPasted.FindStringSubmatch(bare)[1]
		case strings.HasPrefix(bare, heading+" "):
			section, before = strings.TrimPrefix(bare, heading+" "), ""
		case bare != "":
			before = ""
		}
	}
	return blocks
}
