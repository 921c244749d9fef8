// Package bytejson is JSON with bytes as strings. Arguments, variables and paths need not be UTF-8, and
// encoding/json replaces bytes that are not. Here each such byte becomes \udcXX, as in Python's
// surrogateescape. No other text is written in this way, so the byte can be restored.
package bytejson

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"
)

// On its way through encoding/json, such a byte is NUL and its two hexadecimal digits. A real NUL is
// NUL and 00.

// Marshal returns v as JSON. A type with a MarshalJSON of its own must call Marshal itself.
func Marshal(v any) ([]byte, error) {
	text, err := encode(v)
	if err != nil || !bytes.Contains(text, []byte(`\ufffd`)) { // how encoding/json replaces a byte
		return text, err
	}
	marked := reflect.New(reflect.TypeOf(v)).Elem()
	marked.Set(reflect.ValueOf(v))
	change(marked, mark, markText)
	if text, err = encode(marked.Interface()); err != nil {
		return nil, err
	}
	return unmarkText(text), nil
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// MarshalIndent is Marshal with each value on a line.
func MarshalIndent(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	text, err := Marshal(v)
	if err == nil {
		err = json.Indent(&b, text, "", indent)
	}
	return b.Bytes(), err
}

// Write writes v and a newline.
func Write(w io.Writer, v any) error {
	text, err := Marshal(v)
	if err == nil {
		_, err = w.Write(append(text, '\n'))
	}
	return err
}

// Unmarshal decodes JSON into what v points to.
func Unmarshal(text []byte, v any) error {
	if !bytes.Contains(text, []byte(`\ud`)) && !bytes.Contains(text, []byte(`\uD`)) {
		return json.Unmarshal(text, v)
	}
	err := json.Unmarshal(markText(text), v)
	change(reflect.ValueOf(v).Elem(), unmark, unmarkText)
	return err
}

// Decode decodes the next value of a stream into what v points to.
func Decode(d *json.Decoder, v any) error {
	var text json.RawMessage
	if err := d.Decode(&text); err != nil {
		return err
	}
	return Unmarshal(text, v)
}

const hexDigits = "0123456789abcdef"

func mark(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRuneInString(s[i:])
		if c == 0 || c == utf8.RuneError && n == 1 {
			b.Write([]byte{0, hexDigits[s[i]>>4], hexDigits[s[i]&15]})
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

func unmark(s string) string {
	var b []byte
	for {
		before, rest, found := strings.Cut(s, "\x00")
		b = append(b, before...)
		if !found {
			return string(b)
		}
		c, _ := hex.DecodeString(rest[:2])
		b, s = append(b, c...), rest[2:]
	}
}

// unmarkText turns \u0000XX in JSON into \udcXX, and \u000000 into \u0000.
func unmarkText(text []byte) []byte {
	return escapes(text, func(b, rest []byte) ([]byte, int) {
		switch {
		case len(rest) < 8 || !bytes.HasPrefix(rest, []byte(`\u0000`)):
			return b, 0
		case rest[6] == '0':
			return append(b, `\u0000`...), 8
		}
		return append(append(b, `\udc`...), rest[6:8]...), 8
	})
}

// markText is the inverse of unmarkText. It treats a surrogate pair as one escape.
func markText(text []byte) []byte {
	return escapes(text, func(b, rest []byte) ([]byte, int) {
		code := codeOf(rest)
		switch {
		case code == "0000":
			return append(b, `\u000000`...), 6
		case code >= "d800" && code < "dc00":
			if second := codeOf(rest[6:]); second >= "dc00" && second < "e000" {
				return append(b, rest[:12]...), 12
			}
		case code >= "dc80" && code < "dd00":
			return append(append(b, `\u0000`...), code[2:]...), 6
		}
		return b, 0
	})
}

// codeOf returns the code of the escape \uXXXX at the beginning of a text, "" if there is none.
func codeOf(text []byte) string {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return ""
	}
	return strings.ToLower(string(text[2:6]))
}

// escapes copies JSON and lets fn replace escapes. fn appends to b, and returns how many bytes of the
// rest that replaces, 0 to keep the escape.
func escapes(text []byte, fn func(b, rest []byte) ([]byte, int)) (b []byte) {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 || i+1 == len(text) {
			return append(b, text...)
		}
		b, text = append(b, text[:i]...), text[i:]
		n := 0
		if b, n = fn(b, text); n == 0 {
			b, n = append(b, text[:2]...), 2
		}
		text = text[n:]
	}
}

var rawMessage = reflect.TypeFor[json.RawMessage]()

// change changes all strings of v, and all raw JSON in it. It first copies what v points to.
func change(v reflect.Value, text func(string) string, raw func([]byte) []byte) {
	copied := func(from reflect.Value) reflect.Value {
		to := reflect.New(from.Type()).Elem()
		to.Set(from)
		change(to, text, raw)
		return to
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text(v.String()))
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() || f.Anonymous && f.Type.Kind() == reflect.Struct {
				change(v.Field(i), text, raw)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			v.Set(copied(v.Elem()).Addr())
		}
	case reflect.Interface:
		if !v.IsNil() {
			v.Set(copied(v.Elem()))
		}
	case reflect.Map:
		if v.IsNil() {
			return
		}
		to := reflect.MakeMap(v.Type())
		for key, value := range v.Seq2() {
			to.SetMapIndex(copied(key), copied(value))
		}
		v.Set(to)
	case reflect.Slice:
		switch {
		case v.IsNil():
		case v.Type() == rawMessage:
			v.SetBytes(raw(v.Bytes()))
		case v.Type().Elem().Kind() != reflect.Uint8:
			to := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			for i := range v.Len() {
				to.Index(i).Set(copied(v.Index(i)))
			}
			v.Set(to)
		}
	case reflect.Array:
		for i := range v.Len() {
			change(v.Index(i), text, raw)
		}
	}
}
