package row

import (
	"encoding/json"
	"reflect"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// wasAppendFields writes a value as JSON that encoding/json reads back: the fields of a
// struct under their names, which begin small, without those that are zero or empty. A struct
// that is part of another lends it its fields, as it does in Go.
func wasAppendFields(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return append(b, "null"...)
		}
		return wasAppendFields(b, v.Elem())
	case reflect.Struct:
		b = append(b, '{')
		b = wasAppendStruct(b, v, len(b))
		return append(b, '}')
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return wasAppendOther(b, v)
		}
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			b = wasAppendFields(b, v.Index(i))
		}
		return append(b, ']')
	case reflect.String:
		return wasAppendText(b, v.String())
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(b, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(b, v.Uint(), 10)
	}
	return wasAppendOther(b, v)
}

// wasAppendStruct writes the fields of a struct; from is where the first one stands.
func wasAppendStruct(b []byte, v reflect.Value, from int) []byte {
	t := v.Type()
	for i := range t.NumField() {
		f, x := t.Field(i), v.Field(i)
		switch {
		case f.Anonymous && x.Kind() == reflect.Struct:
			b = wasAppendStruct(b, x, from)
			continue
		case !f.IsExported() || x.IsZero() || x.Kind() == reflect.Slice && x.Len() == 0:
			continue
		}
		if len(b) > from {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), wasFieldName(f.Name)...), '"', ':')
		b = wasAppendFields(b, x)
	}
	return b
}

// wasFieldName is a field's name with a small beginning: submit, id, noRequeue.
func wasFieldName(name string) string {
	letters := []rune(name)
	for i := range letters {
		if i > 0 && i+1 < len(letters) && unicode.IsLower(letters[i+1]) || !unicode.IsUpper(letters[i]) {
			break
		}
		letters[i] = unicode.ToLower(letters[i])
	}
	return string(letters)
}

// wasAppendText writes a text: most need no thought.
func wasAppendText(b []byte, s string) []byte {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == '"' || s[i] == '\\' || s[i] >= utf8.RuneSelf {
			return wasAppendOther(b, reflect.ValueOf(s))
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// wasAppendOther writes what is left to encoding/json; where that cannot, nothing reads it
// back, and the row is written as it is encoded.
func wasAppendOther(b []byte, v reflect.Value) []byte {
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return append(b, "null"...)
	}
	return append(b, text...)
}
