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

// saying is a row that is being written as JSON. What is zero or empty is left out, but for
// items of lists. Fields whose names begin alike, as use.maxRSS does, are an object together,
// wherever in the list they stand.
type saying struct {
	b      []byte
	frames []frame
	groups []group
	mark   int // where the field of a group begins that is not among its group yet, 0 for none
	depth  int // and in which frame
}

// frame is a list or an object that has begun. The row is the item of a list of one.
type frame struct {
	list bool
	left int  // of a list: items that have not ended
	open bool // of a list: its item has begun as an object
	at   int  // of a list: where its item begins; of an object: where that does
	keep bool // of an object: it stays if nothing is in it
}

// group is an object whose fields are not beside each other in the list.
type group struct {
	name  string
	depth int
	b     []byte
}

// comma parts what follows from what comes before.
func (s *saying) comma() {
	if len(s.b) == s.frames[0].at {
		return
	}
	if last := s.b[len(s.b)-1]; last != '{' && last != '[' {
		s.b = append(s.b, ',')
	}
}

// object begins an item of a list as an object, if it has not begun.
func (s *saying) object() {
	if x := &s.frames[len(s.frames)-1]; x.list && !x.open {
		s.comma()
		s.b, x.open = append(s.b, '{'), true
	}
}

// label begins a field; one without a name is an item of a list.
func (s *saying) label(name string) {
	s.settle()
	if name == "" {
		s.comma()
		return
	}
	s.object()
	if of, rest, grouped := strings.Cut(name, "."); grouped {
		s.mark, s.depth, name = len(s.b), len(s.frames), rest
		if i := s.group(of); i < 0 {
			s.groups = append(s.groups, group{name: of, depth: s.depth})
		} else { // the one whose turn it is comes last
			g := s.groups[i]
			s.groups = append(slices.Delete(s.groups, i, i+1), g)
		}
	} else {
		s.comma()
	}
	s.b = append(append(append(s.b, '"'), name...), '"', ':')
}

func (s *saying) group(name string) int {
	return slices.IndexFunc(s.groups, func(g group) bool { return g.depth == len(s.frames) && g.name == name })
}

// settle puts a field of a group among its group, once it has ended.
func (s *saying) settle() {
	if s.mark == 0 || len(s.frames) != s.depth {
		return
	}
	g := &s.groups[len(s.groups)-1]
	if len(g.b) > 0 {
		g.b = append(g.b, ',')
	}
	g.b = append(g.b, s.b[s.mark:]...)
	s.b, s.mark = s.b[:s.mark], 0
}

// gather ends the groups of the object at hand.
func (s *saying) gather() {
	s.settle()
	for _, g := range s.groups {
		if g.depth == len(s.frames) {
			s.comma()
			s.b = append(append(append(append(s.b, '"'), g.name...), '"', ':', '{'), g.b...)
			s.b = append(s.b, '}')
		}
	}
	s.groups = slices.DeleteFunc(s.groups, func(g group) bool { return g.depth == len(s.frames) })
}

func (s *saying) open(name string, keep bool) {
	s.settle()
	s.object()
	at := len(s.b)
	s.label(name)
	s.b = append(s.b, '{')
	s.frames = append(s.frames, frame{at: at, keep: keep})
}

func (s *saying) end() {
	s.gather()
	n := len(s.frames) - 1
	if x := s.frames[n]; !x.keep && s.b[len(s.b)-1] == '{' {
		s.b = s.b[:x.at]
	} else {
		s.b = append(s.b, '}')
	}
	s.frames = s.frames[:n]
}

func (s *saying) list(name string, n int) {
	if n == 0 && name != "" {
		return
	}
	s.label(name)
	if s.b = append(s.b, '['); n == 0 {
		s.b = append(s.b, ']')
		return
	}
	s.frames = append(s.frames, frame{list: true, left: n, at: len(s.b)})
}

// item ends an item of a list.
func (s *saying) item() {
	s.gather()
	x := &s.frames[len(s.frames)-1]
	switch {
	case x.open:
		s.b = append(s.b, '}')
	case len(s.b) == x.at:
		s.comma()
		s.b = append(s.b, '{', '}')
	}
	x.left--
	x.open = false
}

func (s *saying) next() {
	s.item()
	n := len(s.frames) - 1
	if s.frames[n].at = len(s.b); s.frames[n].left == 0 {
		s.b = append(s.b, ']')
		s.frames = s.frames[:n]
	}
}

// hearing is a JSON object that is being read.
type hearing struct {
	fields []said // those of the object at hand
	outer  []heard
	err    error
}

// said is a field of an object; its value is nil once it has been taken.
type said struct {
	name  string
	value []byte
}

// heard is an object around the one at hand.
type heard struct {
	fields []said
	parts  [][]byte // of a list: the items to come
}

func (h *hearing) fail(format string, args ...any) {
	if h.err == nil {
		h.err = fmt.Errorf(format, args...)
	}
}

// take is the value of a field, nil if the object has none.
func (h *hearing) take(name string) []byte {
	if of, _, grouped := strings.Cut(name, "."); grouped {
		h.spread(of)
	}
	for i := range h.fields {
		if x := &h.fields[i]; x.value != nil && x.name == name {
			value := x.value
			x.value = nil
			return value
		}
	}
	return nil
}

// spread makes the fields of a group those of the object at hand.
func (h *hearing) spread(of string) {
	i := slices.IndexFunc(h.fields, func(x said) bool { return x.name == of })
	if i < 0 || len(h.fields[i].value) == 0 {
		return
	}
	value := h.fields[i].value
	if h.fields[i].value = nil; value[0] != '{' {
		h.fail("%s is not an object", of)
		return
	}
	pieces(value, func(name, value []byte) { h.fields = append(h.fields, said{of + "." + unquoted(name), value}) })
}

// left notes that the object has a field that the list does not know.
func (h *hearing) left() {
	for _, x := range h.fields {
		if x.value != nil {
			h.fail("unknown field %q", x.name)
		}
	}
}

// turn turns to the object of a value.
func (h *hearing) turn(value []byte) {
	if len(value) > 0 && value[0] != '{' {
		h.fields = append(h.fields[:0:0], said{"", value})
		return
	}
	h.fields = h.fields[:0:0]
	pieces(value, func(name, value []byte) { h.fields = append(h.fields, said{unquoted(name), value}) })
}

func (h *hearing) open(name string) bool {
	value := h.take(name)
	h.outer = append(h.outer, heard{fields: h.fields})
	there := len(value) > 0 && value[0] == '{'
	if value != nil && !there {
		h.fail("%s is not an object", name)
	}
	if !there {
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
	if len(value) > 0 && value[0] != '[' {
		h.fail("%s is not a list", name)
		return 0
	}
	var parts [][]byte
	pieces(value, func(_, value []byte) { parts = append(parts, value) })
	if len(parts) > 0 {
		h.outer = append(h.outer, heard{h.fields, parts[1:]})
		h.turn(parts[0])
	}
	return len(parts)
}

func (h *hearing) next() {
	h.left()
	x := &h.outer[len(h.outer)-1]
	if len(x.parts) == 0 {
		h.fields, h.outer = x.fields, h.outer[:len(h.outer)-1]
		return
	}
	h.turn(x.parts[0])
	x.parts = x.parts[1:]
}

// pieces goes through the fields of an object, or the items of a list, of JSON that is
// known to be valid.
func pieces(b []byte, fn func(name, value []byte)) {
	if len(b) < 2 {
		return
	}
	object := b[0] == '{'
	for at := 1; ; at++ {
		var name []byte
		if at = blank(b, at); b[at] == '}' || b[at] == ']' {
			return
		}
		if object {
			end := valueEnd(b, at)
			name = b[at:end]
			at = blank(b, blank(b, end)+1) // behind the colon
		}
		end := valueEnd(b, at)
		fn(name, b[at:end])
		if at = blank(b, end); b[at] != ',' {
			return
		}
	}
}

// blank passes over white space.
func blank(b []byte, at int) int {
	for b[at] == ' ' || b[at] == '\n' || b[at] == '\t' || b[at] == '\r' {
		at++
	}
	return at
}

// valueEnd is where a value ends.
func valueEnd(b []byte, at int) int {
	depth := 0
	for ; at < len(b); at++ {
		switch b[at] {
		case '"':
			for at++; b[at] != '"'; at++ {
				if b[at] == '\\' {
					at++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return at
			}
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return at
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return at + 1
		}
	}
	return at
}

// unquoted is the text of a JSON string.
func unquoted(b []byte) string {
	var s string
	if n := len(b) - 1; n > 0 && b[0] == '"' && bytes.IndexByte(b, '\\') < 0 && utf8.Valid(b) {
		return string(b[1:n])
	}
	_ = json.Unmarshal(b, &s) // valid, as all of it
	return s
}

// hear is the value of a field, nil where there is none.
func (f *Fields) hear(name string) []byte { return f.heard.take(name) }

// mistaken notes a value that a field cannot have.
func (f *Fields) mistaken(name string, value []byte) {
	if string(value) != "null" {
		f.heard.fail("%s: not %s", name, value)
	}
}

func (f *Fields) textAside(name string, v *string) {
	switch f.dir {
	case sayingJSON:
		if *v != "" || name == "" {
			f.said.label(name)
			f.said.b = appendText(f.said.b, *v)
		}
	case hearingJSON:
		if value := f.hear(name); len(value) > 0 && value[0] == '"' {
			*v = unquoted(value)
		} else if value != nil {
			f.mistaken(name, value)
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

// eachAside is how many items of a list of fixed length there are: none if all are zero.
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

// numberAside is a number where it is not written or read as bytes.
func numberAside[T number](f *Fields, name string, v *T) {
	var none T
	switch signed := none-1 < none; f.dir {
	case sayingJSON:
		if *v == 0 && name != "" {
			return
		}
		if f.said.label(name); signed {
			f.said.b = strconv.AppendInt(f.said.b, int64(*v), 10)
		} else {
			f.said.b = strconv.AppendUint(f.said.b, uint64(*v), 10)
		}
	case hearingJSON:
		value := f.hear(name)
		if value == nil {
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
			f.said.label(name)
			f.said.b = appendOther(f.said.b, *v)
		}
	case hearingJSON:
		if value := f.hear(name); value != nil {
			if err := json.Unmarshal(value, v); err != nil {
				f.mistaken(name, value)
			}
		}
	case namingFields:
		f.named.add(name, "number")
	}
}

// fact is yes or no where it is not written or read as bytes.
func (f *Fields) fact(name string, v *bool) {
	switch f.dir {
	case sayingJSON:
		if *v {
			f.said.label(name)
			f.said.b = append(f.said.b, "true"...)
		}
	case hearingJSON:
		switch value := string(f.hear(name)); value {
		case "true":
			*v = true
		case "false":
			*v = false
		case "":
		default:
			f.mistaken(name, []byte(value))
		}
	case namingFields:
		f.named.add(name, "boolean")
	}
}

func (f *Fields) uidAside(name string, v **uint32) {
	switch f.dir {
	case sayingJSON:
		if *v != nil {
			f.said.label(name)
			f.said.b = strconv.AppendUint(f.said.b, uint64(**v), 10)
		}
	case hearingJSON:
		if value := f.hear(name); value != nil {
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

// naming notes the fields of a list.
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

// appendText writes a text: most need no thought.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == '"' || s[i] == '\\' || s[i] >= utf8.RuneSelf {
			return appendOther(b, s)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// appendOther writes what is left to encoding/json. What that cannot write is not heard
// again as it was, and the row stands in the document as it is encoded.
func appendOther(b []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return append(b, "null"...)
	}
	return append(b, text...)
}

// say is a row as JSON: an object, unless its only field has no name.
func say[T any](b []byte, list func(*Fields, *T), v *T) []byte {
	f := Fields{dir: sayingJSON, aside: &aside{said: saying{b: b, frames: []frame{{list: true, left: 1, at: len(b)}}}}}
	list(&f, v)
	f.said.item()
	return f.said.b
}

// hear is the row of JSON that is known to be valid.
func hear[T any](list func(*Fields, *T), text []byte) (*T, error) {
	f, v := Fields{dir: hearingJSON, aside: new(aside)}, new(T)
	f.heard.turn(bytes.TrimSpace(text))
	list(&f, v)
	f.heard.left()
	return v, f.heard.err
}

// names lists the fields of a kind of row, with what they are.
func names[T any](list func(*Fields, *T)) []string {
	f := Fields{dir: namingFields, aside: new(aside)}
	list(&f, new(T))
	return f.named.out
}
