package main

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/placectl/placectl/index"
)

// appendHuman appends a value as people read it; nothing for nil.
func (p *printer) appendHuman(b []byte, c column, v any) []byte {
	if n, ok := wholeNumber(v); ok {
		switch c.Kind {
		case when:
			return p.r.appendLocal(b, n)
		case span:
			return appendSpan(b, n)
		case size:
			return append(b, p.sizeText(n)...)
		}
		return strconv.AppendInt(b, n, 10)
	}
	switch v := v.(type) {
	case nil:
		return b
	case string:
		if c.Kind == prose {
			v = p.r.localTimes(v)
		}
		return appendPrintable(b, v)
	case float64:
		return appendFloat(b, v)
	case []string:
		switch {
		case c.Kind == words:
			return append(b, joinWords(v)...)
		case c.Nodes:
			return appendPrintable(b, index.FoldNodeList(v))
		}
		return appendPrintable(b, strings.Join(v, ","))
	}
	return appendPrintable(b, string(appendMachine(nil, v, c.Kind)))
}

// sizeText says a number of bytes in words, and remembers it.
func (p *printer) sizeText(n int64) string {
	if s, ok := p.sizes[n]; ok {
		return s
	}
	s := humanize.IBytes(abs(n))
	if n < 0 {
		s = "-" + s
	}
	if p.sizes == nil {
		p.sizes = map[int64]string{}
	}
	if len(p.sizes) < 4096 {
		p.sizes[n] = s
	}
	return s
}

// appendMachine appends a value as csv, tsv and id have it: exact, in base
// units, unquoted.
func appendMachine(b []byte, v any, k kind) []byte {
	if n, ok := wholeNumber(v); ok {
		if k == when {
			return appendRFC3339(b, n)
		}
		return strconv.AppendInt(b, n, 10)
	}
	switch v := v.(type) {
	case nil:
		return b
	case string:
		return append(b, v...)
	case bool:
		return strconv.AppendBool(b, v)
	case float64:
		return strconv.AppendFloat(b, v, 'g', -1, 64)
	case uint64:
		return strconv.AppendUint(b, v, 10)
	case []string:
		if k == words {
			return append(b, joinWords(v)...)
		}
		return append(b, strings.Join(v, ",")...)
	}
	return appendJSONAny(b, v)
}

// wholeNumber gives a value as an int64 when it is one: a duration in seconds,
// an instant in Unix seconds.
func wholeNumber(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	case time.Time:
		return v.Unix(), true
	case time.Duration:
		return int64(v / time.Second), true
	case int32:
		return int64(v), true
	case uint32:
		return int64(v), true
	case uint64:
		return int64(v), v <= math.MaxInt64
	}
	return 0, false
}

// appendFloat appends a number without the digits that only rounding made.
func appendFloat(b []byte, f float64) []byte {
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e15) || f != f {
		return strconv.AppendFloat(b, f, 'g', 6, 64)
	}
	start := len(b)
	b = strconv.AppendFloat(b, f, 'f', 6, 64)
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	if b[len(b)-1] == '.' {
		b = b[:len(b)-1]
	}
	if string(b[start:]) == "-0" {
		b = append(b[:start], '0')
	}
	return b
}

// appendPrintable appends s as it is when every character of it can be shown,
// else as a quoted Go string: what stands in a database must not steer the
// terminal.
func appendPrintable(b []byte, s string) []byte {
	if isPrintable(s) {
		return append(b, s...)
	}
	return strconv.AppendQuote(b, s)
}

func isPrintable(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= 0x7f {
			return isPrintableWide(s[i:])
		}
	}
	return true
}

func isPrintableWide(s string) bool {
	for i, c := range s {
		if !strconv.IsPrint(c) || c == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			return false
		}
	}
	return true
}

// quoted is a word of the user's in a message: bare when it is plain.
func quoted(s string) string {
	if s == "" || strings.ContainsAny(s, " \"") || !isPrintable(s) {
		return strconv.Quote(s)
	}
	return s
}

// printable is a message with only the characters escaped that cannot be
// shown; the words in it keep their form.
func printable(s string) string {
	if isPrintable(s) {
		return s
	}
	var b strings.Builder
	for i, c := range s {
		_, n := utf8.DecodeRuneInString(s[i:])
		if part := s[i : i+n]; isPrintable(part) {
			b.WriteRune(c)
		} else {
			q := strconv.Quote(part)
			b.WriteString(q[1 : len(q)-1])
		}
	}
	return b.String()
}
