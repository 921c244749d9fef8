// Package syntax scans texts that people write - requests, priority functions, repetitions - and reports
// errors with their place.
package syntax

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/placectl/placectl/index"
)

// ErrRequest is wrapped by every error about the text or the values of a request: the user has to change
// the request, whatever the state of the cluster.
var ErrRequest = errors.New("bad request")

// Error is an error in a text, with its place.
type Error struct {
	What   string // the kind of text: "select", "place", "priorityf", ...
	Input  string // the whole text
	Offset int    // the byte of the error; len(Input) if something is missing at the end
	Msg    string // the mistake, and the right form
	Cause  error  // the error that Msg puts into words; nil if it has no type of its own
}

// Error is one line, even for a hostile text: it quotes bytes that are not printable, and shows only the
// part of a long text around the error.
func (e *Error) Error() string {
	before, after := e.around()
	return fmt.Sprintf("%s %s: at character %d: %s",
		e.What, strconv.Quote(before+after), utf8.RuneCountInString(e.Input[:e.Offset])+1, e.Msg)
}

// Unwrap returns ErrRequest and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{ErrRequest}
	}
	return []error{ErrRequest, e.Cause}
}

// Caret returns the text and a second line that marks the error with ^. Neither line ends with
// a line feed.
func (e *Error) Caret() string {
	before, after := e.around()
	before = escape(before)
	return before + escape(after) + "\n" + strings.Repeat(" ", utf8.RuneCountInString(before)) + "^"
}

// aroundBytes is how much of a text an error shows on either side of its place.
const aroundBytes = 80

// around cuts a text at the error and shortens both halves, without splitting characters.
func (e *Error) around() (before, after string) {
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

// escape writes characters that are not printable as in a Go string, and leaves quotes alone.
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

// printable judges a decoded rune by its length: a broken one has length 1.
func printable(r rune, n int) bool { return (r != utf8.RuneError || n > 1) && unicode.IsPrint(r) }

// Scanner reads a text, or a part of one: reading ends at End, but errors show the whole text.
type Scanner struct {
	Defs    *index.Defs // the resources that the text may name
	What    string      // the kind of text, for errors
	Text    string
	At, End int // the next byte, and the end of the part
}

// New returns a scanner of the whole text, of any length.
func New(defs *index.Defs, what, text string) Scanner {
	return Scanner{Defs: defs, What: what, Text: text, End: len(text)}
}

// maxMsg limits a message, which may repeat a part of a hostile text.
const maxMsg = 500

// Fail returns an error about the text's byte at. It cuts a message that is too long.
func (p *Scanner) Fail(at int, format string, args ...any) error {
	msg := fmt.Sprintf(format, args...)
	if len(msg) > maxMsg {
		msg = strings.ToValidUTF8(msg[:maxMsg], "") + "..."
	}
	return &Error{What: p.What, Input: p.Text, Offset: at, Msg: msg}
}

// FailAs is Fail for an error with its own type, which callers branch on.
func (p *Scanner) FailAs(at int, err error) error {
	failed := p.Fail(at, "%v", err)
	failed.(*Error).Cause = err //nolint:forcetypeassert // Fail makes nothing else
	return failed
}

// Peek returns the next byte, or 0 at the end.
func (p *Scanner) Peek() byte {
	if p.At < p.End {
		return p.Text[p.At]
	}
	return 0
}

// SkipSpace skips blanks and tabs.
func (p *Scanner) SkipSpace() {
	for p.Peek() == ' ' || p.Peek() == '\t' {
		p.At++
	}
}

// IsDigit reports whether c is a digit of ASCII.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

// IsLetter reports whether c is a letter of ASCII.
func IsLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// Letters reads letters; "" if there are none.
func (p *Scanner) Letters() string {
	start := p.At
	for IsLetter(p.Peek()) {
		p.At++
	}
	return p.Text[start:p.At]
}

// Name reads a resource name; "" if there is none.
func (p *Scanner) Name() string {
	start := p.At
	for c := p.Peek(); IsLetter(c) || p.At > start && (IsDigit(c) || c == '-' || c == '_'); c = p.Peek() {
		p.At++
	}
	return p.Text[start:p.At]
}

// Step steps over one printable character.
func (p *Scanner) Step() error {
	if c := p.Text[p.At]; c >= ' ' && c < 0x7f {
		p.At++
		return nil
	}
	r, n := utf8.DecodeRuneInString(p.Text[p.At:p.End])
	if !printable(r, n) {
		return p.Fail(p.At, "%q cannot be printed", p.Text[p.At:p.At+n])
	}
	p.At += n
	return nil
}

// Quoted reads from a quote to its closing one and returns the text between them.
func (p *Scanner) Quoted(quote byte) (string, error) {
	start := p.At
	p.At++
	for p.Peek() != quote {
		if p.At == p.End {
			return "", p.Fail(start, "the quote is not closed")
		}
		if err := p.Step(); err != nil {
			return "", err
		}
	}
	p.At++
	return p.Text[start+1 : p.At-1], nil
}

// Quote returns a text in quotes, in pieces if it holds both kinds of them.
func Quote(s string) string {
	switch {
	case !strings.Contains(s, `"`):
		return `"` + s + `"`
	case !strings.Contains(s, `'`):
		return `'` + s + `'`
	}
	return `"` + strings.ReplaceAll(s, `"`, `"'"'"`) + `"`
}
