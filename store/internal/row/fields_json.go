package row

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// saying is a row that is being written as JSON. It leaves out zero and empty values, except
// items of lists. Fields whose names share a prefix, such as use.maxRSS, form an object,
// wherever in the list they are.
type saying struct {
	pieces []*piece // the open pieces: the row, and its parts
	b      []byte   // for one value at a time
}

// piece is an object, a list or an item of a list, with its pieces.
type piece struct {
	name   string
	keep   bool // of an object: write it even if it is empty
	left   int  // of a list: number of items that have not ended
	b      []byte
	bare   bool // an item that is a value, not an object
	groups []*piece
}

func (p *piece) put(name string, value []byte) {
	if of, rest, grouped := strings.Cut(name, "."); grouped {
		p.group(of).put(rest, value)
		return
	}
	if len(p.b) > 0 {
		p.b = append(p.b, ',')
	}
	if p.bare = name == ""; !p.bare {
		p.b = append(append(append(p.b, '"'), name...), '"', ':')
	}
	p.b = append(p.b, value...)
}

func (p *piece) group(name string) *piece {
	for _, g := range p.groups {
		if g.name == name {
			return g
		}
	}
	p.groups = append(p.groups, &piece{name: name})
	return p.groups[len(p.groups)-1]
}

// value returns the JSON of an object or an item.
func (p *piece) value() []byte {
	for _, g := range p.groups {
		p.put(g.name, g.value())
	}
	if p.bare {
		return p.b
	}
	return append(append([]byte{'{'}, p.b...), '}')
}

func (s *saying) put(name string, value []byte) { s.pieces[len(s.pieces)-1].put(name, value) }

func (s *saying) begin(p *piece) { s.pieces = append(s.pieces, p) }

func (s *saying) pop() *piece {
	n := len(s.pieces) - 1
	p := s.pieces[n]
	s.pieces = s.pieces[:n]
	return p
}

func (s *saying) open(name string, keep bool) { s.begin(&piece{name: name, keep: keep}) }

func (s *saying) end() {
	p := s.pop()
	if value := p.value(); p.keep || len(value) > len("{}") {
		s.put(p.name, value)
	}
}

func (s *saying) list(name string, n int) {
	switch {
	case n > 0:
		s.begin(&piece{name: name, left: n})
		s.begin(new(piece))
	case name == "":
		s.put("", []byte("[]"))
	}
}

func (s *saying) next() {
	item := s.pop().value()
	list := s.pieces[len(s.pieces)-1]
	list.put("", item)
	if list.left--; list.left > 0 {
		s.begin(new(piece))
		return
	}
	s.pop()
	s.put(list.name, append(append([]byte{'['}, list.b...), ']'))
}

// hearing is a JSON object that is being read.
type hearing struct {
	fields map[string]any // fields of the current object that were not taken; a value that is no object has no name
	outer  []heard
	err    error
}

// heard is an object around the current one.
type heard struct {
	fields map[string]any
	parts  []any // of a list: the remaining items
}

func (h *hearing) fail(format string, args ...any) {
	if h.err == nil {
		h.err = fmt.Errorf(format, args...)
	}
}

// take takes a field. It returns nil if the object does not have it, or if it is null.
func (h *hearing) take(name string) any {
	if of, _, grouped := strings.Cut(name, "."); grouped && h.fields[of] != nil {
		group, ok := h.fields[of].(map[string]any)
		if !ok {
			h.fail("%s is not an object", of)
		}
		delete(h.fields, of)
		for name, value := range group {
			h.fields[of+"."+name] = value
		}
	}
	value := h.fields[name]
	delete(h.fields, name)
	return value
}

// left records an error if the object has a field that the list does not know.
func (h *hearing) left() {
	for name := range h.fields {
		h.fail("unknown field %q", name)
	}
}

// turn moves on to a value.
func (h *hearing) turn(value any) {
	fields, ok := value.(map[string]any)
	if !ok {
		fields = make(map[string]any)
		if value != nil {
			fields[""] = value
		}
	}
	h.fields = fields
}

func (h *hearing) open(name string) bool {
	value := h.take(name)
	h.outer = append(h.outer, heard{fields: h.fields})
	_, there := value.(map[string]any)
	if value != nil && !there {
		h.fail("%s is not an object", name)
		value = nil
	}
	h.turn(value)
	return there
}

func (h *hearing) end() {
	h.left()
	n := len(h.outer) - 1
	h.fields, h.outer = h.outer[n].fields, h.outer[:n]
}

func (h *hearing) list(name string) int {
	value := h.take(name)
	parts, ok := value.([]any)
	if value != nil && !ok {
		h.fail("%s is not a list", name)
	}
	if len(parts) > 0 {
		h.outer = append(h.outer, heard{h.fields, parts[1:]})
		h.turn(parts[0])
	}
	return len(parts)
}

func (h *hearing) next() {
	x := &h.outer[len(h.outer)-1]
	if len(x.parts) == 0 {
		h.end()
		return
	}
	h.left()
	h.turn(x.parts[0])
	x.parts = x.parts[1:]
}

// hearAs returns the value of a field, and whether it has that type.
func hearAs[V any](f *Fields, name string) (v V, ok bool) {
	value := f.heard.take(name)
	if v, ok = value.(V); !ok && value != nil {
		f.mistaken(name, value)
	}
	return v, ok
}

// mistaken records that a field cannot have a value.
func (f *Fields) mistaken(name string, value any) { f.heard.fail("%s: not %v", name, value) }

func (f *Fields) textAside(name string, v *string) {
	switch f.dir {
	case sayingJSON:
		if *v != "" || name == "" {
			f.said.b = appendText(f.said.b[:0], *v)
			f.said.put(name, f.said.b)
		}
	case hearingJSON:
		if text, ok := hearAs[string](f, name); ok {
			*v = text
		}
	case namingFields:
		f.named.add(name, "text")
	}
}

func (f *Fields) blobAside(name string, v *[]byte) {
	var text string
	if f.dir == sayingJSON {
		text = base64.StdEncoding.EncodeToString(*v)
	}
	f.textAside(name, &text)
	if f.dir == hearingJSON {
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			f.heard.fail("%s: %v", name, err)
		}
		if *v = nil; len(b) > 0 {
			*v = b
		}
	}
}

func (f *Fields) digitsAside(name string, v []byte) {
	var text string
	if f.dir == sayingJSON && slices.ContainsFunc(v, func(b byte) bool { return b != 0 }) {
		text = hex.EncodeToString(v)
	}
	f.textAside(name, &text)
	if f.dir == hearingJSON && text != "" {
		b, err := hex.DecodeString(text)
		if err != nil || len(b) != len(v) {
			f.heard.fail("%s: %q is not %d hexadecimal digits", name, text, 2*len(v))
		}
		copy(v, b)
	}
}

// eachAside returns the number of items of a list of fixed length, or 0 if all are zero.
func eachAside[T comparable](f *Fields, name string, of []T) int {
	var none T
	switch f.dir {
	case sayingJSON:
		if name != "" && !slices.ContainsFunc(of, func(v T) bool { return v != none }) {
			return 0
		}
		f.said.list(name, len(of))
	case hearingJSON:
		n := f.heard.list(name)
		if n != 0 && n != len(of) {
			f.heard.fail("%s: %d items instead of %d", name, n, len(of))
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
	case sayingJSON:
		if *v == 0 && name != "" {
			return
		}
		if signed {
			f.said.b = strconv.AppendInt(f.said.b[:0], int64(*v), 10)
		} else {
			f.said.b = strconv.AppendUint(f.said.b[:0], uint64(*v), 10)
		}
		f.said.put(name, f.said.b)
	case hearingJSON:
		value, ok := hearAs[json.Number](f, name)
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
	case sayingJSON:
		if *v != 0 || math.Signbit(*v) {
			f.said.put(name, appendOther(nil, *v))
		}
	case hearingJSON:
		if value, ok := hearAs[json.Number](f, name); ok {
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
	case sayingJSON:
		if *v {
			f.said.put(name, []byte("true"))
		}
	case hearingJSON:
		if is, ok := hearAs[bool](f, name); ok {
			*v = is
		}
	case namingFields:
		f.named.add(name, "boolean")
	}
}

func (f *Fields) uidAside(name string, v **uint32) {
	switch f.dir {
	case sayingJSON:
		if *v != nil {
			f.said.put(name, strconv.AppendUint(nil, uint64(**v), 10))
		}
	case hearingJSON:
		if value, ok := hearAs[json.Number](f, name); ok {
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
	case sayingJSON:
		f.said.list(name, len(*of))
	case hearingJSON:
		n := f.heard.list(name)
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

// appendText writes a text, with a fast path for most.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == '"' || s[i] == '\\' || s[i] >= utf8.RuneSelf {
			return appendOther(b, s)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// appendOther leaves a value to encoding/json. If that cannot write it so that it reads back,
// the document has the row as encoded.
func appendOther(b []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return append(b, "null"...)
	}
	return append(b, text...)
}

// say writes a row as JSON: an object, unless its only field has no name.
func say[T any](b []byte, list func(*Fields, *T), v *T) []byte {
	f := Fields{dir: sayingJSON, aside: &aside{said: saying{pieces: []*piece{{}}}}}
	list(&f, v)
	return append(b, f.said.pop().value()...)
}

// hear reads a row from JSON that is known to be valid.
func hear[T any](list func(*Fields, *T), text []byte) (*T, error) {
	f, v := Fields{dir: hearingJSON, aside: new(aside)}, new(T)
	var value any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	f.heard.turn(value)
	list(&f, v)
	f.heard.left()
	return v, f.heard.err
}

// names lists the fields of a kind of row, with their types.
func names[T any](list func(*Fields, *T)) []string {
	f := Fields{dir: namingFields, aside: new(aside)}
	list(&f, new(T))
	return f.named.out
}
