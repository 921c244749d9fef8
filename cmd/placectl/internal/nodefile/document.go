package nodefile

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
)

// document is a JSON value written by another tool, with its place in the file.
type document struct {
	at      int
	token   json.Token // json.Delim('{') or ('['), or the scalar
	text    string     // of a scalar; null is ""
	names   []string   // names of an object's members
	members []*document
}

// maxDepth bounds the nesting of documents.
const maxDepth = 64

// documents reads a file of one or several values.
func (f *File) documents() ([]*document, error) {
	j := &jsonNodes{File: f, dec: json.NewDecoder(bytes.NewReader(f.Data))}
	j.dec.UseNumber()
	var out []*document
	for {
		tok, err := j.token()
		if err == io.EOF && len(out) > 0 {
			return out, nil
		}
		if err == io.EOF {
			return nil, f.Errorf(0, "the file is empty")
		}
		if err != nil {
			return nil, err
		}
		d, err := j.document(tok, 0)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
}

func (j *jsonNodes) document(tok json.Token, depth int) (*document, error) {
	d := &document{at: j.at, token: tok}
	switch {
	case depth > maxDepth:
		return nil, j.Errorf(j.at, "the file is nested more than %d levels deep", maxDepth)
	case tok != json.Delim('{') && tok != json.Delim('['):
		var err error
		d.text, err = j.scalar(tok)
		return d, err
	}
	for {
		tok, err := j.inside()
		if err != nil {
			return nil, err
		}
		if tok == json.Delim('}') || tok == json.Delim(']') {
			return d, nil
		}
		if d.token == json.Delim('{') {
			name, _ := tok.(string) // the decoder allows nothing else
			d.names = append(d.names, name)
			if tok, err = j.inside(); err != nil {
				return nil, err
			}
		}
		m, err := j.document(tok, depth+1)
		if err != nil {
			return nil, err
		}
		d.members = append(d.members, m)
	}
}

func (d *document) isObject() bool { return d != nil && d.token == json.Delim('{') }
func (d *document) isList() bool   { return d != nil && d.token == json.Delim('[') }

// get finds a member at a path of objects; nil if there is none.
func (d *document) get(path ...string) *document {
	for _, name := range path {
		if !d.isObject() {
			return nil
		}
		var found *document
		for i := range d.names {
			if d.names[i] == name {
				found = d.members[i]
			}
		}
		d = found
	}
	return d
}

// list returns the elements of a list, none of anything else.
func (d *document) list() []*document {
	if !d.isList() {
		return nil
	}
	return d.members
}

// each calls fn for the members of an object.
func (d *document) each(fn func(name string, m *document) error) error {
	if !d.isObject() {
		return nil
	}
	for i, name := range d.names {
		if err := fn(name, d.members[i]); err != nil {
			return err
		}
	}
	return nil
}

// word returns a scalar's text, the elements of a list joined by commas, or the number in what newer
// versions of Slurm write as {"set":true,"infinite":false,"number":1}.
func (d *document) word() string {
	switch {
	case d == nil:
		return ""
	case d.isList():
		var words []string
		for _, m := range d.members {
			words = append(words, m.word())
		}
		return strings.Join(words, ",")
	case !d.isObject():
		return plainNumber(d.text)
	}
	if set := d.get("set"); set != nil && set.text == "true" {
		return d.get("number").word()
	}
	return ""
}
