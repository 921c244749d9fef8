package row

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strconv"
)

// readAs returns the value of a field, and whether it has that type.
func readAs[V any](f *Fields, name string) (v V, ok bool) {
	value := f.from.take(name)
	if v, ok = value.(V); !ok && value != nil {
		f.mistaken(name, value)
	}
	return v, ok
}

// mistaken records that a field cannot have a value.
func (f *Fields) mistaken(name string, value any) { f.from.fail("%s: not %v", name, value) }

func (f *Fields) textAside(name string, v *string) {
	switch f.dir {
	case writingJSON:
		if *v != "" || name == "" {
			f.to.b = appendText(f.to.b[:0], *v)
			f.to.put(name, f.to.b)
		}
	case readingJSON:
		if text, ok := readAs[string](f, name); ok {
			*v = text
		}
	case namingFields:
		f.named.add(name, "text")
	}
}

func (f *Fields) blobAside(name string, v *[]byte) {
	var text string
	if f.dir == writingJSON {
		text = base64.StdEncoding.EncodeToString(*v)
	}
	f.textAside(name, &text)
	if f.dir == readingJSON {
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			f.from.fail("%s: %v", name, err)
		}
		if *v = nil; len(b) > 0 {
			*v = b
		}
	}
}

func (f *Fields) digitsAside(name string, v []byte) {
	var text string
	if f.dir == writingJSON && slices.ContainsFunc(v, func(b byte) bool { return b != 0 }) {
		text = hex.EncodeToString(v)
	}
	f.textAside(name, &text)
	if f.dir == readingJSON && text != "" {
		b, err := hex.DecodeString(text)
		if err != nil || len(b) != len(v) {
			f.from.fail("%s: %q is not %d hexadecimal digits", name, text, 2*len(v))
		}
		copy(v, b)
	}
}

// eachAside returns the number of items of a list of fixed length, or 0 if all are zero.
func eachAside[T comparable](f *Fields, name string, of []T) int {
	var none T
	switch f.dir {
	case writingJSON:
		if name != "" && !slices.ContainsFunc(of, func(v T) bool { return v != none }) {
			return 0
		}
		f.to.list(name, len(of))
	case readingJSON:
		n := f.from.list(name)
		if n != 0 && n != len(of) {
			f.from.fail("%s: %d items instead of %d", name, n, len(of))
		}
		return min(n, len(of))
	case namingFields:
		f.named.open(name + "[]")
		return min(1, len(of))
	}
	return len(of)
}

// numberAside handles a number in the directions other than bytes.
func numberAside[T number](f *Fields, name string, v *T) {
	var none T
	switch signed := none-1 < none; f.dir {
	case writingJSON:
		if *v == 0 && name != "" {
			return
		}
		if signed {
			f.to.b = strconv.AppendInt(f.to.b[:0], int64(*v), 10)
		} else {
			f.to.b = strconv.AppendUint(f.to.b[:0], uint64(*v), 10)
		}
		f.to.put(name, f.to.b)
	case readingJSON:
		value, ok := readAs[json.Number](f, name)
		if !ok {
			return
		}
		if n, err := strconv.ParseInt(string(value), 10, 64); err == nil && (signed || n >= 0) && int64(T(n)) == n {
			*v = T(n)
		} else if n, err := strconv.ParseUint(string(value), 10, 64); err == nil && !signed && uint64(T(n)) == n {
			*v = T(n)
		} else {
			f.mistaken(name, value)
		}
	case namingFields:
		f.named.add(name, "number")
	}
}

func (f *Fields) floatAside(name string, v *float64) {
	switch f.dir {
	case writingJSON:
		if *v != 0 || math.Signbit(*v) {
			f.to.put(name, appendOther(nil, *v))
		}
	case readingJSON:
		if value, ok := readAs[json.Number](f, name); ok {
			n, err := value.Float64()
			if *v = n; err != nil {
				f.mistaken(name, value)
			}
		}
	case namingFields:
		f.named.add(name, "number")
	}
}

// fact handles a bool in the directions other than bytes.
func (f *Fields) fact(name string, v *bool) {
	switch f.dir {
	case writingJSON:
		if *v {
			f.to.put(name, []byte("true"))
		}
	case readingJSON:
		if is, ok := readAs[bool](f, name); ok {
			*v = is
		}
	case namingFields:
		f.named.add(name, "boolean")
	}
}

func (f *Fields) uidAside(name string, v **uint32) {
	switch f.dir {
	case writingJSON:
		if *v != nil {
			f.to.put(name, strconv.AppendUint(nil, uint64(**v), 10))
		}
	case readingJSON:
		if value, ok := readAs[json.Number](f, name); ok {
			n, err := strconv.ParseUint(string(value), 10, 32)
			if err != nil {
				f.mistaken(name, value)
				return
			}
			uid := uint32(n)
			*v = &uid
		}
	case namingFields:
		f.named.add(name, "number")
	}
}

func itemsAside[T any](f *Fields, name string, of *[]T) int {
	switch f.dir {
	case writingJSON:
		f.to.list(name, len(*of))
	case readingJSON:
		n := f.from.list(name)
		if *of = nil; n > 0 {
			*of = make([]T, n)
		}
	case namingFields:
		*of = make([]T, 1)
		f.named.open(name + "[]")
	}
	return len(*of)
}

// naming collects the fields of a list.
type naming struct {
	path []string
	out  []string
}

func (n *naming) add(name, what string) {
	text := ""
	for _, part := range append(n.path, name) {
		if text != "" && part != "" && part[0] != '[' {
			text += "."
		}
		text += part
	}
	n.out = append(n.out, text+" "+what)
}

func (n *naming) open(name string) { n.path = append(n.path, name) }
func (n *naming) end()             { n.path = n.path[:len(n.path)-1] }

// names lists the fields of a kind of row, with their types.
func names(k kind) []string {
	f := Fields{dir: namingFields, aside: new(aside)}
	k.blank()(&f)
	return f.named.out
}
