package output

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// AppendBlanks appends n blanks, none when n is negative.
func AppendBlanks(b []byte, n int) []byte {
	const blanks = "                                "
	for ; n > len(blanks); n -= len(blanks) {
		b = append(b, blanks...)
	}
	return append(b, blanks[:max(n, 0)]...)
}

// BreakAt returns how much of s goes on a line of the given width: up to the last blank or comma
// unless that is too early, otherwise as much as fits.
func BreakAt(s []byte, width int) int {
	used, soft := 0, 0
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRune(s[i:])
		if used += RuneWidth(c); used > width && i > 0 {
			if soft > width/3 {
				return soft
			}
			return i
		}
		i += n
		if bytes.IndexByte([]byte(" ,+|"), byte(c)) >= 0 && c < utf8.RuneSelf {
			soft = i
		}
	}
	return len(s)
}

// Wrap breaks a text into lines of the given width, without blanks around the breaks.
func Wrap(s string, width int) (lines []string) {
	for {
		n := BreakAt([]byte(s), width)
		lines = append(lines, strings.TrimRight(s[:n], " "))
		if s = strings.TrimLeft(s[n:], " "); s == "" {
			return lines
		}
	}
}

// Cut appends as much of s as fits into width columns of a terminal. As in sacct, a plus sign at the
// end shows that something was cut.
func Cut[T string | []byte](b []byte, s T, width int) []byte {
	if TextWidth(s) <= width {
		return append(b, s...)
	}
	for _, c := range string(s) {
		if width -= RuneWidth(c); width < 1 {
			break
		}
		b = utf8.AppendRune(b, c)
	}
	return append(b, '+')
}

// TextWidth returns how many columns of a terminal s takes.
func TextWidth[T string | []byte](s T) int {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			w := i
			for _, c := range string(s[i:]) {
				w += RuneWidth(c)
			}
			return w
		}
	}
	return len(s)
}

// RuneWidth returns how many columns of a terminal c takes. It covers what matters for names:
// combining marks take no column, East Asian characters and pictures take two.
func RuneWidth(c rune) int {
	switch {
	case c < 0x300:
		return 1
	case unicode.In(c, unicode.Mn, unicode.Me):
		return 0
	case c >= 0x1100 && c <= 0x115f, c >= 0x2e80 && c <= 0xa4cf, c >= 0xac00 && c <= 0xd7a3,
		c >= 0xf900 && c <= 0xfaff, c >= 0xfe30 && c <= 0xfe6f, c >= 0xff00 && c <= 0xff60,
		c >= 0xffe0 && c <= 0xffe6, c >= 0x1f300 && c <= 0x1faff, c >= 0x20000 && c <= 0x3fffd:
		return 2
	}
	return 1
}

// EndLine drops the blanks at the end of a line, and ends it.
func EndLine(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return append(b, '\n')
}
