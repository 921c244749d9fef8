package functions

import (
	"regexp"

	"github.com/placectl/placectl/query/fault"
)

// maxRegexp limits regular expressions, in bytes.
const maxRegexp = 1000

// Matcher reports whether a regular expression (RE2) matches part of a text. It keeps the last
// expression compiled.
type Matcher struct {
	last     string
	compiled *regexp.Regexp
}

// Match reports whether a text matches. An error is about the expression.
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
