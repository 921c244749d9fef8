package placer

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/placectl/placectl/index"
)

// ErrRequest is what every error about a request's text or values matches: the
// user has to write it differently, the state of the cluster plays no part.
var ErrRequest = errors.New("bad request")

// SyntaxError says what is wrong with the text of a request, and where.
type SyntaxError struct {
	What   string // what the text is: "select", "place" or "resource list"
	Input  string // the whole text
	Offset int    // the byte the error is about; len(Input) when something is missing at the end
	Msg    string // what was wrong, and what would be right
}

// Error is one line, also for a hostile text: bytes that cannot be printed are
// quoted, and of a long text only the part around the error is shown.
func (e *SyntaxError) Error() string {
	before, after := e.around()
	return fmt.Sprintf("%s %s: at character %d: %s",
		e.What, strconv.Quote(before+after), utf8.RuneCountInString(e.Input[:e.Offset])+1, e.Msg)
}

// Unwrap makes every SyntaxError an ErrRequest.
func (e *SyntaxError) Unwrap() error { return ErrRequest }

// Caret is the text and, on a second line, a ^ below the place of the error.
// Both lines end without a line feed.
func (e *SyntaxError) Caret() string {
	before, after := e.around()
	before = escape(before)
	return before + escape(after) + "\n" + strings.Repeat(" ", utf8.RuneCountInString(before)) + "^"
}

// aroundBytes is how much of a text an error shows on either side of its place.
const aroundBytes = 80

// around cuts a text at the error's place and shortens both halves. A cut never
// falls inside a character.
func (e *SyntaxError) around() (before, after string) {
	before, after = e.Input[:e.Offset], e.Input[e.Offset:]
	if from := len(before) - aroundBytes; from > 0 {
		for from < len(before) && !utf8.RuneStart(before[from]) {
			from++
		}
		before = "..." + before[from:]
	}
	if to := aroundBytes; to < len(after) {
		for to > 0 && !utf8.RuneStart(after[to]) {
			to--
		}
		after = after[:to] + "..."
	}
	return before, after
}

// escape writes what cannot be printed as Go does in a string, and leaves
// quotes alone.
func escape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if printable(r, n) {
			b.WriteString(s[i : i+n])
		} else {
			q := strconv.Quote(s[i : i+n])
			b.WriteString(q[1 : len(q)-1])
		}
		i += n
	}
	return b.String()
}

// printable judges a decoded rune and its length: a broken one has length 1.
func printable(r rune, n int) bool { return (r != utf8.RuneError || n > 1) && unicode.IsPrint(r) }

// A reader goes through a text, or a part of one: what is read ends at end, but
// errors speak of the whole text.
type reader struct {
	defs    *index.Defs
	what    string // what the text is, for errors
	text    string
	at, end int
	wants   []Want
}

func newReader(defs *index.Defs, what, s string) (reader, error) {
	p := reader{defs: defs, what: what, text: s, end: len(s)}
	if len(s) > MaxText {
		return p, p.fail(MaxText, "longer than %d bytes", MaxText)
	}
	return p, nil
}

// maxMsg bounds a message, which may repeat a part of a hostile text.
const maxMsg = 500

func (p *reader) fail(at int, format string, args ...any) error {
	msg := fmt.Sprintf(format, args...)
	if len(msg) > maxMsg {
		msg = strings.ToValidUTF8(msg[:maxMsg], "") + "..."
	}
	return &SyntaxError{What: p.what, Input: p.text, Offset: at, Msg: msg}
}

// noResource is the error for an unknown name, with a hint where there is one.
func (p *reader) noResource(at int, name string) error {
	switch strings.ToLower(name) {
	case "walltime", "place", "select", "nodes":
		return p.fail(at, "%s is not a resource of a chunk: it belongs to the whole request", name)
	}
	if pool, ok := p.defs.Pool(name); ok {
		return p.fail(at, "%s is a pool of the whole cluster, of which a request asks once: --pool %s=2, or in a resource list, ncpus=2,%s=2", pool, pool, pool)
	}
	return p.fail(at, "no resource %q%s", name, index.DidYouMean(name, p.defs.Names()))
}

// peek is the next byte, 0 at the end.
func (p *reader) peek() byte {
	if p.at < p.end {
		return p.text[p.at]
	}
	return 0
}

func (p *reader) skipSpace() {
	for p.peek() == ' ' || p.peek() == '\t' {
		p.at++
	}
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func (p *reader) letters() string {
	start := p.at
	for isLetter(p.peek()) {
		p.at++
	}
	return p.text[start:p.at]
}

// name reads a resource name; "" when there is none.
func (p *reader) name() string {
	start := p.at
	for c := p.peek(); isLetter(c) || p.at > start && (isDigit(c) || c == '-' || c == '_'); c = p.peek() {
		p.at++
	}
	return p.text[start:p.at]
}

// count reads a number from 1 to MaxCount; of says what of, for errors.
func (p *reader) count(of string) (int, error) {
	start := p.at
	for isDigit(p.peek()) {
		p.at++
	}
	n, err := strconv.ParseUint(p.text[start:p.at], 10, 31)
	if err != nil || n == 0 {
		return 0, p.fail(start, "the count of %s is a whole number from 1 to %d", of, MaxCount)
	}
	return int(n), nil
}

// step steps over one printable character.
func (p *reader) step() error {
	if c := p.text[p.at]; c >= ' ' && c < 0x7f {
		p.at++
		return nil
	}
	r, n := utf8.DecodeRuneInString(p.text[p.at:p.end])
	if !printable(r, n) {
		return p.fail(p.at, "%q cannot be printed", p.text[p.at:p.at+n])
	}
	p.at += n
	return nil
}
