package spell

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{"placectl-demo.db": "placectl-demo.db", "my demo.db": "'my demo.db'", "a'b": `'a'\''b'`, "$HOME": "'$HOME'", "": "''", "2:ncpus=4": "2:ncpus=4"} {
		if got := ShellWord(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	for line, want := range map[string][]Word{
		"":                 nil,
		" a  'b c'd # e":   {{"a", 1, -1}, {"b cd", 4, -1}},
		"a#b \"\" ":        {{"a#b", 0, -1}, {"", 4, -1}},
		"'$a' \\$b x$c`d`": {{"$a", 0, -1}, {"$b", 5, -1}, {"x$c`d`", 9, 10}},
		"'a'\"b$c\" \"`\"": {{"ab$c", 0, 5}, {"`", 9, 10}},
		`"a\"b"c`:          {{`a"bc`, 0, -1}},
	} {
		got, err := Words(line)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", line, err, diff)
		}
	}
	for line, want := range map[string]string{"a 'b": "the quote at column 3 is not closed", `a\`: "there is nothing behind the backslash at its end"} {
		if words, err := Words(line); words != nil || err == nil || err.Error() != want {
			t.Errorf("%s: %v, %v", line, words, err)
		}
	}
}
