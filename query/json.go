package query

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// JSON is text. What json_object and the like have made goes into another one as it is,
// everything else as a value; that is told when a statement is compiled.

// appendJSON writes a value.
func appendJSON(b []byte, v Value, isJSON bool) []byte {
	switch v.kind {
	case Null:
		return append(b, "null"...)
	case Integer, Real:
		text := v.String()
		switch text {
		case "Inf":
			text = "9e999"
		case "-Inf":
			text = "-9e999"
		}
		return append(b, text...)
	}
	if isJSON {
		return append(b, v.str...)
	}
	return appendJSONText(b, v.str)
}

// appendJSONText writes a text in quotes, as SQLite does: what is no ASCII stays.
func appendJSONText(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			if at := strings.IndexByte("\b\f\n\r\t", c); at >= 0 {
				b = append(b, '\\', "bfnrt"[at])
			} else {
				b = fmt.Appendf(b, "\\u%04x", c)
			}
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// jsonCall is json_object and json_array; isJSON says of each argument whether it is JSON
// itself.
func jsonCall(isJSON []bool, object bool) func(*budget, []Value) Value {
	return func(e *budget, a []Value) Value {
		b := []byte{'['}
		if object {
			b[0] = '{'
		}
		for i, v := range a {
			switch {
			case object && i%2 == 1:
				b = append(b, ':')
			case i > 0:
				b = append(b, ',')
			}
			if object && i%2 == 0 && v.kind != Text {
				return e.fail(fmt.Errorf("%w: the names in json_object are texts, not %s", ErrQuery, v.Literal()))
			}
			b = appendJSON(b, v, isJSON[i])
		}
		if object {
			return e.text(string(append(b, '}')))
		}
		return e.text(string(append(b, ']')))
	}
}

func shorten(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}

func compactJSON(text []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return string(text)
	}
	return b.String()
}

// jsonValue is a document as a value: arrays and objects stay text.
func jsonValue(text []byte) Value {
	text = bytes.TrimSpace(text)
	switch text[0] {
	case 'n':
		return Value{}
	case 't', 'f':
		return Bool(text[0] == 't')
	case '"':
		var s string
		if json.Unmarshal(text, &s) != nil {
			return Value{}
		}
		return String(s)
	case '{', '[':
		return String(compactJSON(text))
	}
	v, _ := leadingNumber(string(text))
	return v
}

// jsonExtract is json_extract(doc, path).
func jsonExtract(e *budget, a []Value) Value {
	if a[1].kind != Null && !strings.HasPrefix(a[1].String(), "$") {
		return e.fail(fmt.Errorf("%w: bad JSON path: %s", ErrQuery, quoteText(shorten(a[1].String()))))
	}
	return jsonAt(e, a[0], a[1], true)
}

// jsonMinified is json(doc).
func jsonMinified(e *budget, a []Value) Value { return jsonAt(e, a[0], String("$"), false) }

func jsonValid(_ *budget, a []Value) Value { return Bool(json.Valid([]byte(a[0].String()))) }
