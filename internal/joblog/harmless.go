package joblog

import (
	"io"
	"unicode/utf8"
)

// Harmless writes a job's output to a terminal without the effects of control characters: colours and
// titles, redefined keys, answers that look typed. It shows them as ^[ and <9b>. Newlines, tabs and
// carriage returns stay as they are.
type Harmless struct {
	To   io.Writer
	held []byte // the beginning of an incomplete character
}

// Write implements io.Writer.
func (h *Harmless) Write(p []byte) (int, error) {
	in := append(h.held, p...)
	out := make([]byte, 0, len(in)+16)
	for len(in) > 0 {
		if !utf8.FullRune(in) {
			break
		}
		r, n := utf8.DecodeRune(in)
		switch {
		case r == utf8.RuneError && n == 1:
			out = appendHex(out, in[0])
		case r == '\n' || r == '\t' || r == '\r':
			out = append(out, byte(r))
		case r < ' ':
			out = append(out, '^', byte(r)+'@')
		case r == 0x7f:
			out = append(out, '^', '?')
		case r >= 0x80 && r < 0xa0:
			out = appendHex(out, byte(r))
		default:
			out = append(out, in[:n]...)
		}
		in = in[n:]
	}
	h.held = append(h.held[:0], in...)
	_, err := h.To.Write(out)
	return len(p), err
}

func appendHex(b []byte, c byte) []byte {
	const digits = "0123456789abcdef"
	return append(b, '<', digits[c>>4], digits[c&15], '>')
}
