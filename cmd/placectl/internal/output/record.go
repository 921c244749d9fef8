package output

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Recording is an answer as data with all its columns, which can be printed later in any form.
type Recording struct {
	Result Result       `json:"answer"`
	Rows   [][]recorded `json:"rows"`
}

// RecordTo starts an answer that goes into a recording. The options say how to measure values.
func RecordTo(to *Recording, o Options, res Result) *Printer {
	p := New(nil, o, res)
	p.buf, to.Result, p.rec = nil, res, to
	return p
}

// Print prints the recording.
func (rec *Recording) Print(p *Printer) error {
	if err := rec.PrintRows(p); err != nil {
		return err
	}
	return p.Close()
}

// PrintRows prints the recording's rows as part of an answer.
func (rec *Recording) PrintRows(p *Printer) error {
	for _, row := range rec.Rows {
		values := make([]any, len(row))
		for i, v := range row {
			values[i] = v.value()
		}
		if err := p.Row(values...); err != nil {
			return err
		}
	}
	return nil
}

// recorded is a kept value: at most one field is set, none for nil.
type recorded struct {
	Text    *string         `json:"t,omitempty"`
	Integer *int64          `json:"i,omitempty"`
	Large   *uint64         `json:"u,omitempty"` // beyond int64
	Float   *string         `json:"f,omitempty"`
	Boolean *bool           `json:"b,omitempty"`
	List    *[]string       `json:"l,omitempty"`
	Other   json.RawMessage `json:"o,omitempty"`
}

func record(v any) (out recorded) {
	if n, ok := WholeNumber(v); ok {
		return recorded{Integer: &n}
	}
	switch v := v.(type) {
	case nil:
	case string:
		out.Text = &v
	case uint64:
		out.Large = &v
	case bool:
		out.Boolean = &v
	case float64:
		text := strconv.FormatFloat(v, 'g', -1, 64) // JSON has no infinity
		out.Float = &text
	case []string:
		list := append([]string{}, v...) // JSON would turn an empty list into nil
		out.List = &list
	default:
		if s, ok := namedString(v); ok {
			out.Text = &s
			return out
		}
		out.Other = bytes.TrimSpace(appendJSONAny(nil, v))
	}
	return out
}

func (r recorded) value() any {
	switch {
	case r.Text != nil:
		return *r.Text
	case r.Integer != nil:
		return *r.Integer
	case r.Large != nil:
		return *r.Large
	case r.Boolean != nil:
		return *r.Boolean
	case r.Float != nil:
		f, _ := strconv.ParseFloat(*r.Float, 64)
		return f
	case r.List != nil:
		return *r.List
	case r.Other != nil:
		return r.Other
	}
	return nil
}
