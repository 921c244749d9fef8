package sqlshell

import (
	"bufio"
	"io"
	"strings"

	"github.com/placectl/placectl/internal/bytejson"
)

const mostKept = 1000 // texts in the file

// breakMark stands for a line break while a text of several lines is edited as one.
const breakMark = "⏎"

// history holds the texts that were read, oldest first. It is the term.History of the editor.
type history struct{ texts []string }

// Add does nothing. The editor calls it for each line, but keep stores whole texts.
func (h *history) Add(string) {}

// Len returns the number of texts.
func (h *history) Len() int { return len(h.texts) }

// At returns a text as a line. 0 is the newest.
func (h *history) At(back int) string {
	return strings.ReplaceAll(h.texts[len(h.texts)-1-back], "\n", breakMark)
}

// keep adds a text, unless it is blank or equals the last one.
func (h *history) keep(text string) {
	text = strings.TrimRight(text, " \t\n")
	if strings.TrimSpace(text) == "" || len(h.texts) > 0 && h.texts[len(h.texts)-1] == text {
		return
	}
	h.texts = append(h.texts, text)
	h.texts = h.texts[max(len(h.texts)-mostKept, 0):]
}

// load adds the texts of a file, each on a line as a JSON string. A line without quotes is itself a
// text.
func (h *history) load(r io.Reader) error {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<21)
	for in.Scan() {
		text := in.Text()
		if strings.HasPrefix(text, `"`) {
			var quoted string
			if bytejson.Unmarshal([]byte(text), &quoted) == nil {
				text = quoted
			}
		}
		h.keep(text)
	}
	return in.Err()
}

// save writes the texts for load.
func (h *history) save(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, text := range h.texts {
		line, err := bytejson.Marshal(text)
		if err != nil {
			return err
		}
		out.Write(append(line, '\n')) //nolint:errcheck // Flush reports it
	}
	return out.Flush()
}
