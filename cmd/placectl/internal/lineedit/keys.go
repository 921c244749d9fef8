package lineedit

import (
	"bufio"
	"io"
	"strings"
	"unicode"
)

// key is a key that was pressed, or a text that was pasted.
type key struct {
	code code
	text string // of keyText and keyPaste
}

type code int

// The keys, by what they do.
const (
	keyNone code = iota
	keyText
	keyPaste
	keyEnter
	keyTab
	keyInterrupt
	keyEnd // of the input, or delete
	keyDelete
	keyBackspace
	keyLeft
	keyRight
	keyUp
	keyDown
	keyWordLeft
	keyWordRight
	keyLineStart
	keyLineEnd
	keyCutWordLeft
	keyCutBlankLeft
	keyCutWordRight
	keyCutLineStart
	keyCutLineEnd
	keyYank
	keyClear
	keySearch
	keyEscape
)

// controls are the keys with Ctrl.
var controls = [32]code{
	'A' - '@': keyLineStart, 'B' - '@': keyLeft, 'C' - '@': keyInterrupt, 'D' - '@': keyEnd, 'E' - '@': keyLineEnd, 'F' - '@': keyRight,
	'G' - '@': keyEscape, 'H' - '@': keyBackspace, 'I' - '@': keyTab, 'J' - '@': keyEnter, 'K' - '@': keyCutLineEnd, 'L' - '@': keyClear,
	'M' - '@': keyEnter, 'N' - '@': keyDown, 'P' - '@': keyUp, 'R' - '@': keySearch, 'U' - '@': keyCutLineStart, 'W' - '@': keyCutBlankLeft,
	'Y' - '@': keyYank,
}

const maxPaste = 1 << 20 // bytes; what is beyond is left out

// readKey reads the next key. A key that means nothing is keyNone.
func readKey(in *bufio.Reader) (key, error) {
	c, _, err := in.ReadRune()
	switch {
	case err != nil:
		return key{}, err
	case c == 0x1b:
		return readEscape(in)
	case c == 0x7f:
		return key{code: keyBackspace}, nil
	case c == '\t' && in.Buffered() > 0: // a terminal that does not mark what is pasted
		return key{keyText, "\t"}, nil
	case c < 0x20:
		return key{code: controls[c]}, nil
	case !unicode.IsPrint(c):
		return key{}, nil
	}
	return key{keyText, string(c)}, nil
}

// readEscape reads what follows an escape: Alt and a letter, or the sequence of a key.
func readEscape(in *bufio.Reader) (key, error) {
	c, _, err := in.ReadRune()
	if err != nil {
		return key{}, err
	}
	switch c {
	case '[':
		return readSequence(in)
	case 'O':
		c, _, err := in.ReadRune()
		return key{code: finals(c)}, err
	case '\r', '\n':
		return key{keyText, "\n"}, nil
	case 'b':
		return key{code: keyWordLeft}, nil
	case 'f':
		return key{code: keyWordRight}, nil
	case 'd':
		return key{code: keyCutWordRight}, nil
	case 0x7f, 'H' - '@':
		return key{code: keyCutWordLeft}, nil
	}
	return key{code: keyEscape}, nil
}

// finals are the keys whose sequences end in a letter.
func finals(c rune) code {
	switch c {
	case 'A':
		return keyUp
	case 'B':
		return keyDown
	case 'C':
		return keyRight
	case 'D':
		return keyLeft
	case 'H':
		return keyLineStart
	case 'F':
		return keyLineEnd
	}
	return keyNone
}

// readSequence reads the rest of a sequence behind ESC [.
func readSequence(in *bufio.Reader) (key, error) {
	var b strings.Builder
	for b.Len() < 32 {
		c, err := in.ReadByte()
		if err != nil {
			return key{}, err
		}
		if c < 0x40 || c > 0x7e {
			b.WriteByte(c)
			continue
		}
		args := b.String()
		switch {
		case c == '~' && args == "200":
			return readPaste(in)
		case c == '~':
			return key{code: map[string]code{"1": keyLineStart, "7": keyLineStart, "4": keyLineEnd, "8": keyLineEnd, "3": keyDelete}[args]}, nil
		case strings.HasPrefix(args, "1;") && c == 'C': // with Ctrl, Alt or Shift
			return key{code: keyWordRight}, nil
		case strings.HasPrefix(args, "1;") && c == 'D':
			return key{code: keyWordLeft}, nil
		}
		return key{code: finals(rune(c))}, nil
	}
	return key{}, nil
}

// readPaste reads a pasted text up to its mark. Line ends are line feeds.
func readPaste(in *bufio.Reader) (key, error) {
	const end = "\x1b[201~"
	var b []byte
	var last [len(end)]byte
	for {
		c, err := in.ReadByte()
		if err == io.EOF {
			return key{}, err
		}
		if err != nil {
			return key{}, err
		}
		copy(last[:], last[1:])
		last[len(last)-1] = c
		if len(b) < maxPaste+len(end) {
			b = append(b, c)
		}
		if string(last[:]) == end {
			break
		}
	}
	text := strings.TrimSuffix(string(b), end)
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	return key{keyPaste, strings.ToValidUTF8(text, "\uFFFD")}, nil
}
