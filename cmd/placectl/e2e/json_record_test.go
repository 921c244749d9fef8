package e2e

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/placectl/placectl/internal/attribute"
	"github.com/placectl/placectl/internal/engine"
)

// TestOneRecord: the attributes of a job are the same in every answer about it, and in queries.
func TestOneRecord(t *testing.T) {
	s := newSimulation(t, t.TempDir())
	for _, line := range []string{
		"submit 1:ncpus=1 -t 1h --name runs --comment why -- ./solve 'a b'",
		"submit 1:ncpus=1 -t 2h --array 3-7:2 --priority 4 --afterok 1",
		"submit 1:ncpus=1 -t 30m --hold --name held --deadline now+9h", "submit 99:ncpus=9 -t 1h --name never",
		"submit 1:ncpus=1 --begin now+3h -t 1h --name later",
		"place 1:ncpus=1 -t 10m --name placed", "cycle", "submit 1:ncpus=1 -t 1h --name ended", "cycle", "cancel 5",
		"done 1 --status 3",
	} {
		s.call(line+"\n", "tx", "-q")
	}
	const asked = "SELECT *, json(nodes) AS nodes_list, json(after) AS after_list FROM jobs"
	queried := recordsOf(t, s.must("query", asked, "-o", "json"))
	if len(queried) < 8 {
		t.Fatalf("the query returns only %d jobs", len(queried))
	}
	declared := map[string]attribute.Type{}
	for _, a := range attribute.Job {
		declared[a.Name] = a.Type
	}
	compared := map[string]int{}
	compare := func(where string, record map[string]any) {
		t.Helper()
		id := fmt.Sprint(record["job"])
		q := queried[id]
		for name, value := range record {
			kind, known := declared[name]
			if !known && name != "event" {
				t.Errorf("%s: %s is no attribute of a job", where, name)
			}
			want, isColumn := q[name]
			switch name {
			case "nodes", "after":
				want = q[name+"_list"]
			case "command":
				want, value = fmt.Sprint(want), strings.Join(texts(value), " ")
				if want == "<nil>" {
					want = ""
				}
			}
			if !isColumn {
				continue
			}
			compared[name]++
			// 1 and 1.0 are equal
			if (kind == attribute.Duration || kind == attribute.Ratio) && value != nil && want != nil {
				want, value = fmt.Sprint(want), fmt.Sprint(value)
				want = strings.TrimSuffix(want.(string), ".0")
			}
			if !reflect.DeepEqual(want, value) {
				t.Errorf("%s: job %s has %s %v, but in a query %v", where, id, name, value, want)
			}
		}
	}
	for id := range queried {
		for _, record := range recordsOf(t, s.must("show", id, "-o", "json")) {
			compare("show", record)
		}
	}
	for _, args := range [][]string{{"job", "list", "--all"}, {"history"}} {
		for _, record := range recordsOf(t, s.must(append(args, "-o", "json")...)) {
			if args[0] == "history" { // it shows facts, not forecasts
				delete(record, "reason")
				delete(record, "reason_code")
			}
			compare(strings.Join(args, " "), record)
		}
	}
	aside := []string{"nodes_list", "after_list", "ncpus", "ngpus", "mem"} // answers have the last three in chunks
	for name := range queried["1"] {
		if compared[name] == 0 && !slices.Contains(aside, name) {
			t.Errorf("the column %s is in no answer", name)
		}
	}
}

// TestAttributeFlags: submissions and alterations have a field for each flag that gives a job an attribute,
// and submissions have one for whatever an alteration changes.
func TestAttributeFlags(t *testing.T) {
	submission, alteration := reflect.TypeFor[engine.Submission](), reflect.TypeFor[engine.Alteration]()
	for _, f := range attribute.Flags {
		if _, ok := alteration.FieldByName(attribute.FieldName(f.Name)); !ok {
			t.Errorf("alter has --%s, and an alteration has no field for it", f.Name)
		}
	}
	for i := range alteration.NumField() {
		is := alteration.Field(i)
		if of, ok := submission.FieldByName(is.Name); is.Type.Kind() == reflect.Pointer &&
			(!ok || of.Type != is.Type.Elem()) {
			t.Errorf("an alteration changes %s, and a submission has no such field", is.Name)
		}
	}
}

func texts(v any) (out []string) {
	for _, e := range v.([]any) {
		out = append(out, fmt.Sprint(e))
	}
	return out
}

// recordsOf parses jobs in JSON, by number.
func recordsOf(t *testing.T, text string) map[string]map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("not JSON: %v in %s", err, text)
	}
	list, many := v.([]any)
	if !many {
		list = []any{v}
	}
	out := map[string]map[string]any{}
	for _, e := range list {
		record := e.(map[string]any)
		out[fmt.Sprint(record["job"])] = record
	}
	return out
}
