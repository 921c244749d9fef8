package query

import (
	"regexp"
)

// maxRegexp bounds regular expressions, in bytes.
const maxRegexp = 1000

// matcher finds out whether a text has something that a regular expression (RE2) matches. It
// keeps the expression of the last call.
type matcher struct {
	last     string
	compiled *regexp.Regexp
}

// match reports whether a text matches; the error is the expression's.
func (m *matcher) match(pattern, text string) (bool, error) {
	if m.compiled == nil || pattern != m.last {
		if len(pattern) > maxRegexp {
			return false, &LimitError{"bytes in a regular expression", maxRegexp}
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			return false, err
		}
		m.last, m.compiled = pattern, re
	}
	return m.compiled.MatchString(text), nil
}
