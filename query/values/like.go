package values

import (
	"strings"
	"unicode/utf8"
)

// Pattern matching. LIKE and GLOB go through the text once for each place where the previous
// wildcard may end. So a match costs at most the pattern's length times the text's, however
// many wildcards there are.

// MaxPattern limits patterns, in bytes.
const MaxPattern = 50000

// NoEscape stands for LIKE without ESCAPE.
const NoEscape = rune(-1)

// Like reports whether a text is LIKE a pattern.
func Like(pattern, text string) bool { return LikeEscape(pattern, text, NoEscape) }

// LikeEscape matches with % and _, and ignores the case of ASCII letters.
func LikeEscape(pattern, text string, escape rune) bool {
	p, t := 0, 0
	backP, backT := -1, 0 // behind the last %, and where it last ended
	for t < len(text) {
		if p < len(pattern) {
			c, n := utf8.DecodeRuneInString(pattern[p:])
			switch {
			case c == escape && p+n < len(pattern):
				e, m := utf8.DecodeRuneInString(pattern[p+n:])
				if r, w := utf8.DecodeRuneInString(text[t:]); fold(e) == fold(r) {
					p, t = p+n+m, t+w
					continue
				}
			case c == escape: // nothing follows the escape character, so nothing matches
			case c == '%':
				p += n
				backP, backT = p, t
				continue
			default:
				if r, w := utf8.DecodeRuneInString(text[t:]); c == '_' || fold(c) == fold(r) {
					p, t = p+n, t+w
					continue
				}
			}
		}
		if backP < 0 {
			return false
		}
		_, w := utf8.DecodeRuneInString(text[backT:])
		backT += w
		p, t = backP, backT
	}
	for p < len(pattern) && pattern[p] == '%' && escape != '%' {
		p++
	}
	return p == len(pattern)
}

func fold(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

// Glob matches with *, ? and [sets]. Case matters.
func Glob(pattern, text string) bool {
	p, t := 0, 0
	backP, backT := -1, 0
	for t < len(text) {
		if p < len(pattern) {
			c, n := utf8.DecodeRuneInString(pattern[p:])
			r, w := utf8.DecodeRuneInString(text[t:])
			switch {
			case c == '*':
				p += n
				backP, backT = p, t
				continue
			case c == '[':
				if end, ok := globSet(pattern[p:], r); ok {
					p, t = p+end, t+w
					continue
				}
			case c == '?' || c == r:
				p, t = p+n, t+w
				continue
			}
		}
		if backP < 0 {
			return false
		}
		_, w := utf8.DecodeRuneInString(text[backT:])
		backT += w
		p, t = backP, backT
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// globSet matches a set such as [a-z] or [^0-9] at the front of a pattern. It returns where the set
// ends, and whether r is in it. A set that is not closed matches nothing.
func globSet(pattern string, r rune) (end int, in bool) {
	i := 1
	invert := i < len(pattern) && pattern[i] == '^'
	if invert {
		i++
	}
	found := false
	first := true
	last := rune(-1)
	for i < len(pattern) {
		c, n := utf8.DecodeRuneInString(pattern[i:])
		i += n
		switch {
		case c == ']' && !first:
			return i, found != invert
		case c == '-' && last >= 0 && i < len(pattern) && pattern[i] != ']':
			hi, m := utf8.DecodeRuneInString(pattern[i:])
			i += m
			found = found || r >= last && r <= hi
			last = -1
		default:
			found = found || c == r
			last = c
		}
		first = false
	}
	return 0, false
}

// HasWord reports whether a list joined by commas contains a word.
func HasWord(list, word string) bool {
	for in := range strings.SplitSeq(list, ",") {
		if in == word {
			return true
		}
	}
	return false
}
