package tables

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/query/values"
)

// EventWords lists the names of events.
var EventWords = []string{"submit", "hold", "unhold", "alter", "queue", "plan", "unplan", "never", "late", "start",
	"launch", "unreached", "claim", "leftover", "signal", "again", "requeue", "hook",
	"ending", "preempt", "note", "end", "fail", "cancel", "promise", "node", "device", "reservation"}

// wordColumn returns a column with one of a few words, NULL for none. Comparing it with
// another word is refused.
func wordColumn[T any](name, doc string, words []string, get func(*T) string) getter[T] {
	g := textColumn(name, doc, get)
	g.Refuse = oneOf(name, words)
	return g
}

// oneOf returns a function that refuses all but some words.
func oneOf(column string, words []string) func(string) error {
	return func(text string) error {
		if slices.Contains(words, text) {
			return nil
		}
		hint := index.Suggest(text, words)
		if hint != "" {
			hint = "; did you mean '" + hint + "'?"
		}
		return fmt.Errorf("%s is never %s: it is one of %s%s", column, values.String(text).Literal(),
			strings.Join(words, ", "), hint)
	}
}

// words lists the names of the numbers from..to.
func words[T interface {
	~uint8
	String() string
}](from, to T) []string {
	var out []string
	for n := from; n <= to; n++ {
		out = append(out, n.String())
	}
	return out
}

func jobStateWords() []string {
	var out []string
	for _, s := range row.AllJobStates() {
		out = append(out, s.String())
	}
	return out
}

// nodeState refuses words that are not node states. It has a separate message for the word
// that only buckets use.
func nodeState(state string) error {
	if strings.EqualFold(state, "later") {
		return fmt.Errorf("no node is 'later': it is 'free', and free_until is the next start on it (free_until " +
			"IS NOT NULL)")
	}
	return oneOf("state", words(index.NodeFree, index.NodeStates-1))(state)
}
