package pbs

import (
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/internal/bytejson"
)

// json is -F json: objects with members in the order of attributes.
func (s *status) json(list []*entry) error {
	jobs := new(object)
	for _, e := range list {
		one := new(object)
		for _, a := range s.attributes(e) {
			if a.resource == "" {
				one.set(a.name, number(a.value))
				continue
			}
			in, ok := one.get(a.name).(*object)
			if !ok {
				in = new(object)
				one.set(a.name, in)
			}
			in.set(a.resource, number(strings.TrimSpace(a.value)))
		}
		jobs.set(s.name(e), one)
	}
	doc := new(object)
	doc.set("timestamp", s.about.Now.Unix())
	doc.set("pbs_version", strings.TrimPrefix(version, "pbs_version = PBSPro_"))
	doc.set("pbs_server", s.about.Server)
	doc.set("Jobs", jobs)
	return doc.write(&s.b)
}

// number returns a whole number if the text is one.
func number(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(n, 10) == text {
		return n
	}
	return text
}

// object is a JSON object whose members keep their order.
type object struct {
	names  []string
	values []any
}

func (o *object) set(name string, v any) {
	o.names, o.values = append(o.names, name), append(o.values, v)
}

func (o *object) get(name string) any {
	if i := slices.Index(o.names, name); i >= 0 {
		return o.values[i]
	}
	return nil
}

// MarshalJSON writes the object in its order.
func (o *object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, name := range o.names {
		if i > 0 {
			b = append(b, ',')
		}
		key, err := bytejson.Marshal(name)
		if err != nil {
			return nil, err
		}
		value, err := bytejson.Marshal(o.values[i])
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, key...), ':'), value...)
	}
	return append(b, '}'), nil
}

func (o *object) write(b *strings.Builder) error {
	text, err := bytejson.MarshalIndent(o, "    ")
	b.Write(append(text, '\n'))
	return err
}
