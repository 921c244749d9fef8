package functions

import (
	"regexp"

	"github.com/placectl/placectl/query/fault"
)

// maxRegexp bounds regular expressions, in bytes.
const maxRegexp = 1000

// Matcher finds out whether a text has something that a regular expression (RE2) matches. It
// keeps the expression of the last call.
type Matcher struct {
	last     string
	compiled *regexp.Regexp
}

// Match reports whether a text matches; the error is the expression's.
func (m *Matcher) Match(pattern, text string) (bool, error) {
	if m.compiled == nil || pattern != m.last {
		if len(pattern) > maxRegexp {
			return false, &fault.LimitError{What: "bytes in a regular expression", Limit: maxRegexp}
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			return false, err
		}
		m.last, m.compiled = pattern, re
	}
	return m.compiled.MatchString(text), nil
}
