package output

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// AppendHuman appends a value as people read it, nothing for nil.
func (p *Printer) AppendHuman(b []byte, c Column, v any) []byte {
	if r, ok := v.(Real); ok {
		v = r.Number
	}
	if f, ok := v.(float64); ok && math.Abs(f) < 1<<53 && (c.Kind == Time || c.Kind == Duration || c.Kind == Size) {
		v = int64(math.Round(f)) // an average is rounded to its unit
	}
	if n, ok := WholeNumber(v); ok {
		switch c.Kind {
		case Time:
			return text.AppendLocal(b, n, p.o.Zone)
		case Duration:
			if p.res.Record || p.res.Exact {
				return text.AppendDuration(b, n)
			}
			return text.AppendAbout(b, n)
		case Size:
			return append(b, p.sizeText(n)...)
		}
		return strconv.AppendInt(b, n, 10)
	}
	switch v := v.(type) {
	case nil:
		return b
	case string:
		if c.Kind == Prose {
			v = text.LocalTimes(v, p.o.Zone)
		}
		return text.AppendPrintable(b, v)
	case float64:
		return appendFloat(b, v)
	case []string:
		switch {
		case c.Kind == Words:
			return append(b, text.JoinWords(v)...)
		case c.Nodes:
			return text.AppendPrintable(b, index.FoldNodeList(v))
		}
		return text.AppendPrintable(b, strings.Join(v, ","))
	case fmt.Stringer:
		return text.AppendPrintable(b, text.LocalTimes(v.String(), p.o.Zone))
	}
	return text.AppendPrintable(b, string(appendMachine(nil, v, c.Kind)))
}

// sizeText is text.FormatSize with a cache.
func (p *Printer) sizeText(n int64) string {
	if s, ok := p.sizes[n]; ok {
		return s
	}
	s := text.FormatSize(n)
	if p.sizes == nil {
		p.sizes = map[int64]string{}
	}
	if len(p.sizes) < 4096 {
		p.sizes[n] = s
	}
	return s
}

// appendMachine appends a value for csv, tsv and id: exact, in base units, unquoted.
func appendMachine(b []byte, v any, k Kind) []byte {
	if f, ok := v.(float64); ok && k == Time && math.Abs(f) < 1<<53 {
		v = int64(math.Round(f))
	}
	if n, ok := WholeNumber(v); ok {
		if k == Time {
			return text.AppendRFC3339(b, n)
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
	case Real:
		return append(b, v.Text...)
	case uint64:
		return strconv.AppendUint(b, v, 10)
	case []string:
		if k == Words {
			return append(b, text.JoinWords(v)...)
		}
		return append(b, strings.Join(v, ",")...)
	}
	if s, ok := namedString(v); ok {
		return append(b, s...)
	}
	return appendJSONAny(b, v)
}

// namedString returns the text of a value whose type is a string with a name: people read its String.
func namedString(v any) (string, bool) {
	s := reflect.ValueOf(v)
	return s.String(), s.Kind() == reflect.String
}

// WholeNumber returns a value as an int64 if it is a whole number: a duration in seconds, an instant
// in Unix seconds.
func WholeNumber(v any) (int64, bool) {
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

// appendFloat appends a number without digits that are only rounding errors.
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
