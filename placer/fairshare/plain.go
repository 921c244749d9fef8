package fairshare

import (
	"regexp/syntax"
	"strings"
)

// Most expressions in a requestor map are plain texts: ci, ^ops-, -nightly$, ^root$, or .* for everyone.
// Finding a text takes a tenth of the time of a regular expression.

// plain is an expression for a text, anywhere or at an end.
type plain struct {
	text       string
	begin, end bool // it must stand at the beginning, at the end
}

func (p *plain) matches(s string) bool {
	switch {
	case p.begin && p.end:
		return s == p.text
	case p.begin:
		return strings.HasPrefix(s, p.text)
	case p.end:
		return strings.HasSuffix(s, p.text)
	}
	return strings.Contains(s, p.text)
}

// plainOf returns an expression as a plain text, or nil if it is more.
func plainOf(expr string) *plain {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	parts := []*syntax.Regexp{re.Simplify()}
	if parts[0].Op == syntax.OpConcat {
		parts = parts[0].Sub
	}
	var p plain
	if len(parts) > 0 && parts[0].Op == syntax.OpBeginText {
		p.begin, parts = true, parts[1:]
	}
	if n := len(parts); n > 0 && parts[n-1].Op == syntax.OpEndText {
		p.end, parts = true, parts[:n-1]
	}
	// A .* changes nothing where a match may begin or end anywhere.
	if len(parts) > 0 && !p.begin && anything(parts[0]) {
		parts = parts[1:]
	}
	if n := len(parts); n > 0 && !p.end && anything(parts[n-1]) {
		parts = parts[:n-1]
	}
	switch {
	case len(parts) == 0 || len(parts) == 1 && parts[0].Op == syntax.OpEmptyMatch:
		return &p
	case len(parts) == 1 && parts[0].Op == syntax.OpLiteral && parts[0].Flags&syntax.FoldCase == 0:
		p.text = string(parts[0].Rune)
		// In a text that is not UTF-8 a regular expression finds U+FFFD, and a search does not.
		if !strings.ContainsRune(p.text, '\uFFFD') {
			return &p
		}
	}
	return nil
}

// anything reports whether an expression is .* or the like, which also matches an empty text.
func anything(re *syntax.Regexp) bool {
	return re.Op == syntax.OpStar && (re.Sub[0].Op == syntax.OpAnyCharNotNL || re.Sub[0].Op == syntax.OpAnyChar)
}
