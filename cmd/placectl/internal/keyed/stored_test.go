package keyed

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/launch"
)

var update = flag.Bool("update", false, "rewrite testdata")

// everything returns an answer with each kind of part, column and value.
func everything() *Recording {
	rec, line := new(Recording), new(Recording)
	columns := []output.Column{{Name: "list", Kind: output.List, Nodes: true, Required: true, Least: 8},
		{Name: "flag", Kind: output.Boolean, Flag: true},
		{Name: "none", Kind: output.Prose, Right: true, Detail: true}, {Name: "large", Kind: output.Integer},
		{Name: "infinite", Kind: output.Number},
		{Name: "start", Kind: output.Time}, {Name: "walltime", Kind: output.Duration}, {Name: "mem", Kind: output.Size},
		{Name: "command", Kind: output.Words}, {Name: "more", Kind: output.Object},
		{Name: "job", Kind: output.JobNumber}, {Name: "text"}}
	p := rec.Answer(output.Options{}, output.Result{Columns: columns, ID: 10, Made: true, Many: true, Record: true,
		Exact: true})
	p.Row([]string{"n1", "n2"}, true, nil, uint64(math.MaxUint64), math.Inf(1), int64(1796083200), 5400, int64(1)<<33,
		[]string{"echo", "a b"}, map[string]any{"x": []int{1}}, uint64(24), "\xff is no UTF-8")
	p.Row([]string{}, false, nil, nil, 0.1, nil, nil, nil, nil, nil, nil, nil)
	p.Close()
	line.Write([]byte("one\n"))
	rec.Add(Part{Line: line, Number: 3, Verb: "node set"})
	rec.Add(Part{Note: "said", Verbose: true, Code: "never"})
	rec.InForms(func(f output.Format) bool { return f.Traits().Document }, func() error {
		_, err := rec.Write([]byte("documents alone\n"))
		return err
	})
	rec.Add(
		Part{Launch: []launch.Notice{{Event: launch.Start, Job: 24, Start: 1796083200, Command: []string{"true"},
			Env: []string{"A=1"}, Chunks: []string{"n1"}}}})
	rec.Add(Part{Failed: "n1: no route to host"})
	return rec
}

// TestStored: databases keep answers in the form of testdata/answer-1.json. If it changes, programs misread the answers
// that they kept before: raise storedVersion, and keep the older file and a reader of it.
func TestStored(t *testing.T) {
	const file = "testdata/answer-1.json"
	text, err := everything().Encode()
	if err != nil {
		t.Fatal(err)
	}
	var pretty bytes.Buffer
	json.Indent(&pretty, text, "", " ")
	pretty.WriteByte('\n')
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o777), os.WriteFile(file, pretty.Bytes(), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(pretty.Bytes(), golden) {
		t.Errorf("an answer is stored as\n%s\nand not as in %s", pretty.Bytes(), file)
	}
	kept, err := Decode(golden)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := kept.Encode(); err != nil || !bytes.Equal(again, text) {
		t.Errorf("%s, read and written, is\n%s\n%v", file, again, err)
	}
	for text, told := range map[string]string{
		`{"version":2,"parts":[]}`: "version 2", `{"parts":[{"text":"x"}]}`: "version 0",
		`{"version":1,"parts":[{"rows":{"answer":{"columns":[{"name":"a","kind":"3"}]}}}]}`: "3 is not one of",
		`{"version":1,`: "unexpected end",
	} {
		if _, err := Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), told) {
			t.Errorf("Decode(%s) returns %v", text, err)
		}
	}
}

// TestStoredNames: whatever is stored has a name of its own, given here and not by Go: each field has a tag,
// and no number
// stands for a constant.
func TestStoredNames(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(at string, typ reflect.Type)
	walk = func(at string, typ reflect.Type) {
		if seen[typ] || typ.Implements(reflect.TypeFor[encoding.TextMarshaler]()) ||
			typ == reflect.TypeFor[json.RawMessage]() {
			return
		}
		seen[typ] = true
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice:
			walk(at, typ.Elem())
		case reflect.Struct:
			for i := range typ.NumField() {
				field := typ.Field(i)
				tag := field.Tag.Get("json")
				switch {
				case !field.IsExported() || tag == "-":
				case tag == "":
					t.Errorf("%s.%s has no JSON name", at, field.Name)
				default:
					walk(at+"."+field.Name, field.Type)
				}
			}
		case reflect.Interface, reflect.Map:
			t.Errorf("%s may hold anything", at)
		default:
			if typ.PkgPath() != "" {
				t.Errorf("%s is stored as the %s of %s", at, typ.Kind(), typ)
			}
		}
	}
	walk("answer", reflect.TypeFor[stored]())
}
