package joblog

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// TestLog writes the output of attempts into a file in pieces, and reads it meanwhile. Everything is read
// once. For one attempt it is all that this wrote, and nothing of others. For the last lines it is as many
// as exist.
func TestLog(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(dir, "out")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		text := rapid.Custom(func(t *rapid.T) string {
			word := rapid.SampledFrom([]string{"a", "\n", "line\n", "placectl: job 1", "placectl: ", "p", "é"})
			s := strings.Join(rapid.SliceOfN(word, 0, 6).Draw(t, "words"), "")
			if rapid.IntRange(0, 20).Draw(t, "long") == 0 {
				s += strings.Repeat("x", blockSize-rapid.IntRange(0, 40).Draw(t, "short of"))
			}
			return s
		})
		attempts := rapid.SliceOfN(text, 1, 4).Draw(t, "attempts")
		whole := ""
		for i, s := range attempts {
			if i > 0 {
				whole += Header(1, i+1)
			}
			whole += s
		}
		one := rapid.IntRange(0, len(attempts)).Draw(t, "attempt")
		want := whole
		if one > 0 {
			want = attempts[one-1]
		}
		begin := len(whole)
		if rapid.Bool().Draw(t, "while it is written") && one < 2 {
			begin = rapid.IntRange(0, len(whole)).Draw(t, "there already")
		}
		write := func(s string) {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString(s)
				f.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		write(whole[:begin])
		l, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if one > 0 {
			if found, err := l.Only(1, one); err != nil || !found {
				t.Fatalf("Only(attempt %d) = %t, %v", one, found, err)
			}
		}
		if lines := rapid.IntRange(0, 3).Draw(t, "tail"); lines > 0 && begin == len(whole) {
			if err := l.Tail(lines); err != nil {
				t.Fatal(err)
			}
			split := strings.SplitAfter(strings.TrimSuffix(want, "\n"), "\n")
			if cut := len(split) - lines; cut > 0 {
				want = want[len(strings.Join(split[:cut], "")):]
			}
		}
		var got bytes.Buffer
		for begin < len(whole) {
			if err := l.Copy(&got); err != nil {
				t.Fatal(err)
			}
			next := rapid.IntRange(begin+1, len(whole)).Draw(t, "more")
			write(whole[begin:next])
			begin = next
		}
		if err := l.Rest(&got); err != nil || got.String() != want {
			t.Fatalf("%v: of %q, attempt %d: read %q, want %q", err, whole, one, got.String(), want)
		}
	})
}

// TestShorter: a file that is emptied is read from its beginning.
func TestShorter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	os.WriteFile(path, []byte("first\nsecond\n"), 0o600)
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var got bytes.Buffer
	l.Copy(&got)
	os.WriteFile(path, []byte("new\n"), 0o600)
	if l.Copy(&got); got.String() != "first\nsecond\nnew\n" {
		t.Errorf("Copy of a file that became shorter: %q", got.String())
	}
}

// TestOpen: Open does not wait for a pipe's writer, and refuses a directory.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, dir} {
		if _, err := Open(path); !errors.Is(err, ErrOtherFile) {
			t.Errorf("Open(%s) = %v, want ErrOtherFile", path, err)
		}
	}
}

// TestHarmless: whatever a job writes, in whatever pieces, nothing in the output controls a terminal. Plain
// text is unchanged.
func TestHarmless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOf(rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte("\x1b[]\x9b\xc2\x07m\n")))).Draw(t,
			"text")
		var got bytes.Buffer
		h := &Harmless{To: &got}
		for rest := in; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			if m, err := h.Write(rest[:n]); m != n || err != nil {
				t.Fatalf("Write = %d, %v, want %d", m, err, n)
			}
			rest = rest[n:]
		}
		for _, r := range got.String() {
			if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' || r == unicode.ReplacementChar &&
				!bytes.ContainsRune(in, r) {
				t.Fatalf("%q has control characters, written for %q", got.String(), in)
			}
		}
		if !bytes.ContainsFunc(in, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }) &&
			got.String() != string(in) {
			t.Fatalf("plain text %[2]q is changed to %[1]q", got.String(), in)
		}
	})
	for in, want := range map[string]string{"\x1b[31mred\x1b[0m\a": "^[[31mred^[[0m^G", "\xc2\x9b1m": "<9b>1m",
		"\x9b1m": "<9b>1m", "a\tb\r\né": "a\tb\r\né", "\x7f": "^?"} {
		var got bytes.Buffer
		(&Harmless{To: &got}).Write([]byte(in))
		if got.String() != want {
			t.Errorf("Harmless writes %q as %q, want %q", in, got.String(), want)
		}
	}
}
