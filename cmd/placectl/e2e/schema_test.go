package e2e

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
)

// schema is the part of JSON Schema that answers need.
type schema struct {
	Type       []string           `json:"type,omitempty"`
	Format     string             `json:"format,omitempty"`
	Items      *schema            `json:"items,omitempty"`
	Properties map[string]*schema `json:"properties,omitempty"`
	Required   []string           `json:"required,omitempty"`
	Values     *schema            `json:"additionalProperties,omitempty"` // of a map
}

// schemaOfColumn describes the values of a column. For an object, value adds detail.
func schemaOfColumn(c output.Column, value any) *schema {
	s := map[output.Kind]schema{output.Text: {Type: []string{"string"}}, output.Prose: {Type: []string{"string"}},
		output.Integer: {Type: []string{"integer"}},
		output.Number:  {Type: []string{"number"}}, output.Boolean: {Type: []string{"boolean"}},
		output.Time:     {Type: []string{"string"}, Format: "date-time"},
		output.Duration: {Type: []string{"number"}}, output.Size: {Type: []string{"integer"}},
		output.JobNumber: {Type: []string{"integer"}}}[c.Kind]
	list := c.Kind == output.List || c.Kind == output.Words
	switch {
	case list:
		s = schema{Type: []string{"array"}, Items: &schema{Type: []string{"string"}}}
	case c.Kind == output.Object && value == nil:
		return nil
	case c.Kind == output.Object:
		s = *schemaOfValue(reflect.ValueOf(value))
	}
	if !c.Required && !list && s.Type != nil && s.Type[0] != "array" {
		s.Type = append(s.Type[:1:1], "null")
	}
	return &s
}

// schemaOfValue describes what answers write for an object.
func schemaOfValue(v reflect.Value) *schema {
	if g, ok := v.Interface().(output.Grouped); ok {
		return schemaOfValue(reflect.ValueOf(g.Objects()))
	}
	if o, ok := v.Interface().(output.Objects); ok {
		return schemaOfObjects(o)
	}
	if v.Kind() == reflect.Map {
		s := &schema{Type: []string{"object"}, Values: schemaOfType(v.Type().Elem())}
		for _, e := range v.Seq2() {
			s.Values = schemaOfValue(e)
		}
		return s
	}
	return schemaOfType(v.Type())
}

// schemaOfObjects describes objects. What is not of one type in all of them may be anything.
func schemaOfObjects(o output.Objects) *schema {
	s := &schema{Type: []string{"object"}, Properties: make(map[string]*schema)}
	for i, c := range o.Columns {
		var value any
		if len(o.Rows) > 0 {
			value = o.Rows[0][i]
		}
		key := schemaOfColumn(c, value)
		if _, nested := value.(output.Objects); c.Kind == output.Object && !nested && (key == nil || key.Items == nil) {
			key = new(schema)
		}
		s.Properties[c.Name], s.Required = key, append(s.Required, c.Name)
	}
	if o.One {
		return s
	}
	return &schema{Type: []string{"array"}, Items: s}
}

// schemaOfType describes what encoding/json writes for a type.
func schemaOfType(t reflect.Type) *schema {
	s := new(schema)
	switch {
	case t.Kind() == reflect.Pointer:
		s = schemaOfType(t.Elem())
		if s.Type != nil {
			s.Type = append(s.Type[:1:1], "null")
		}
	case t.Kind() == reflect.Interface, t.Implements(reflect.TypeFor[json.Marshaler]()):
	case t.Kind() == reflect.String:
		s.Type = []string{"string"}
	case t.Kind() == reflect.Bool:
		s.Type = []string{"boolean"}
	case t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64:
		s.Type = []string{"number"}
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		s.Type, s.Items = []string{"array"}, schemaOfType(t.Elem())
	case t.Kind() == reflect.Map:
		s.Type, s.Values = []string{"object"}, schemaOfType(t.Elem())
	case t.Kind() == reflect.Struct:
		s.Type, s.Properties = []string{"object"}, make(map[string]*schema)
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			s.Properties[name], s.Required = schemaOfType(f.Type), append(s.Required, name)
		}
	default:
		s.Type = []string{"integer"}
	}
	return s
}
