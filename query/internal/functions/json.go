package functions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/values"
)

// JSON is text. The result of json_object and the like goes into another one unchanged, and
// everything else as a value. Compiling a statement decides which.

// AppendJSON writes a value.
func AppendJSON(b []byte, v values.Value, isJSON bool) []byte {
	switch v.Kind() {
	case values.Null:
		return append(b, "null"...)
	case values.Integer, values.Real:
		if text := v.String(); !strings.HasSuffix(text, "Inf") {
			return append(b, text...)
		}
		return append(b, v.Literal()...)
	}
	if isJSON {
		return append(b, v.Text()...)
	}
	return appendJSONText(b, v.Text())
}

// appendJSONText writes a text in quotes, as SQLite does: characters outside ASCII stay.
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

// JSONCall is json_object or json_array; isJSON says which arguments are JSON.
func JSONCall(isJSON []bool, object bool) func(*Budget, []values.Value) values.Value {
	return func(e *Budget, a []values.Value) values.Value {
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
			if object && i%2 == 0 && v.Kind() != values.Text {
				return e.Fail(fmt.Errorf("%w: the names in json_object are texts, not %s", fault.ErrQuery, v.Literal()))
			}
			b = AppendJSON(b, v, isJSON[i])
		}
		if object {
			return e.Text(string(append(b, '}')))
		}
		return e.Text(string(append(b, ']')))
	}
}

func shorten(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}

// jsonMinified is json(): the same document without blanks.
func jsonMinified(e *Budget, a []values.Value) values.Value {
	var b bytes.Buffer
	if text := a[0].String(); json.Compact(&b, []byte(text)) != nil || !utf8.ValidString(text) {
		return e.Fail(fmt.Errorf("%w: malformed JSON: %s", fault.ErrQuery, values.Quote(shorten(text))))
	}
	return values.String(b.String())
}

// JSONList is json() of a column with a list as text: folded names of nodes, or items joined by commas.
// It makes an array, without NULLs.
func JSONList(folded bool) func(*Budget, []values.Value) values.Value {
	return func(_ *Budget, a []values.Value) values.Value {
		items := []string{}
		if text := a[0].String(); a[0].Kind() != values.Null && text != "" {
			items = strings.Split(text, ",")
			if names, err := index.ExpandNodeList(text); folded && err == nil {
				items = names
			}
		}
		text, err := json.Marshal(items)
		if err != nil {
			return values.Value{}
		}
		return values.String(string(text))
	}
}

func jsonValid(_ *Budget, a []values.Value) values.Value {
	return values.Bool(json.Valid([]byte(a[0].String())))
}
