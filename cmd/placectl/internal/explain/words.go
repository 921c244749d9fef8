package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// at formats an instant as people say it: the time of day, with the day unless it is today, and with
// seconds only if there are any. Programs get RFC 3339.
func (p *page) at(t int64) string {
	if !p.Format.Traits().People {
		return string(text.AppendRFC3339(nil, t))
	}
	at, today := time.Unix(t, 0).In(p.Zone), time.Unix(p.now, 0).In(p.Zone)
	form := "15:04"
	if at.Second() != 0 {
		form = time.TimeOnly
	}
	if y, m, d := at.Date(); y != today.Year() || m != today.Month() || d != today.Day() {
		form = time.DateOnly + " " + form
	}
	return at.Format(form)
}

// someOf joins the first few of many words.
func someOf(words []string) string {
	const few = 4
	if len(words) > few+1 {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:few], ", "), len(words)-few)
	}
	return strings.Join(words, ", ")
}

// named returns the names of nodes.
func (p *page) named(numbers ...uint32) []string {
	names, err := p.names.Names(numbers)
	p.failed(err)
	return names
}

// name returns the name of a node.
func (p *page) name(number uint32) string { return strings.Join(p.named(number), "") }

// nodeList returns a folded list of nodes. Of a long list it returns the beginning, and how many more
// there are.
func (p *page) nodeList(numbers []uint32) string {
	var once []uint32
	seen := make(map[uint32]bool)
	for _, n := range numbers {
		if !seen[n] {
			seen[n] = true
			once = append(once, n)
		}
	}
	names := p.named(once...)
	folded := index.FoldNodeList(names)
	if len(folded) <= shownNames {
		return folded
	}
	items, err := index.SplitNodeList(folded)
	if err != nil {
		return folded
	}
	shown, length := 0, 0
	for shown < len(items) && (shown == 0 || length+len(items[shown]) <= shownNames) {
		length += len(items[shown]) + 1
		shown++
	}
	first := strings.Join(items[:shown], ",")
	if in, err := index.ExpandNodeList(first); err == nil && len(in) < len(names) {
		return fmt.Sprintf("%s and %d more", first, len(names)-len(in))
	}
	return folded
}

// withReason returns a word with its reason, if known.
func withReason(word, why string) string {
	if word == "" || why == "" {
		return word
	}
	return word + ": " + why
}
