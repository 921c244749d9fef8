package text

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{"placectl-demo.db": "placectl-demo.db", "my demo.db": "'my demo.db'",
		"a'b": `'a'\''b'`, "$HOME": "'$HOME'", "": "''", "2:ncpus=4": "2:ncpus=4"} {
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
	for line, want := range map[string]string{"a 'b": "the quote at column 3 is not closed",
		`a\`: "a backslash is the last character"} {
		if words, err := Words(line); words != nil || err == nil || err.Error() != want {
			t.Errorf("%s: %v, %v", line, words, err)
		}
	}
}

// A shell reads the words that ShellLine writes as they were.
func TestShellLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("ab=~'\"\\$`!#*? \t\n;&|<>()[]{}é-\x7f")), 0, 6,
			-1), 1, 5).Draw(t, "words")
		out, err := exec.Command("sh", "-c", `printf '%s\0' `+ShellLine(words)).Output()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Join(words, "\x00")+"\x00", string(out)); diff != "" {
			t.Error(ShellLine(words), diff)
		}
	})
}
