package output

import (
	"encoding/json"
	"reflect"
)

// Schema is the part of JSON Schema that answers need.
type Schema struct {
	Type       []string           `json:"type,omitempty"`
	Format     string             `json:"format,omitempty"`
	Items      *Schema            `json:"items,omitempty"`
	Properties map[string]*Schema `json:"properties,omitempty"`
	Required   []string           `json:"required,omitempty"`
	Values     *Schema            `json:"additionalProperties,omitempty"` // of a map
}

// SchemaOf describes the values of a column. For an object, value adds detail.
func SchemaOf(c Column, value any) *Schema {
	s := map[Kind]Schema{Text: {Type: []string{"string"}}, Prose: {Type: []string{"string"}},
		Integer: {Type: []string{"integer"}},
		Number:  {Type: []string{"number"}}, Boolean: {Type: []string{"boolean"}},
		Time:     {Type: []string{"string"}, Format: "date-time"},
		Duration: {Type: []string{"number"}}, Size: {Type: []string{"integer"}},
		JobNumber: {Type: []string{"integer"}}}[c.Kind]
	switch c.Kind {
	case List, Words:
		s = Schema{Type: []string{"array"}, Items: &Schema{Type: []string{"string"}}}
	case Object:
		if value == nil {
			return nil
		}
		if o, ok := value.(Objects); ok {
			s = *o.schema()
			break
		}
		s = *typeSchema(reflect.TypeOf(value))
	}
	if !c.Required && c.Kind != List && c.Kind != Words && s.Type != nil && s.Type[0] != "array" {
		s.Type = append(s.Type[:1:1], "null")
	}
	return &s
}

// schema describes the objects. What is not of one type in all of them may be anything.
func (o Objects) schema() *Schema {
	s := &Schema{Type: []string{"object"}, Properties: make(map[string]*Schema)}
	for i, c := range o.columns {
		var value any
		if len(o.rows) > 0 {
			value = o.rows[0][i]
		}
		key := SchemaOf(c, value)
		if _, nested := value.(Objects); c.Kind == Object && !nested && (key == nil || key.Items == nil) {
			key = new(Schema)
		}
		s.Properties[c.Name], s.Required = key, append(s.Required, c.Name)
	}
	if o.one {
		return s
	}
	return &Schema{Type: []string{"array"}, Items: s}
}

// typeSchema describes what appendJSONObject writes for a type.
func typeSchema(t reflect.Type) *Schema {
	null := false
	for t.Kind() == reflect.Pointer {
		t, null = t.Elem(), true
	}
	s := new(Schema)
	switch {
	case t == instantType:
		s.Type, s.Format = []string{"string"}, "date-time"
	case t == durationType:
		s.Type = []string{"number"}
	case t == rawType, t.Kind() == reflect.Interface, t.Implements(reflect.TypeFor[json.Marshaler]()):
		return s
	case t.Kind() == reflect.String:
		s.Type = []string{"string"}
	case t.Kind() == reflect.Bool:
		s.Type = []string{"boolean"}
	case t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64:
		s.Type = []string{"number"}
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		s.Type, s.Items = []string{"array"}, typeSchema(t.Elem())
	case t.Kind() == reflect.Map:
		s.Type, s.Values = []string{"object"}, typeSchema(t.Elem())
	case t.Kind() == reflect.Struct:
		s.Type, s.Properties = []string{"object"}, make(map[string]*Schema)
		eachKey(t, reflect.New(t).Elem(), func(name string, absent bool, t reflect.Type, _ reflect.Value) {
			key := typeSchema(t)
			if absent && key.Type != nil && key.Type[0] != "array" {
				key.Type = append(key.Type[:1:1], "null")
			}
			s.Properties[name], s.Required = key, append(s.Required, name)
		})
	default:
		s.Type = []string{"integer"}
	}
	if null && s.Type != nil {
		s.Type = append(s.Type[:1:1], "null")
	}
	return s
}
