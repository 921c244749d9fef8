package text

import (
	"encoding/xml"
	"testing"

	"pgregory.net/rapid"
)

// An XML reader reads the text back, with U+FFFD for what XML cannot hold.
func TestMarkup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(),
			rapid.StringOf(rapid.RuneFrom([]rune("<>&'\"\x00\x01\x1f \t\n\r￾￿\U0010FFFF\x7f")))).Draw(t, "s")
		var want []rune
		for _, r := range s { // ill-formed UTF-8 reads as U+FFFD
			if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
				r = 0xFFFD
			}
			want = append(want, r)
		}
		var got string
		if err := xml.Unmarshal([]byte("<a>"+Markup(s)+"</a>"), &got); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if got != string(want) {
			t.Errorf("%q is read as %q", s, got)
		}
	})
}
