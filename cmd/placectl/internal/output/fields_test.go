package output

import (
	"strings"
	"testing"
)

// TestFields: an answer reads only the values that it shows, in order.
func TestFields(t *testing.T) {
	type thing struct{ name, note string }
	read := ""
	value := func(of func(thing) string) func(thing) any {
		return func(x thing) any { read += of(x) + " "; return of(x) }
	}
	all := Fields[thing]{
		{Name: "name", Value: value(func(x thing) string { return x.name })},
		{Name: "note", Detail: true, Value: value(func(x thing) string { return x.note })},
		{Name: "twice", Kind: Integer, Value: func(x thing) any { return 2 * len(x.name) }},
	}
	for _, tt := range []struct {
		pick       string
		format     Format
		want, read string
	}{
		{"twice name note*", CSV, "twice,name\n8,abcd\n", "abcd "},
		{"twice name note*", JSONL, `{"twice":8,"name":"abcd","note":"n"}` + "\n", "abcd n "},
		{"note", CSV, "note\nn\n", "n "},
	} {
		var b strings.Builder
		read = ""
		fields := all.Pick(tt.pick)
		p := New(&b, Options{Format: tt.format}, Result{Columns: fields.Columns()})
		if err := fields.Print(p, thing{"abcd", "n"}); err != nil || p.Close() != nil {
			t.Fatal(err)
		}
		if b.String() != tt.want || read != tt.read {
			t.Errorf("Pick(%s) prints %q, want %q; read %q, want %q", tt.pick, b.String(), tt.want, read, tt.read)
		}
	}
}
