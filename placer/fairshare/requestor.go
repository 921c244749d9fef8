package fairshare

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// A Matcher tells the class of a requestor. Any number of goroutines may ask it.
type Matcher struct {
	rules []rule
	other string
}

type rule struct {
	re    *regexp.Regexp
	class string
}

// Matcher compiles the requestor map. It fails with a *SettingError where Check does.
func (s *Settings) Matcher() (*Matcher, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	m := &Matcher{other: s.DefaultClass(), rules: make([]rule, 0, len(s.Map))}
	for i, mapping := range s.Map {
		re, err := mapping.compile(i)
		if err != nil {
			return nil, err
		}
		m.rules = append(m.rules, rule{re, mapping.Class})
	}
	return m, nil
}

// Class returns the class of the first mapping that matches, or the default class, and
// then matched is false. Without any classes it is "".
func (m *Matcher) Class(requestor string) (class string, matched bool) {
	for i := range m.rules {
		if m.rules[i].re.MatchString(requestor) {
			return m.rules[i].class, true
		}
	}
	return m.other, false
}

// compile reads the expression of the entry of a requestor map.
func (m Mapping) compile(entry int) (*regexp.Regexp, error) {
	refuse := func(pos int, why string) error {
		return &SettingError{What: "requestor map", Entry: entry, Text: m.Requestor, Pos: pos, Why: why}
	}
	if len(m.Requestor) > MaxRegexp {
		return nil, &SettingError{What: "requestor map", Entry: entry, Pos: -1,
			Why: fmt.Sprintf("an expression of %d bytes: expected at most %d", len(m.Requestor), MaxRegexp)}
	}
	if m.Requestor == "" {
		return nil, refuse(-1, "an empty expression: expected one, such as .* for everybody")
	}
	re, err := regexp.Compile(m.Requestor)
	var bad *syntax.Error
	switch {
	case err == nil:
		return re, nil
	case errors.As(err, &bad):
		return nil, refuse(position(m.Requestor, bad), bad.Code.String()+expected(bad.Code))
	}
	return nil, refuse(-1, err.Error())
}

// position is where the part of an expression is that an error names; -1 where the
// error is about the whole, or could mean several parts.
func position(text string, err *syntax.Error) int {
	switch err.Code {
	case syntax.ErrMissingParen, syntax.ErrLarge, syntax.ErrNestingDepth, syntax.ErrInternalError:
		return -1 // these name the whole expression
	case syntax.ErrTrailingBackslash:
		return len(text) - 1
	}
	at := strings.Index(text, err.Expr)
	if err.Expr == "" || strings.LastIndex(text, err.Expr) != at {
		return -1
	}
	return at
}

// expected is what would be right instead, where that is not plain.
func expected(code syntax.ErrorCode) string {
	switch code {
	case syntax.ErrInvalidPerlOp:
		return ": expected RE2, which has no lookaround and no backreferences"
	case syntax.ErrInvalidEscape:
		return `: expected one of RE2's, and \\ for a backslash`
	case syntax.ErrMissingRepeatArgument:
		return `: expected something in front of it, and .* for anything`
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen:
		return `: expected as many ( as ), and \( for the sign itself`
	case syntax.ErrMissingBracket:
		return `: expected a ] for each [, and \[ for the sign itself`
	}
	return ""
}
