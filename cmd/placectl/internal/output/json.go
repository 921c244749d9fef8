package output

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/placectl/placectl/internal/bytejson"
	"github.com/placectl/placectl/internal/text"
)

// jsonLayout writes objects: in an array, one alone, or one a line. Their keys are in the order of the
// columns.
type jsonLayout struct {
	array bool
	lines bool
	keys  [][]byte // `"name":` of each column
}

func (l *jsonLayout) begin(p *Printer) {
	l.keys = jsonKeys(p.cols)
	if l.array {
		p.buf = append(p.buf, '[')
	}
}

func (l *jsonLayout) row(p *Printer, values []any) {
	if p.rows > 0 && !l.lines {
		p.buf = append(p.buf, ",\n"...)
	}
	if p.o.Watch != nil {
		p.o.Watch(p.res, values)
	}
	for i, c := range p.cols {
		if p.o.DryRun && p.res.Made && c.Kind == JobNumber && c.Name != "retry_of" {
			values[i] = nil
		}
	}
	b := appendJSONRow(append(p.buf, '{'), l.keys, p.cols, values)
	if p.o.DryRun {
		b = append(b, `,"dry_run":true`...)
	}
	b = append(b, '}')
	if l.lines {
		b = append(b, '\n')
	}
	p.buf = b
}

func jsonKeys(columns []Column) (keys [][]byte) {
	for _, c := range columns {
		keys = append(keys, append(AppendJSONString(nil, c.Name), ':'))
	}
	return keys
}

// appendJSONRow appends the keys and values of an object.
func appendJSONRow(b []byte, keys [][]byte, columns []Column, values []any) []byte {
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, keys[i]...)
		if v == nil && columns[i].Kind == Object && columns[i].Required { // an empty list
			b = append(b, "[]"...)
			continue
		}
		b = appendJSONValue(b, v, columns[i].Kind)
	}
	return b
}

func (l *jsonLayout) flush(*Printer) {}

func (l *jsonLayout) end(p *Printer) {
	if p.o.Watch != nil {
		p.o.Watch(p.res, nil)
	}
	switch {
	case l.array:
		p.buf = append(p.buf, "]\n"...)
	case !l.lines && p.rows == 0:
		p.buf = append(p.buf, "null\n"...)
	case !l.lines:
		p.buf = append(p.buf, '\n')
	}
}

func appendJSONValue(b []byte, v any, k Kind) []byte {
	if n, ok := WholeNumber(v); ok {
		if k == Time {
			b = append(b, '"')
			return append(text.AppendRFC3339(b, n), '"')
		}
		return strconv.AppendInt(b, n, 10)
	}
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case string:
		return AppendJSONString(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	case float64:
		return appendJSONFloat(b, v)
	case Real:
		return v.appendJSON(b)
	case []string:
		return appendJSONList(b, v)
	}
	return appendJSONAny(b, v)
}

// appendJSONFloat appends a number, or null if JSON has no such number.
func appendJSONFloat(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(b, "null"...)
	}
	form := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		form = 'e'
	}
	return strconv.AppendFloat(b, f, form, -1, 64)
}

func appendJSONList(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendJSONString(b, s)
	}
	return append(b, ']')
}

// Grouped is a value that is several objects to programs, and something else to people.
type Grouped interface{ Objects() Objects }

// appendJSONAny appends a composite value: objects, or what encoding/json makes of it. A list is never
// null.
func appendJSONAny(b []byte, v any) []byte {
	if g, ok := v.(Grouped); ok {
		v = g.Objects()
	}
	if list := reflect.ValueOf(v); list.Kind() == reflect.Slice && list.IsNil() {
		return append(b, "[]"...)
	}
	text, err := bytejson.Marshal(v)
	if err != nil {
		return AppendJSONString(b, "not to be written as JSON: "+err.Error())
	}
	return appendEscaped(b, string(text))
}

// AppendJSONString appends a JSON string. It escapes every unprintable character, even those that
// JSON allows.
func AppendJSONString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		if start = i + 1; c >= 0x7f {
			b = appendEscaped(b, s[i:nextASCII(s, i)])
			start = nextASCII(s, i)
			i = start - 1
			continue
		}
		b = appendEscapedByte(b, c)
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

// nextASCII returns the end of the run of non-ASCII characters that begins at i.
func nextASCII(s string, i int) int {
	for i < len(s) && s[i] >= 0x7f {
		i++
	}
	return i
}

func appendEscapedByte(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, `\n`...)
	case '\t':
		return append(b, `\t`...)
	case '\r':
		return append(b, `\r`...)
	}
	return appendUnicode(b, rune(c))
}

// appendEscaped copies JSON text. It writes unprintable characters outside ASCII as \u escapes, and
// bytes that are not UTF-8 as package bytejson does.
func appendEscaped(b []byte, s string) []byte {
	for i, c := range s {
		switch {
		case c == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			b = appendUnicode(b, 0xdc00+rune(s[i]))
		case c >= ' ' && c < 0x7f || strconv.IsPrint(c):
			b = utf8.AppendRune(b, c)
		case c < 0x10000:
			b = appendUnicode(b, c)
		default:
			c -= 0x10000
			b = appendUnicode(appendUnicode(b, 0xd800+c>>10), 0xdc00+c&0x3ff)
		}
	}
	return b
}

func appendUnicode(b []byte, c rune) []byte {
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', hex[c>>12&15], hex[c>>8&15], hex[c>>4&15], hex[c&15])
}
