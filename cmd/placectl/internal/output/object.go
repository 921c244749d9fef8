package output

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/text"
)

// Objects inside answers keep the promises of answers, whatever their Go types omit. Each key is
// present, and null if it has no value. Lists are never null. Instants are RFC 3339 in UTC with whole
// seconds, and durations are seconds.

var (
	instantType  = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	rawType      = reflect.TypeFor[json.RawMessage]()
)

// appendJSONObject appends a value of any type.
func appendJSONObject(b []byte, v reflect.Value) []byte {
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) {
		v = v.Elem()
	}
	if !v.IsValid() {
		return append(b, "null"...)
	}
	switch v.Type() {
	case instantType:
		if t := v.Interface().(time.Time); !t.IsZero() {
			return append(text.AppendRFC3339(append(b, '"'), t.Unix()), '"')
		}
		return append(b, "null"...)
	case durationType:
		return appendJSONFloat(b, v.Interface().(time.Duration).Seconds())
	case rawType:
		if v.Len() == 0 {
			return append(b, "null"...)
		}
		return appendEscaped(b, string(v.Bytes()))
	}
	if m, ok := v.Interface().(json.Marshaler); ok {
		raw, err := m.MarshalJSON()
		if err != nil {
			return AppendJSONString(b, "not to be written as JSON: "+err.Error())
		}
		return appendEscaped(b, string(raw))
	}
	switch v.Kind() {
	case reflect.String:
		return AppendJSONString(b, v.String())
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(b, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(b, v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		return appendJSONFloat(b, v.Float())
	case reflect.Slice, reflect.Array:
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSONObject(b, v.Index(i))
		}
		return append(b, ']')
	case reflect.Map:
		return appendJSONMap(b, v)
	case reflect.Struct:
		b = append(b, '{')
		first := true
		eachKey(v.Type(), v, func(name string, absent bool, t reflect.Type, v reflect.Value) {
			if !first {
				b = append(b, ',')
			}
			first = false
			b = append(AppendJSONString(b, name), ':')
			switch {
			case absent && t.Kind() == reflect.Slice:
				b = append(b, "[]"...)
			case absent:
				b = append(b, "null"...)
			default:
				b = appendJSONObject(b, v)
			}
		})
		return append(b, '}')
	}
	return AppendJSONString(b, "not to be written as JSON: "+v.Type().String())
}

// appendJSONMap appends a map, its keys in order.
func appendJSONMap(b []byte, v reflect.Value) []byte {
	values := make(map[string]reflect.Value, v.Len())
	var keys []string
	for key, value := range v.Seq2() {
		keys = append(keys, key.String())
		values[key.String()] = value
	}
	b = append(b, '{')
	slices.Sort(keys)
	for i, key := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSONObject(append(AppendJSONString(b, key), ':'), values[key])
	}
	return append(b, '}')
}

// eachKey calls fn for the keys of a struct. A key tagged omitempty or omitzero is absent if it has
// its zero value. So are the keys of an embedded struct behind a nil pointer, for which v is invalid.
func eachKey(t reflect.Type, v reflect.Value, fn func(name string, absent bool, t reflect.Type, v reflect.Value)) {
	for i := range t.NumField() {
		f := t.Field(i)
		var value reflect.Value
		if v.IsValid() {
			value = v.Field(i)
		}
		if f.Anonymous && f.Tag.Get("json") == "" {
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
				if value.IsValid() {
					value = value.Elem()
				}
			}
			eachKey(inner, value, fn)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		may := strings.Contains(options, "omit") && f.Type.Kind() != reflect.Slice && f.Type.Kind() != reflect.Map
		fn(name, !value.IsValid() || may && value.IsZero(), f.Type, value)
	}
}
