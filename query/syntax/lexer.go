package syntax

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/values"
)

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenWord             // a keyword or a name
	tokenQuoted           // a name in "", `` or []
	tokenNumber
	tokenText
	tokenParam // ?, ?3, :name, @name, $name
	tokenOp
)

// token is one token. Its text has no quotes.
type token struct {
	kind     tokenKind
	text     string
	pos, end int // in bytes
}

// upper returns the word in capitals, as keywords are.
func (t token) upper() string {
	if t.kind != tokenWord {
		return ""
	}
	return values.Upper(t.text)
}

// is reports whether the token is an operator, or a keyword in any case.
func (t token) is(s string) bool {
	return t.kind == tokenOp && t.text == s || t.kind == tokenWord && strings.EqualFold(t.text, s)
}

func (t token) shown() string {
	switch t.kind {
	case tokenEnd:
		return "the end of the statement"
	case tokenText:
		return values.Quote(t.text)
	}
	return fmt.Sprintf("%q", t.text)
}

type lexer struct {
	text string
	at   int
}

func (l *lexer) fail(at int, format string, args ...any) {
	panic(fault.Abort{Err: &fault.Error{Text: l.text, Offset: at, Msg: fmt.Sprintf(format, args...)}})
}

// next returns the next token. It aborts if there is no valid one.
func (l *lexer) next() token {
	l.skip()
	start := l.at
	if start >= len(l.text) {
		return token{kind: tokenEnd, pos: start, end: start}
	}
	t := token{pos: start}
	switch c := l.text[start]; {
	case isWordStart(c):
		l.while(isWordPart)
		t.kind, t.text = tokenWord, l.text[start:l.at]
	case values.IsDigit(c), c == '.' && start+1 < len(l.text) && values.IsDigit(l.text[start+1]):
		t.kind, t.text = tokenNumber, l.number()
	case c == '\'':
		t.kind, t.text = tokenText, l.quoted('\'')
	case c == '"' || c == '`':
		t.kind, t.text = tokenQuoted, l.quoted(c)
	case c == '[':
		end := strings.IndexByte(l.text[start:], ']')
		if end < 0 {
			l.fail(start, "the name that begins here is not closed: ] is missing")
		}
		t.kind, t.text, l.at = tokenQuoted, l.text[start+1:start+end], start+end+1
	case strings.IndexByte("?:@$", c) >= 0:
		t.kind, t.text = tokenParam, l.param()
	default:
		t.kind, t.text = tokenOp, l.operator()
	}
	t.end = l.at
	return t
}

// skip skips blanks and comments.
func (l *lexer) skip() {
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		switch {
		case strings.IndexByte(values.Blanks, rest[0]) >= 0:
			l.at++
		case strings.HasPrefix(rest, "--"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			l.at += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				l.at = len(l.text)
				return
			}
			l.at += end + 4
		default:
			return
		}
	}
}

func (l *lexer) while(ok func(byte) bool) {
	for l.at < len(l.text) && ok(l.text[l.at]) {
		l.at++
	}
}

// number reads 12, 1.5, .5, 5., 1e9 or 0x1F.
func (l *lexer) number() string {
	start := l.at
	if rest := l.text[start:]; len(rest) > 2 && rest[0] == '0' && rest[1]|0x20 == 'x' && isHex(rest[2]) {
		l.at += 2
		l.while(isHex)
	} else {
		end, _ := values.NumberPrefix(rest)
		l.at += end
	}
	if l.at < len(l.text) && isWordPart(l.text[l.at]) {
		l.while(isWordPart)
		l.fail(start, "%q is not a number; a size or a duration is written as text: '%s'", l.text[start:l.at],
			l.text[start:l.at])
	}
	return l.text[start:l.at]
}

// quoted reads the text between quotes. Two quotes stand for one.
func (l *lexer) quoted(quote byte) string {
	start := l.at
	q := string(quote)
	l.at++
	for {
		end := strings.IndexByte(l.text[l.at:], quote)
		if end < 0 {
			l.fail(start, "the text that begins here is not closed: %s is missing", q)
		}
		l.at += end + 1
		if l.at >= len(l.text) || l.text[l.at] != quote {
			return strings.ReplaceAll(l.text[start+1:l.at-1], q+q, q)
		}
		l.at++
	}
}

func (l *lexer) param() string {
	start := l.at
	l.at++
	if l.text[start] == '?' {
		l.while(values.IsDigit)
		return l.text[start:l.at]
	}
	if l.while(isWordPart); l.at == start+1 {
		l.fail(start, "a parameter is ?, ?1, :name, @name or $name")
	}
	return l.text[start:l.at]
}

// operators lists the operators, the longer ones first.
var operators = []string{"->>", "->", "<=", ">=", "<>", "!=", "==", "||", "<<", ">>", "(", ")", ",", ";", ".", "+", "-",
	"*", "/", "%", "<", ">", "=", "&", "|", "~"}

func (l *lexer) operator() string {
	for _, op := range operators {
		if strings.HasPrefix(l.text[l.at:], op) {
			l.at += len(op)
			return op
		}
	}
	_, n := utf8.DecodeRuneInString(l.text[l.at:])
	l.fail(l.at, "unexpected character %q", l.text[l.at:l.at+n])
	return ""
}

func isWordStart(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80 }
func isWordPart(c byte) bool  { return isWordStart(c) || values.IsDigit(c) || c == '$' }
func isHex(c byte) bool       { return values.IsDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
