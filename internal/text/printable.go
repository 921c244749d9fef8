package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/placectl/placectl/index"
)

// AppendPrintable appends s as it is if every character of it can be shown, or else as a
// quoted Go string. Text from a database must not control the terminal.
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

// Quoted returns a user's word for a message: without quotes if it is plain.
func Quoted(s string) string {
	if s == "" || strings.ContainsAny(s, " \"") || !IsPrintable(s) {
		return strconv.Quote(s)
	}
	return s
}

// Printable returns a message in which only the characters are escaped that cannot be shown;
// its words stay as they are.
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

// NotOneOf returns the error for a word that is not one of those known. It names the most
// similar one.
func NotOneOf(word string, known []string) error {
	return fmt.Errorf("%s is not one of %s%s", Quoted(word), strings.Join(known, ", "), index.DidYouMean(word, known))
}

// ParseSwitch reads the value that may be attached to a flag which is on or off.
func ParseSwitch(value string) (bool, error) {
	on, err := strconv.ParseBool(value)
	if err != nil {
		return false, fmt.Errorf("takes no value, or true or false, not %q", value)
	}
	return on, nil
}
