package query

import "regexp"

// maxRegexp bounds regular expressions, in bytes.
const maxRegexp = 1000

// regexpMatcher finds out whether a text has something that a regular expression (RE2)
// matches. The expression of the last call is kept.
func (s *scope) regexpMatcher(at Expr) func(e *env, pattern, text string) bool {
	var last string
	var compiled *regexp.Regexp
	return func(e *env, pattern, text string) bool {
		if compiled == nil || pattern != last {
			if len(pattern) > maxRegexp {
				e.fail(&LimitError{"bytes in a regular expression", maxRegexp})
				return false
			}
			re, err := regexp.Compile(pattern)
			if err != nil {
				e.fail(&Error{s.c.text, at.Pos(), err.Error()})
				return false
			}
			last, compiled = pattern, re
		}
		return compiled.MatchString(text)
	}
}
