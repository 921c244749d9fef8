package fullscreen

import (
	"bytes"
	"unicode/utf8"
)

// sequences are what terminals send for keys that are not characters.
var sequences = []struct {
	bytes string
	key   Key
}{
	{"\x1b[A", Up}, {"\x1bOA", Up}, {"\x1b[B", Down}, {"\x1bOB", Down},
	{"\x1b[5~", PageUp}, {"\x1b[6~", PageDown},
	{"\x1b[H", Home}, {"\x1bOH", Home}, {"\x1b[1~", Home}, {"\x1b[F", End}, {"\x1bOF", End}, {"\x1b[4~", End},
	{"\r", Enter}, {"\n", Enter}, {"\x7f", Erase}, {"\b", Erase}, {"\x03", Interrupt}, {"\x04", Interrupt},
}

// nextKey reads one key. It returns 0 for unknown ones.
func nextKey(b []byte) (Key, []byte) {
	for _, s := range sequences {
		if rest, ok := bytes.CutPrefix(b, []byte(s.bytes)); ok {
			return s.key, rest
		}
	}
	if b[0] == '\x1b' {
		return skipSequence(b[1:])
	}
	c, n := utf8.DecodeRune(b)
	if c == utf8.RuneError || c < ' ' {
		return 0, b[n:]
	}
	return Key(c), b[n:]
}

// skipSequence skips the rest of an unknown sequence, behind its first byte. A first byte alone is the
// key Escape.
func skipSequence(b []byte) (Key, []byte) {
	if len(b) == 0 || b[0] != '[' && b[0] != 'O' {
		return Escape, b
	}
	for i := 1; i < len(b); i++ {
		if b[i] >= '@' && b[i] <= '~' {
			return 0, b[i+1:]
		}
	}
	return 0, nil
}
