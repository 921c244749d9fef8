package row

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// jsonWriter is a row that is being written as JSON. It leaves out zero and empty values, except
// items of lists. Fields whose names share a prefix, such as use.maxRSS, form an object at the end
// of theirs, wherever in the list they are.
type jsonWriter struct {
	frames []frame // the row, and its parts that have not ended
}

// frame is an object, a list or an item of a list that has not ended.
type frame struct {
	name  string
	keep  bool // of an object: write it even if it is empty
	left  int  // of a list: number of items that have not ended
	parts object
}

// object is an object with its fields in order, and list one whose fields have no names.
type (
	object []field
	list   object
	field  struct {
		name  string
		value any
	}
)

func (w *jsonWriter) put(name string, value any) {
	parts := &w.frames[len(w.frames)-1].parts
	*parts = append(*parts, field{name, value})
}

func (w *jsonWriter) pop() frame {
	n := len(w.frames) - 1
	top := w.frames[n]
	w.frames = w.frames[:n]
	return top
}

// value returns an object, or an item that is a value without a name.
func (p *frame) value() any {
	if len(p.parts) == 1 && p.parts[0].name == "" {
		return p.parts[0].value
	}
	return p.parts
}

func (w *jsonWriter) plain(name, _ string, v any) { w.put(name, v) }

func (w *jsonWriter) open(name string, optional, there bool) bool {
	if there || !optional {
		w.frames = append(w.frames, frame{name: name, keep: optional})
	}
	return there
}

func (w *jsonWriter) end() {
	if p := w.pop(); p.keep || len(p.parts) > 0 {
		w.put(p.name, p.value())
	}
}

func (w *jsonWriter) list(name string, n int) int {
	switch {
	case n > 0:
		w.frames = append(w.frames, frame{name: name, left: n}, frame{})
	case name == "":
		w.put("", list{})
	}
	return n
}

func (w *jsonWriter) next() {
	item := w.pop()
	w.put("", item.value())
	of := &w.frames[len(w.frames)-1]
	if of.left--; of.left > 0 {
		w.frames = append(w.frames, frame{})
		return
	}
	all := w.pop()
	w.put(all.name, list(all.parts))
}

// grouped returns the object with the fields that share a prefix in objects of their own.
func (o object) grouped() object {
	if !slices.ContainsFunc(o, func(m field) bool { return strings.Contains(m.name, ".") }) {
		return o
	}
	var plain, groups object
	for _, m := range o {
		of, rest, is := strings.Cut(m.name, ".")
		if !is {
			plain = append(plain, m)
			continue
		}
		i := slices.IndexFunc(groups, func(g field) bool { return g.name == of })
		if i < 0 {
			i, groups = len(groups), append(groups, field{of, object(nil)})
		}
		groups[i].value = append(groups[i].value.(object), field{rest, m.value})
	}
	return append(plain, groups...)
}

// appendJSON writes a value. If encoding/json cannot write it so that it reads back, the document has
// the row as encoded.
func appendJSON(b []byte, v any) []byte {
	ends, parts := "{}", object(nil)
	switch v := v.(type) {
	case *int64:
		return strconv.AppendInt(b, *v, 10)
	case *uint64:
		return strconv.AppendUint(b, *v, 10)
	case object:
		parts = v.grouped()
	case list:
		ends, parts = "[]", object(v)
	default:
		text, err := json.Marshal(v)
		if err != nil {
			text = []byte("null")
		}
		return append(b, text...)
	}
	b = append(b, ends[0])
	for i, m := range parts {
		if i > 0 {
			b = append(b, ',')
		}
		if m.name != "" {
			b = append(append(append(b, '"'), m.name...), '"', ':')
		}
		b = appendJSON(b, m.value)
	}
	return append(b, ends[1])
}

// jsonReader is a JSON object that is being read.
type jsonReader struct {
	fields map[string]json.RawMessage // of the current object, not taken yet; a value that is no object has no name
	outer  []outerObject
	err    error
}

// outerObject is an object that contains the current one.
type outerObject struct {
	fields map[string]json.RawMessage
	parts  []json.RawMessage // of a list: the remaining items
}

func (r *jsonReader) fail(name string, why error) {
	if r.err == nil && why != nil {
		r.err = fmt.Errorf("%s: %w", name, why)
	}
}

// take takes a field. It returns nil if the object does not have it, or if it is null.
func (r *jsonReader) take(name string) json.RawMessage {
	if len(r.fields) == 0 {
		return nil
	}
	if of, _, grouped := strings.Cut(name, "."); grouped && r.fields[of] != nil {
		var group map[string]json.RawMessage
		r.fail(of, json.Unmarshal(r.fields[of], &group))
		delete(r.fields, of)
		for name, value := range group {
			r.fields[of+"."+name] = value
		}
	}
	value := r.fields[name]
	delete(r.fields, name)
	if string(value) == "null" {
		return nil
	}
	return value
}

// left records an error if the object has a field that the list does not know.
func (r *jsonReader) left() {
	for name := range r.fields {
		r.fail(name, errors.New("unknown field"))
	}
}

// enter moves on to a value.
func (r *jsonReader) enter(value json.RawMessage) {
	r.fields = make(map[string]json.RawMessage)
	switch {
	case len(value) > 0 && value[0] == '{':
		r.fail("", json.Unmarshal(value, &r.fields))
	case value != nil:
		r.fields[""] = value
	}
}

func (r *jsonReader) plain(name, _ string, v any) {
	if value := r.take(name); value != nil {
		r.fail(name, json.Unmarshal(value, v))
	}
}

func (r *jsonReader) open(name string, optional, _ bool) bool {
	value := r.take(name)
	if value == nil && optional {
		return false
	}
	if value != nil && value[0] != '{' {
		r.fail(name, errors.New("not an object"))
		value = nil
	}
	r.outer = append(r.outer, outerObject{fields: r.fields})
	r.enter(value)
	return true
}

func (r *jsonReader) end() {
	r.left()
	n := len(r.outer) - 1
	r.fields, r.outer = r.outer[n].fields, r.outer[:n]
}

func (r *jsonReader) list(name string, _ int) int {
	var parts []json.RawMessage
	r.plain(name, "", &parts)
	if len(parts) > 0 {
		r.outer = append(r.outer, outerObject{r.fields, parts[1:]})
		r.enter(parts[0])
	}
	return len(parts)
}

func (r *jsonReader) next() {
	x := &r.outer[len(r.outer)-1]
	if len(x.parts) == 0 {
		r.end()
		return
	}
	r.left()
	r.enter(x.parts[0])
	x.parts = x.parts[1:]
}

// json returns the value as JSON: an object, unless its only field has no name.
func (v visit) json() []byte {
	w := jsonWriter{make([]frame, 1)}
	v(&Fields{dir: writingJSON, form: &w})
	return appendJSON(nil, w.frames[0].value())
}

// readJSON reads a new value from JSON that is known to be valid.
func readJSON(k kind, text []byte) (visit, error) {
	r, v := new(jsonReader), k.blank()
	r.enter(bytes.TrimSpace(text))
	v(&Fields{dir: readingJSON, form: r})
	r.left()
	return v, r.err
}
