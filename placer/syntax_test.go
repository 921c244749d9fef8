package placer

import (
	"strings"
	"testing"

	"github.com/placectl/placectl/placer/syntax"
)

func TestSyntaxError(t *testing.T) {
	defs := testDefs(t)
	for _, c := range []struct{ in, text, caret string }{
		{"2:ncpu=4",
			`select "2:ncpu=4": at character 3: no resource "ncpu"; did you mean ncpus?`,
			"2:ncpu=4\n  ^"},
		{"2:ncpus=", // something is missing at the end
			`select "2:ncpus=": at character 9: ncpus needs a value`,
			"2:ncpus=\n        ^"},
		{"1:color=grün:x=1", // characters, not bytes
			`select "1:color=grün:x=1": at character 14: no resource "x"`,
			"1:color=grün:x=1\n             ^"},
		{"\x1b[2J", // no control sequence reaches a terminal
			`select "\x1b[2J": at character 1: expected a resource such as ncpus=4`,
			"\\x1b[2J\n^"},
		{"1:\xffx=1",
			`select "1:\xffx=1": at character 3: expected a resource such as ncpus=4`,
			"1:\\xffx=1\n  ^"},
	} {
		_, err := ParseSelect(defs, c.in)
		se, ok := err.(*syntax.Error)
		if !ok {
			t.Fatalf("%q: %v", c.in, err)
		}
		if se.Error() != c.text {
			t.Errorf("%s\nwant %s", se.Error(), c.text)
		}
		if se.Caret() != c.caret {
			t.Errorf("\n%s\nwant\n%s", se.Caret(), c.caret)
		}
	}
}

// A long text is only shown around the error, and cut between characters.
func TestSyntaxErrorLong(t *testing.T) {
	defs := testDefs(t)
	_, err := ParseSelect(defs, strings.Repeat("1:color=ü+", 200)+"1:y=2+"+strings.Repeat("1:color=ü+", 200))
	se := err.(*syntax.Error)
	if len(se.Error()) > 300 || !strings.Contains(se.Error(), `at character 2003: no resource "y"`) {
		t.Error(se)
	}
	text, caret, _ := strings.Cut(se.Caret(), "\n")
	if strings.Contains(text, `\x`) || []rune(text)[len(caret)-1] != 'y' {
		t.Errorf("\n%s", se.Caret())
	}
	_, err = ParseSelect(defs, "1:"+strings.Repeat("z", 5000)+"=1")
	if len(err.Error()) > 1000 {
		t.Errorf("%d bytes of error", len(err.Error()))
	}
}
