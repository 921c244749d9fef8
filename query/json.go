package query

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
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

// jsonCall compiles json_object and json_array.
func jsonCall(args []code, object bool) func(*env, []Value) Value {
	return func(e *env, a []Value) Value {
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
			b = appendJSON(b, v, args[i].json)
		}
		if object {
			return e.text(string(append(b, '}')))
		}
		return e.text(string(append(b, ']')))
	}
}

// jsonStep is one step into a document: a name, or a number from the front or the back.
type jsonStep struct {
	name    string
	index   int
	byIndex bool
	back    bool
}

// jsonPath reads $.a."b c"[0][#-1].
func jsonPath(path string) ([]jsonStep, bool) {
	rest, ok := strings.CutPrefix(path, "$")
	if !ok {
		return nil, false
	}
	var out []jsonStep
	for rest != "" {
		switch {
		case strings.HasPrefix(rest, `."`):
			end := strings.IndexByte(rest[2:], '"')
			if end < 0 {
				return nil, false
			}
			out, rest = append(out, jsonStep{name: rest[2 : 2+end]}), rest[end+3:]
		case rest[0] == '.':
			end := strings.IndexAny(rest[1:], ".[")
			if end < 0 {
				end = len(rest) - 1
			}
			if end == 0 {
				return nil, false
			}
			out, rest = append(out, jsonStep{name: rest[1 : 1+end]}), rest[1+end:]
		case rest[0] == '[':
			end := strings.IndexByte(rest, ']')
			if end < 0 {
				return nil, false
			}
			number, back := strings.CutPrefix(rest[1:end], "#-")
			n, err := strconv.Atoi(number)
			if err != nil || n < 0 {
				return nil, false
			}
			out, rest = append(out, jsonStep{index: n, byIndex: true, back: back}), rest[end+1:]
		default:
			return nil, false
		}
	}
	return out, true
}

// jsonSteps is the right side of -> and ->>: a path, a name or a number.
func jsonSteps(v Value) ([]jsonStep, bool) {
	switch {
	case v.kind == Integer && v.Int64() < 0:
		return []jsonStep{{index: int(-v.Int64()), byIndex: true, back: true}}, true
	case v.kind == Integer:
		return []jsonStep{{index: int(v.Int64()), byIndex: true}}, true
	case strings.HasPrefix(v.String(), "$"):
		return jsonPath(v.String())
	case strings.HasPrefix(v.String(), "["):
		return jsonPath("$" + v.String())
	}
	return []jsonStep{{name: v.String()}}, true
}

// find goes down into a document; nil where there is nothing.
func (step jsonStep) find(doc []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(doc))
	open, _ := d.Token()
	if step.byIndex {
		if open != json.Delim('[') {
			return nil
		}
		var all []json.RawMessage
		for d.More() {
			var item json.RawMessage
			if d.Decode(&item) != nil {
				return nil
			}
			all = append(all, item)
		}
		at := step.index
		if step.back {
			at = len(all) - step.index
		}
		if at < 0 || at >= len(all) {
			return nil
		}
		return all[at]
	}
	if open != json.Delim('{') {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		var item json.RawMessage
		if err != nil || d.Decode(&item) != nil {
			return nil
		}
		if name == step.name {
			return item
		}
	}
	return nil
}

// jsonAt is the part of a document, as it is or as a value.
func jsonAt(e *env, doc, path Value, asValue bool) Value {
	if doc.kind == Null || path.kind == Null {
		return Value{}
	}
	text := []byte(doc.String())
	if !json.Valid(text) || !utf8.Valid(text) {
		return e.fail(fmt.Errorf("%w: malformed JSON: %s", ErrQuery, quoteText(shorten(doc.String()))))
	}
	steps, ok := jsonSteps(path)
	if !ok {
		return e.fail(fmt.Errorf("%w: bad JSON path: %s", ErrQuery, quoteText(shorten(path.String()))))
	}
	for _, step := range steps {
		if text = step.find(text); text == nil {
			return Value{}
		}
	}
	if asValue {
		return jsonValue(text)
	}
	return String(compactJSON(text))
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

// jsonArrow compiles -> and ->>.
func (s *scope) jsonArrow(x *Binary, a, b code) code {
	s.onlyText(x.Op, a, x.X)
	c := over(a, b)
	c.json = x.Op == "->"
	c.eval = func(e *env) Value { return jsonAt(e, a.eval(e), b.eval(e), !c.json) }
	return c
}

// jsonExtract is json_extract(doc, path).
func jsonExtract(e *env, a []Value) Value {
	if a[1].kind != Null && !strings.HasPrefix(a[1].String(), "$") {
		return e.fail(fmt.Errorf("%w: bad JSON path: %s", ErrQuery, quoteText(shorten(a[1].String()))))
	}
	return jsonAt(e, a[0], a[1], true)
}

// jsonMinified is json(doc).
func jsonMinified(e *env, a []Value) Value { return jsonAt(e, a[0], String("$"), false) }

func jsonValid(_ *env, a []Value) Value { return Bool(json.Valid([]byte(a[0].String()))) }

// addJSON gathers an array; args beside the value is its name in an object.
func addJSON(object bool) func(*env, *state, Value, []Value, int64) {
	return func(e *env, s *state, v Value, args []Value, _ int64) {
		m := s.remember()
		before := len(m.json)
		if m.json = append(m.json, ','); object {
			if v.kind == Null {
				m.json = m.json[:before]
				return
			}
			m.json = append(appendJSONText(m.json, v.String()), ':')
			v = args[1]
		}
		m.json = appendJSON(m.json, v, s.json)
		if len(m.json) > maxString {
			e.fail(&LimitError{"bytes in one text", maxString})
		}
	}
}

func jsonResult(open, end string) func(*env, *state) Value {
	return func(_ *env, s *state) Value {
		if s.more == nil || len(s.more.json) == 0 {
			return String(open + end)
		}
		return String(open + string(s.more.json[1:]) + end)
	}
}
