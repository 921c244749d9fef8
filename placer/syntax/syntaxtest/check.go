// Package syntaxtest checks what errors about texts say.
package syntaxtest

import (
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/placectl/placectl/placer/syntax"
)

// At sees that err is a syntax.Error about a place of the text in, which says want.
func At(t *testing.T, in string, err error, at int, want string) {
	t.Helper()
	var se *syntax.Error
	if !errors.As(err, &se) || !errors.Is(err, syntax.ErrRequest) {
		t.Errorf("%.60q: error %v, want a syntax.Error about %q", in, err, want)
		return
	}
	if se.Offset != at || !strings.Contains(se.Msg, want) {
		t.Errorf("%.60q: at %d: %s\nwant at %d: %s", in, se.Offset, se.Msg, at, want)
	}
}

// Printable sees that err is a syntax.Error, and that a terminal can show it.
func Printable(t *testing.T, err error) {
	t.Helper()
	var se *syntax.Error
	if !errors.As(err, &se) {
		t.Fatalf("%T: %v", err, err)
	}
	for _, text := range []string{se.Error(), se.Caret()} {
		for i, r := range text {
			if _, n := utf8.DecodeRuneInString(text[i:]); r != '\n' && !unicode.IsPrint(r) || r == utf8.RuneError &&
				n == 1 {
				t.Fatalf("not printable: %q", text)
			}
		}
	}
}
