package verbs

import (
	"strings"
	"testing"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/docs"
)

// TestTopics: pages of the documentation fit a terminal but for their code, and keep their words.
func TestTopics(t *testing.T) {
	for _, topic := range topics() {
		for _, width := range []int{60, 80, 100} {
			text := List[int](nil).Topic(topic, width)
			for line := range strings.Lines(text) {
				n := output.TextWidth(strings.TrimRight(line, "\n"))
				if code := strings.HasPrefix(line, "  "); n > width && !code {
					t.Errorf("help %s at %d columns has a line of %d: %s", topic, width, n, line)
				}
			}
			if words := strings.Fields(docs.Pages[topic]); len(text) < 3*len(words) {
				t.Errorf("help %s has %d bytes for %d words", topic, len(text), len(words))
			}
		}
	}
	got := layout{40}.markdown("# A [page](x.md)\n\nof **two** words\nand\n\n| what | why | how |\n|---|---|---|\n" +
		"| a | b | c |\n\n```console\n$ x   y\n```\n- one\n- two\n")
	want := "A page\n\nof two words and\n\n  what                why; how\n  a                   b; c\n\n  $ x   y\n" +
		"- one\n- two\n"
	if got != want {
		t.Errorf("a page is laid out as\n%s\nwant\n%s", got, want)
	}
}
