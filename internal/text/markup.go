package text

import (
	"html"
	"strings"
	"unicode/utf8"
)

// Markup escapes text for SVG and HTML; what XML cannot hold becomes U+FFFD (Extensible Markup
// Language 1.0, "Characters"). It writes a carriage return as a reference, because readers
// treat a plain one as the end of a line.
func Markup(s string) string {
	return strings.ReplaceAll(html.EscapeString(strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r', r >= ' ' && r < 0xFFFE, r > 0xFFFF:
			return r
		}
		return utf8.RuneError
	}, s)), "\r", "&#13;")
}
