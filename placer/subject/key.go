package subject

import (
	"slices"
	"strings"

	"github.com/placectl/placectl/placer/syntax"
)

// Key says which jobs a rule is for: those that have all its subjects; without subjects all jobs. The subjects are
// in the order of their kinds, each kind once.
type Key []Subject

const everyJob = "all"

// ParseKey reads a key: all, or subjects joined by commas, in any order. Their names are valid, Any, or empty.
// The error is a *syntax.Error.
func (ks Kinds) ParseKey(text string) (key Key, err error) {
	if text == everyJob {
		return nil, nil
	}
	for p := syntax.New(nil, "subject", text); ; p.At++ {
		at := p.At
		s, _, err := ks.Read(&p)
		switch {
		case err != nil:
			return nil, err
		case slices.ContainsFunc(key, func(o Subject) bool { return o.Kind == s.Kind }):
			return nil, p.Fail(at, "two of the kind %s", s.Kind)
		case s.Name == "" || s.Name == Any:
		default:
			if err := ValidName(s.Name); err != nil {
				return nil, p.FailAs(at, err)
			}
		}
		if key = append(key, s); p.At == p.End {
			slices.SortFunc(key, func(a, b Subject) int { return int(a.Kind) - int(b.Kind) })
			return key, nil
		}
	}
}

// String returns the key as ParseKey reads it.
func (k Key) String() string {
	if len(k) == 0 {
		return everyJob
	}
	words := make([]string, len(k))
	for i, s := range k {
		words[i] = s.String()
	}
	return strings.Join(words, ",")
}
