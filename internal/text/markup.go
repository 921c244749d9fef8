package text

import (
	"html"
	"strings"
	"unicode/utf8"
)

// Markup writes text as SVG and HTML take it; what XML cannot hold becomes U+FFFD
// (Extensible Markup Language 1.0, "Characters"). A carriage return is written as a reference:
// readers take a plain one for the end of a line.
func Markup(s string) string {
	return strings.ReplaceAll(html.EscapeString(strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r', r >= ' ' && r < 0xFFFE, r > 0xFFFF:
			return r
		}
		return utf8.RuneError
	}, s)), "\r", "&#13;")
}
