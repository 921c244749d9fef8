package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/internal/attribute"
)

// The JSON for programs is frozen, and docs/json.txt has a schema of each verb's answer. While scripts
// run, each process that answers in JSON saves the columns of its answers and its output. The schemas are
// made from the columns, and all output is validated by them.

// answersVariable names the folder for that.
const answersVariable = "TEST_ANSWERS"

// schemas is the file of the schemas.
const schemas = "../../../docs/json.txt"

// seenAnswer is the description of an answer, and of the objects in it.
type seenAnswer struct {
	Verb    string
	Many    bool
	Columns []seenColumn
}

type seenColumn struct {
	Name   string
	Number bool // the number of a job
	Schema *schema
}

// watchAnswers saves the answers of this process.
func watchAnswers(e *session.Env, dir string) {
	form := ""
	for i, arg := range e.Args {
		if arg == "-o" && i+1 < len(e.Args) {
			form = e.Args[i+1]
		}
		if strings.HasPrefix(arg, "--output=") {
			form = strings.TrimPrefix(arg, "--output=")
		}
	}
	if form != "json" && form != "jsonl" || slices.ContainsFunc(e.Args, func(a string) bool {
		return a == "--follow" || a == "-f" && e.Args[0] != "tx"
	}) {
		return
	}
	for _, verb := range []string{"run", "on", "work", "logs", "shell", "top", "attend", "keep", "mcp"} {
		if slices.Contains(e.Args, verb) {
			return
		}
	}
	file, err := os.CreateTemp(dir, "*."+form)
	if err != nil {
		return
	}
	e.Stdout = io.MultiWriter(e.Stdout, file)
	// stderr has a line for the asking host
	forwarded := slices.ContainsFunc(e.Args, func(a string) bool { return strings.HasPrefix(a, "--begun") })
	if complaints, err := os.Create(file.Name() + ".err"); err == nil && !forwarded {
		e.Stderr = io.MultiWriter(e.Stderr, complaints)
	}
	e.Watch = func(verb string, res output.Result, row []any) {
		a := seenAnswer{Verb: verb, Many: !res.Record || res.Many}
		for i, c := range res.Columns {
			var value any
			if row != nil {
				value = row[i]
			}
			c.Required = c.Required && !(res.Made && c.Kind == output.JobNumber)
			a.Columns = append(a.Columns, seenColumn{c.Name, c.Kind == output.JobNumber, schemaOfColumn(c, value)})
		}
		line, err := json.Marshal(a)
		if err != nil {
			panic(err)
		}
		seen, err := os.OpenFile(file.Name()+".seen", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			seen.Write(append(line, '\n'))
			seen.Close()
		}
	}
}

// testAnswers validates what scripts have saved in a folder. With -update it rewrites the schemas from all
// scripts together.
func testAnswers(t *testing.T, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.seen"))
	if err != nil {
		t.Fatal(err)
	}
	all, printed := map[string][]seenAnswer{}, map[string]string{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			var a seenAnswer
			if err := json.Unmarshal(line, &a); err != nil {
				t.Fatalf("the saved answer %s is no JSON: %v", line, err)
			}
			all[a.Verb] = append(all[a.Verb], a)
			if of := strings.TrimSuffix(name, ".seen"); printed[of] != "tx" { // what follows a commit is no answer
				printed[of] = a.Verb // the outermost verb ends last
			}
		}
	}
	delete(all, "query") // its columns are chosen by the user
	if *update && len(all) > 40 {
		of := readSchemas(t)
		maps.DeleteFunc(of, func(name string, _ *schema) bool { return !strings.HasPrefix(name, "record ") })
		for verb, answers := range all {
			of[verb] = schemaOf(verb, answers)
		}
		writeSchemas(t, of)
	}
	of := readSchemas(t)
	for verb, answers := range all {
		compareSchema(t, of, verb, schemaOf(verb, answers))
	}
	for name, verb := range printed {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if verb != "query" && len(data) > 0 {
			validateAnswer(t, of, verb, data, strings.HasSuffix(name, ".jsonl"))
		}
	}
}

// testComplaints validates what processes that answer in JSON have written to stderr: lines of warnings,
// and an error at the end.
func testComplaints(t *testing.T, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.err"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			d := json.NewDecoder(bytes.NewReader(line))
			d.UseNumber()
			var said map[string]any
			if err := d.Decode(&said); err != nil || len(said) != 1 {
				t.Errorf("stderr has %.300q, not an object with one key (%v)", line, err)
				continue
			}
			for kind, v := range said {
				if kind != "error" && kind != "warning" {
					t.Errorf("stderr has %.300q, neither an error nor a warning", line)
				} else if err := validate(
					recordSchema(map[string][]attribute.Attribute{"error": attribute.Error,
						"warning": attribute.Warning}[kind]), v); err != nil {
					t.Errorf("stderr has %.300q: %v", line, err)
				}
			}
		}
	}
}

// schemaOf returns the common schema of a verb's answers. A key that some of them lack is not required.
func schemaOf(verb string, answers []seenAnswer) *schema {
	object := &schema{Type: []string{"object"}, Properties: map[string]*schema{}}
	counts := map[string]int{}
	for _, a := range answers {
		for _, c := range a.Columns {
			counts[c.Name]++
			s := cmp.Or(c.Schema, new(schema))
			if was := object.Properties[c.Name]; was == nil || len(schemaText(s)) > len(schemaText(was)) {
				object.Properties[c.Name] = s
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object.Properties)) {
		if counts[name] == len(answers) {
			object.Required = append(object.Required, name)
		}
	}
	if strings.HasPrefix(verb, "node ") { // the other columns are resources of a database
		maps.DeleteFunc(object.Properties, func(name string, _ *schema) bool {
			return !slices.Contains(object.Required, name)
		})
	}
	if answers[0].Many {
		return &schema{Type: []string{"array"}, Items: object}
	}
	return object
}

func schemaText(s *schema) string {
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		panic(err)
	}
	return string(text) + "\n"
}

// schemasHead begins the file of the schemas.
const schemasHead = `# The answers in JSON: verb, key and type, a line each. "." is the whole answer, [] the elements of a list, .* the
# values of an object whose keys are data, ? a key that may be missing. Records are whole rows that several verbs show.
# Tests compare it with the answers of all scripts: go test ./cmd/placectl/e2e -run 'TestScripts$|TestJobSchema' -update
`

// writeSchemas writes the schemas, a line for each value.
func writeSchemas(t *testing.T, of map[string]*schema) {
	t.Helper()
	if err := os.WriteFile(schemas, []byte(schemasText(of)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func schemasText(of map[string]*schema) string {
	var b strings.Builder
	b.WriteString(schemasHead)
	for _, verb := range slices.Sorted(maps.Keys(of)) {
		appendSchema(&b, verb, "", of[verb])
	}
	return b.String()
}

func appendSchema(b *strings.Builder, verb, path string, s *schema) {
	is := cmp.Or(strings.Join(s.Type, "|"), "any")
	if s.Format != "" {
		is = strings.Replace(is, "string", s.Format, 1)
	}
	fmt.Fprintf(b, "%s\t%s\t%s\n", verb, cmp.Or(path, "."), is)
	if s.Items != nil {
		appendSchema(b, verb, path+"[]", s.Items)
	}
	if s.Values != nil {
		appendSchema(b, verb, path+".*", s.Values)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		key := "." + name
		if !slices.Contains(s.Required, name) {
			key += "?"
		}
		appendSchema(b, verb, path+key, s.Properties[name])
	}
}

var schemaKey = regexp.MustCompile(`\[\]|\.[^.\[]+`)

// readSchemas reads what writeSchemas wrote.
func readSchemas(t *testing.T) map[string]*schema {
	t.Helper()
	data, err := os.ReadFile(schemas)
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]*schema{}
	for line := range strings.Lines(strings.TrimPrefix(string(data), schemasHead)) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(parts) != 3 {
			t.Fatalf("%s: %q is not verb, key and type", schemas, line)
		}
		s, at := new(schema), of[parts[0]]
		if parts[2] != "any" {
			s.Type = strings.Split(parts[2], "|")
		}
		if len(s.Type) > 0 && s.Type[0] == "date-time" {
			s.Type[0], s.Format = "string", "date-time"
		}
		if at == nil {
			of[parts[0]] = s
			continue
		}
		keys := schemaKey.FindAllString(parts[1], -1)
		for i, key := range keys {
			name, optional := strings.CutSuffix(key[1:], "?")
			last := i == len(keys)-1
			switch {
			case last && key == "[]":
				at.Items = s
			case last && key == ".*":
				at.Values = s
			case last:
				if at.Properties == nil {
					at.Properties = map[string]*schema{}
				}
				if at.Properties[name] = s; !optional {
					at.Required = append(at.Required, name)
				}
			case key == "[]":
				at = at.Items
			case key == ".*":
				at = at.Values
			default:
				at = at.Properties[name]
			}
		}
	}
	return of
}

// TestSchemas: what is read of the schemas is written again.
func TestSchemas(t *testing.T) {
	data, err := os.ReadFile(schemas)
	if err != nil {
		t.Fatal(err)
	}
	if text := schemasText(readSchemas(t)); text != string(data) {
		t.Errorf("%s is not as it is written: run TestScripts with -update", schemas)
	}
}

// compareSchema fails if answers have a shape, a key or a type that the schema lacks. The schema may have
// more, because perhaps not all scripts were run.
func compareSchema(t *testing.T, of map[string]*schema, verb string, seen *schema) {
	t.Helper()
	want := of[verb]
	if want == nil {
		t.Errorf("%s has no schema of %s: run TestScripts with -update", schemas, verb)
		return
	}
	if !slices.Equal(want.Type, seen.Type) {
		t.Errorf("%s answers with %v, but its schema says %v", verb, seen.Type, want.Type)
		return
	}
	if want.Items != nil {
		want, seen = want.Items, seen.Items
	}
	for name, s := range seen.Properties {
		has := want.Properties[name]
		switch {
		case has == nil && strings.HasPrefix(verb, "node "): // a resource
		case has == nil:
			t.Errorf("%s: the schema lacks %s; run TestScripts with -update", verb, name)
		case s.Type != nil && has.Type != nil && !slices.Equal(has.Type, s.Type):
			t.Errorf("%s: %s is %v, but %v in the schema", verb, name, s.Type, has.Type)
		}
	}
}

// validateAnswer validates a verb's output.
func validateAnswer(t *testing.T, of map[string]*schema, verb string, data []byte, lines bool) {
	t.Helper()
	s := of[verb]
	if s == nil { // compareSchema has said so
		return
	}
	if lines && s.Items != nil {
		s = s.Items
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	for n := 0; ; n++ {
		var v any
		if err := d.Decode(&v); err == io.EOF {
			return
		} else if err != nil {
			t.Errorf("%s: not JSON: %v in %.200s", verb, err, data)
			return
		}
		if n > 0 && !lines {
			t.Errorf("%s: more than one document: %.200s", verb, data)
			return
		}
		if err := validate(s, v); err != nil {
			t.Errorf("%s: not valid by its schema: %v in %.300s", verb, err, data)
			return
		}
	}
}

// instant matches an instant in answers.
var instant = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`)

// validate validates a value by a schema.
func validate(s *schema, v any) error {
	is := ""
	switch v := v.(type) {
	case nil:
		is = "null"
	case string:
		is = "string"
		if s.Format == "date-time" {
			if _, err := time.Parse(time.RFC3339, v); err != nil || !instant.MatchString(v) {
				return fmt.Errorf("%q is no time in UTC of whole seconds", v)
			}
		}
	case bool:
		is = "boolean"
	case json.Number:
		if is = "number"; !strings.ContainsAny(v.String(), ".eE") && !slices.Contains(s.Type, "number") {
			is = "integer"
		}
	case []any:
		is = "array"
		for i, e := range v {
			if s.Items == nil {
				break
			}
			if err := validate(s.Items, e); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
	case map[string]any:
		is = "object"
		for _, name := range s.Required {
			if _, ok := v[name]; !ok {
				return fmt.Errorf("the key %s is missing", name)
			}
		}
		for name, e := range v {
			of := cmp.Or(s.Properties[name], s.Values)
			if of == nil {
				continue
			}
			if err := validate(of, e); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if s.Type != nil && !slices.Contains(s.Type, is) {
		return fmt.Errorf("%v is %s, and should be %v", v, is, s.Type)
	}
	return nil
}

// TestValidate: validate notices errors.
func TestValidate(t *testing.T) {
	s := &schema{Type: []string{"array"}, Items: &schema{Type: []string{"object"},
		Required: []string{"job"}, Properties: map[string]*schema{
			"job": {Type: []string{"integer", "null"}}, "end": {Type: []string{"string"}, Format: "date-time"},
			"wait": {Type: []string{"number"}}}}}
	for text, good := range map[string]bool{
		`[]`: true, `[{"job":1,"end":"2026-01-01T00:00:00Z","wait":1.5,"more":1}]`: true,
		`[{"job":null,"wait":2}]`: true,
		`{}`:                      false, `[{}]`: false, `[{"job":"1"}]`: false, `[{"job":1.5}]`: false,
		`[{"job":1,"end":"2026-01-01T00:00:00.5Z"}]`:    false,
		`[{"job":1,"end":"2026-01-01T01:00:00+01:00"}]`: false, `[{"job":1,"wait":null}]`: false,
	} {
		var v any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		if err := validate(s, v); (err == nil) != good {
			t.Errorf("validate(%s) = %v, want it accepted: %v", text, err, good)
		}
	}
}

// TestJobSchema: the records of jobs, events, errors and warnings are as declared.
func TestJobSchema(t *testing.T) {
	for name, record := range map[string][]attribute.Attribute{"job": attribute.Job, "event": attribute.Event,
		"error": attribute.Error, "warning": attribute.Warning} {
		s := recordSchema(record)
		if *update {
			of := readSchemas(t)
			of["record "+name] = s
			writeSchemas(t, of)
		}
		if has := readSchemas(t)["record "+name]; has == nil || schemaText(has) != schemaText(s) {
			t.Errorf("record %s in %s is stale: run TestJobSchema with -update", name, schemas)
		}
	}
}

// recordSchema returns the schema of a declared record.
func recordSchema(record []attribute.Attribute) *schema {
	s := &schema{Type: []string{"object"}, Properties: map[string]*schema{}}
	for _, a := range record {
		types := map[attribute.Type]string{attribute.Text: "string", attribute.Prose: "string",
			attribute.Number: "integer", attribute.Integer: "integer",
			attribute.Ratio: "number", attribute.Truth: "boolean", attribute.Time: "string",
			attribute.Duration: "number", attribute.Size: "integer",
			attribute.Nodes: "array", attribute.List: "array", attribute.Words: "array", attribute.Object: "array"}
		of := &schema{Type: []string{types[a.Type]}}
		if a.Type == attribute.Time {
			of.Format = "date-time"
		}
		if !a.Required {
			of.Type = append(of.Type, "null")
		}
		s.Properties[a.Name] = of
	}
	return s
}
