package index

import (
	"fmt"
	"strings"
)

// Suggest returns the candidate that s was most likely meant to be, or "" if none is similar.
// It is the one with the smallest edit distance (Levenshtein, where two exchanged letters
// count as one edit), at most a third of the longer word, ignoring case and -_.
func Suggest(s string, candidates []string) string {
	best, bestDist := "", -1
	want := foldWord(s)
	for _, c := range candidates {
		have := foldWord(c)
		d := editDistance(want, have)
		if d <= max(len(want), len(have))/3 && (bestDist < 0 || d < bestDist) {
			best, bestDist = c, d
		}
	}
	return best
}

// DidYouMean returns the end of an error's text: "; did you mean "x"?", or "".
func DidYouMean(s string, candidates []string) string {
	if c := Suggest(s, candidates); c != "" {
		return "; did you mean " + c + "?"
	}
	return ""
}

// UnknownResource is the error for a name that no resource has. Hint is what DidYouMean
// returned.
type UnknownResource struct{ Name, Hint string }

// NoResource returns the error for an unknown name, with a hint if a known name is similar.
func NoResource(name string, known []string) error {
	return &UnknownResource{Name: name, Hint: DidYouMean(name, known)}
}

func (e *UnknownResource) Error() string { return fmt.Sprintf("no resource %q%s", e.Name, e.Hint) }

func foldWord(s string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(s))
}

func editDistance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return max(len(a), len(b))
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 0
			if a[i-1] != b[j-1] {
				cost = 1
			}
			row[j] = min(last[j-1]+cost, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
