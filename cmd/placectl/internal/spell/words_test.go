package spell

import "testing"

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{"placectl-demo.db": "placectl-demo.db", "my demo.db": "'my demo.db'", "a'b": `'a'\''b'`, "$HOME": "'$HOME'", "": "''", "2:ncpus=4": "2:ncpus=4"} {
		if got := ShellWord(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
