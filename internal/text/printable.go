package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/placectl/placectl/index"
)

// AppendPrintable appends s as it is when every character of it can be shown,
// else as a quoted Go string: what stands in a database must not steer the
// terminal.
func AppendPrintable(b []byte, s string) []byte {
	if IsPrintable(s) {
		return append(b, s...)
	}
	return strconv.AppendQuote(b, s)
}

// IsPrintable reports whether a terminal can show every character of s.
func IsPrintable(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= 0x7f {
			return isPrintableWide(s[i:])
		}
	}
	return true
}

func isPrintableWide(s string) bool {
	for i, c := range s {
		if !strconv.IsPrint(c) || c == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			return false
		}
	}
	return true
}

// Quoted returns a word of the user's in a message: bare when it is plain.
func Quoted(s string) string {
	if s == "" || strings.ContainsAny(s, " \"") || !IsPrintable(s) {
		return strconv.Quote(s)
	}
	return s
}

// Printable returns a message with only the characters escaped that cannot be
// shown; the words in it keep their form.
func Printable(s string) string {
	if IsPrintable(s) {
		return s
	}
	var b strings.Builder
	for i, c := range s {
		_, n := utf8.DecodeRuneInString(s[i:])
		if part := s[i : i+n]; IsPrintable(part) {
			b.WriteRune(c)
		} else {
			q := strconv.Quote(part)
			b.WriteString(q[1 : len(q)-1])
		}
	}
	return b.String()
}

// Plural returns a number of things: 1 job, 2 jobs.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// NotOneOf returns the error of a word that is none of those known. It names the likeliest.
func NotOneOf(word string, known []string) error {
	return fmt.Errorf("%s is not one of %s%s", Quoted(word), strings.Join(known, ", "), index.DidYouMean(word, known))
}

// ParseSwitch reads what may be attached to a flag that is on or off.
func ParseSwitch(value string) (bool, error) {
	on, err := strconv.ParseBool(value)
	if err != nil {
		return false, fmt.Errorf("takes no value, or true or false, not %q", value)
	}
	return on, nil
}
