package limits

import (
	"github.com/placectl/placectl/placer/subject"
)

// Rule is how much the jobs of a key may have at once. With *, it limits each name separately.
type Rule struct {
	Key     subject.Key
	Measure Measure
	Soft    bool  // a job beyond it comes after all others
	Max     int64 // may be reached, not exceeded
}

// String returns the rule as reasons name it: user=* running. It identifies the rule.
func (r *Rule) String() string {
	text := r.Key.String() + " " + r.Measure.String()
	if r.Soft {
		text += softWord
	}
	return text
}

// softWord ends the name of a soft rule.
const softWord = " soft"

// replaces reports whether a rule has all the names of another rule of the same kinds, and
// more.
func (r *Rule) replaces(o *Rule) bool {
	more := false
	for i, p := range o.Key {
		switch q := r.Key[i]; {
		case p.Name == subject.Any:
			more = more || q.Name != subject.Any
		case p.Name != q.Name:
			return false
		}
	}
	return more
}
