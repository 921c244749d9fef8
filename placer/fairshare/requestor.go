package fairshare

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"sort"
	"strings"
)

// A Matcher finds the class of a requestor. It is safe for concurrent use.
type Matcher struct {
	rules []rule
	other string
}

type rule struct {
	re    *regexp.Regexp
	class string
}

// Matcher compiles the requestor map. It fails with a *SettingError if Check does.
func (s *Settings) Matcher() (*Matcher, error) {
	if err := s.checkRest(); err != nil {
		return nil, err
	}
	if len(s.Map) > MaxMappings {
		return nil, &SettingError{What: "requestor map", Entry: MaxMappings, Pos: -1,
			Why: fmt.Sprintf("there are %d entries: expected at most %d", len(s.Map), MaxMappings)}
	}
	m := &Matcher{other: s.DefaultClass(), rules: make([]rule, len(s.Map))}
	for i, mapping := range s.Map {
		if !s.has(mapping.Class) {
			return nil, &SettingError{What: "requestor map", Entry: i, Text: mapping.Class, Pos: -1, Why: s.missing()}
		}
		re, err := mapping.compile(i)
		if err != nil {
			return nil, err
		}
		m.rules[i] = rule{re, mapping.Class}
	}
	return m, nil
}

// Class returns the class of the first mapping that matches. If none does, it returns the default class,
// and matched is false; the tasks of such a requestor start and stop like all others of the class.
// Without classes it is "".
func (m *Matcher) Class(requestor string) (class string, matched bool) {
	for i := range m.rules {
		if m.rules[i].re.MatchString(requestor) {
			return m.rules[i].class, true
		}
	}
	return m.other, false
}

// compile compiles the expression of an entry of the requestor map.
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
	if bad := (*syntax.Error)(nil); errors.As(err, &bad) {
		return nil, refuse(position(m.Requestor, bad), bad.Code.String()+expected(bad.Code))
	}
	return re, err
}

// position returns the byte of an expression where an error begins; -1 if the error is about the whole. The
// parser goes from left to right but does not say how far it came. So position looks for the shortest
// beginning of the expression that has the same error.
func position(text string, bad *syntax.Error) int {
	switch bad.Code {
	case syntax.ErrMissingParen:
		return len(text)
	case syntax.ErrTrailingBackslash:
		return len(text) - 1
	case syntax.ErrLarge, syntax.ErrNestingDepth, syntax.ErrInternalError:
		return -1
	}
	whole := bad.Code == syntax.ErrUnexpectedParen // its Expr is the whole text
	end := 1 + sort.Search(len(text)-1, func(n int) bool {
		_, err := syntax.Parse(text[:n+1], syntax.Perl)
		var e *syntax.Error
		return errors.As(err, &e) && e.Code == bad.Code && (whole || e.Expr == bad.Expr)
	})
	switch {
	case whole:
		return end - 1
	case strings.HasSuffix(text[:end], bad.Expr):
		return end - len(bad.Expr)
	}
	return -1
}

// expected says what would be right, if that is not obvious.
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
