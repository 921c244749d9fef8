package row

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// jsonWriter is a row that is being written as JSON. It leaves out zero and empty values, except
// items of lists. Fields whose names share a prefix, such as use.maxRSS, form an object,
// wherever in the list they are.
type jsonWriter struct {
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

func (s *jsonWriter) put(name string, value []byte) { s.pieces[len(s.pieces)-1].put(name, value) }

func (s *jsonWriter) begin(p *piece) { s.pieces = append(s.pieces, p) }

func (s *jsonWriter) pop() *piece {
	n := len(s.pieces) - 1
	p := s.pieces[n]
	s.pieces = s.pieces[:n]
	return p
}

func (s *jsonWriter) open(name string, keep bool) { s.begin(&piece{name: name, keep: keep}) }

func (s *jsonWriter) end() {
	p := s.pop()
	if value := p.value(); p.keep || len(value) > len("{}") {
		s.put(p.name, value)
	}
}

func (s *jsonWriter) list(name string, n int) {
	switch {
	case n > 0:
		s.begin(&piece{name: name, left: n})
		s.begin(new(piece))
	case name == "":
		s.put("", []byte("[]"))
	}
}

func (s *jsonWriter) next() {
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

// jsonReader is a JSON object that is being read.
type jsonReader struct {
	fields map[string]any // fields of the current object that were not taken; a value that is no object has no name
	outer  []outerObject
	err    error
}

// outerObject is an object that contains the current one.
type outerObject struct {
	fields map[string]any
	parts  []any // of a list: the remaining items
}

func (h *jsonReader) fail(format string, args ...any) {
	if h.err == nil {
		h.err = fmt.Errorf(format, args...)
	}
}

// take takes a field. It returns nil if the object does not have it, or if it is null.
func (h *jsonReader) take(name string) any {
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
func (h *jsonReader) left() {
	for name := range h.fields {
		h.fail("unknown field %q", name)
	}
}

// enter moves on to a value.
func (h *jsonReader) enter(value any) {
	fields, ok := value.(map[string]any)
	if !ok {
		fields = make(map[string]any)
		if value != nil {
			fields[""] = value
		}
	}
	h.fields = fields
}

func (h *jsonReader) open(name string) bool {
	value := h.take(name)
	h.outer = append(h.outer, outerObject{fields: h.fields})
	_, there := value.(map[string]any)
	if value != nil && !there {
		h.fail("%s is not an object", name)
		value = nil
	}
	h.enter(value)
	return there
}

func (h *jsonReader) end() {
	h.left()
	n := len(h.outer) - 1
	h.fields, h.outer = h.outer[n].fields, h.outer[:n]
}

func (h *jsonReader) list(name string) int {
	value := h.take(name)
	parts, ok := value.([]any)
	if value != nil && !ok {
		h.fail("%s is not a list", name)
	}
	if len(parts) > 0 {
		h.outer = append(h.outer, outerObject{h.fields, parts[1:]})
		h.enter(parts[0])
	}
	return len(parts)
}

func (h *jsonReader) next() {
	x := &h.outer[len(h.outer)-1]
	if len(x.parts) == 0 {
		h.end()
		return
	}
	h.left()
	h.enter(x.parts[0])
	x.parts = x.parts[1:]
}

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

// json returns the value as JSON: an object, unless its only field has no name.
func (v visit) json() []byte {
	f := Fields{dir: writingJSON, aside: &aside{to: jsonWriter{pieces: []*piece{{}}}}}
	v(&f)
	return f.to.pop().value()
}

// readJSON reads a new value from JSON that is known to be valid.
func readJSON(k kind, text []byte) (visit, error) {
	f, v := Fields{dir: readingJSON, aside: new(aside)}, k.blank()
	var value any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	f.from.enter(value)
	v(&f)
	f.from.left()
	return v, f.from.err
}
