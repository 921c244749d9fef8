package functions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/values"
)

// jsonStep is one step into a document: a name, or an index from the front or the back.
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

// jsonSteps reads the right side of -> and ->>: a path, a name or an index.
func jsonSteps(v values.Value) ([]jsonStep, bool) {
	switch {
	case v.Kind() == values.Integer && v.Int64() < 0:
		return []jsonStep{{index: int(-v.Int64()), byIndex: true, back: true}}, true
	case v.Kind() == values.Integer:
		return []jsonStep{{index: int(v.Int64()), byIndex: true}}, true
	case v.String() == "":
		return nil, false
	case strings.HasPrefix(v.String(), "$"):
		return jsonPath(v.String())
	case strings.HasPrefix(v.String(), "["):
		return jsonPath("$" + v.String())
	}
	return []jsonStep{{name: v.String()}}, true
}

// find goes one step into a document; nil if there is nothing.
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

// JSONAt returns a part of a document, as JSON or as a value.
func JSONAt(e *Budget, doc, path values.Value, asValue bool) values.Value {
	if doc.Kind() == values.Null {
		return values.Value{}
	}
	text := []byte(doc.String())
	if !json.Valid(text) || !utf8.Valid(text) {
		return e.Fail(fmt.Errorf("%w: malformed JSON: %s", fault.ErrQuery, values.Quote(shorten(doc.String()))))
	}
	if path.Kind() == values.Null {
		return values.Value{}
	}
	steps, ok := jsonSteps(path)
	if !ok {
		return e.Fail(fmt.Errorf("%w: bad JSON path: %s", fault.ErrQuery, values.Quote(shorten(path.String()))))
	}
	for _, step := range steps {
		if text = step.find(text); text == nil {
			return values.Value{}
		}
	}
	if asValue {
		return jsonValue(text)
	}
	return values.String(compactJSON(text))
}
