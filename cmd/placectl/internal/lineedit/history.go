package lineedit

import (
	"bufio"
	"io"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/bytejson"
)

const mostKept = 1000 // texts

// History are texts that were read, the oldest first. The zero value is empty.
type History struct{ texts []string }

// Len is how many there are.
func (h *History) Len() int { return len(h.texts) }

// At is the text so many before now, from 1 on.
func (h *History) At(back int) string { return h.texts[len(h.texts)-back] }

// Add adds a text as it is, unless it is blank or the same as the last.
func (h *History) Add(text string) {
	text = strings.TrimRight(text, " \t\n")
	if strings.TrimSpace(text) == "" || len(h.texts) > 0 && h.At(1) == text {
		return
	}
	h.texts = append(h.texts, text)
	if len(h.texts) > mostKept {
		h.texts = h.texts[len(h.texts)-mostKept:]
	}
}

// Load adds the texts of a file: a line each, in quotes as JSON has them. A line that is not
// in quotes is a text itself.
func (h *History) Load(r io.Reader) error {
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
		h.Add(text)
	}
	return in.Err()
}

// Save writes the texts for Load.
func (h *History) Save(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, text := range h.texts {
		line, err := bytejson.Marshal(text)
		if err != nil {
			return err
		}
		out.Write(append(line, '\n')) //nolint:errcheck // Flush tells
	}
	return out.Flush()
}
