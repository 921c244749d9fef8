package placer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placectl/placectl/index"
)

// grammarRow is one recorded input, and how OpenPBS read it.
type grammarRow struct {
	Kind         string // select, place or l (a resource list)
	Input        string
	Accepted     bool
	ResourceList map[string]any `json:"Resource_List"`
	SchedSelect  string
}

// grammarExceptions are the rows that we read in the same way but write differently, with our
// normal form. Verdicts have no exceptions.
var grammarExceptions = map[string]struct{ want, reason string }{
	"select 1:NCPUS=1": {"1:ncpus=1", "a resource is written as it was declared, not as the user wrote it"},
	"select 1:mem=1GB": {"1:mem=1gb:ncpus=1", "a size is a number of kb and written in one way"},
	"select 1:mem=1w":  {"1:mem=1kb:ncpus=1", "a size is kept in kb, rounded up: one word of 8 bytes is 1kb"},
	"select 1:mem=1kw": {"1:mem=8kb:ncpus=1", "a size is a number of kb and written in one way"},
}

// testDefs declares what the recorded rows use, and one of each other type.
func testDefs(t testing.TB) *index.Defs {
	t.Helper()
	defs := index.NewDefs()
	for _, def := range []index.Def{
		{Name: "shape", Type: index.String},
		{Name: "color", Type: index.String},
		{Name: "bool", Type: index.Boolean},
		{Name: "aoe", Type: index.StringArray},
		{Name: "power", Type: index.Float, Consumable: true},
		{Name: "tokens", Type: index.Long, Consumable: true},
		{Name: "level", Type: index.Long},
	} {
		if _, err := defs.Add(def); err != nil {
			t.Fatal(err)
		}
	}
	return defs
}

func readGrammar(t *testing.T) []grammarRow {
	t.Helper()
	f, err := os.Open("testdata/grammar.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []grammarRow
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var row grammarRow
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.UseNumber() // 1000000 is to stay as written
		if err := d.Decode(&row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	if len(rows) != 102 {
		t.Fatalf("%d rows, want 102", len(rows))
	}
	return rows
}

// parse reads the row's input as its kind says.
func (row grammarRow) parse(defs *index.Defs) (Spec, error) {
	switch row.Kind {
	case "select":
		chunks, err := ParseSelect(defs, row.Input)
		return Spec{Chunks: chunks}, err
	case "place":
		place, err := ParsePlace(defs, row.Input)
		return Spec{Chunks: []Chunk{{Count: 1, Wants: []Want{oneCPU}, Implied: true}}, Place: place}, err
	case "l":
		return parseResourceList(defs, row.Input, nil)
	}
	return Spec{}, fmt.Errorf("unknown kind %q", row.Kind)
}

func TestGrammar(t *testing.T) {
	defs := testDefs(t)
	for _, row := range readGrammar(t) {
		spec, err := row.parse(defs)
		if (err == nil) != row.Accepted {
			t.Errorf("%s %q: error %v, recorded as accepted: %v", row.Kind, row.Input, err, row.Accepted)
			continue
		}
		if err != nil {
			continue
		}
		want := row.SchedSelect
		if e, ok := grammarExceptions[row.Kind+" "+row.Input]; ok {
			want = e.want
		}
		if got := spec.Select(defs); got != want {
			t.Errorf("%s %q: normal form %s, want %s", row.Kind, row.Input, got, want)
		}
		row.checkResourceList(t, defs, spec)
		row.checkRequest(t, defs, spec)
	}
}

// checkResourceList compares totals, count, place and walltime.
func (row grammarRow) checkResourceList(t *testing.T, defs *index.Defs, spec Spec) {
	t.Helper()
	want, got := map[string]int64{}, map[string]int64{}
	for name, v := range row.ResourceList {
		def, ok := defs.Lookup(name)
		if !ok || !def.Type.Numeric() {
			continue
		}
		value, err := def.ParseValue(fmt.Sprint(v))
		if err != nil {
			t.Fatal(err)
		}
		want[def.Name] = value.Num
	}
	for _, w := range spec.Totals(defs) {
		def, _ := defs.Get(w.Res)
		got[def.Name] = w.Value.Num
	}
	want["nodect"], _ = row.ResourceList["nodect"].(json.Number).Int64()
	got["nodect"] = int64(spec.NumChunks())
	if walltime, ok := row.ResourceList["walltime"]; ok {
		p, _ := newReader(defs, "walltime", walltime.(string))
		want["walltime"], _ = p.walltime()
	}
	if spec.Walltime != 0 {
		got["walltime"] = spec.Walltime
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s %q: totals (-recorded +got)\n%s", row.Kind, row.Input, diff)
	}
	place, err := ParsePlace(defs, row.ResourceList["place"].(string))
	if err != nil || place != spec.Place {
		t.Errorf("%s %q: place %v, recorded %v (%v)", row.Kind, row.Input, spec.Place, place, err)
	}
}

// checkRequest verifies that Parse distinguishes selects, places and lists as the row does. A
// single resource could be a select or a list. Parse reads it as a select: the same chunk,
// placed free and not packed.
func (row grammarRow) checkRequest(t *testing.T, defs *index.Defs, want Spec) {
	t.Helper()
	r := Request{Select: row.Input}
	if row.Kind == "place" {
		r = Request{Place: row.Input}
	}
	got, err := Parse(defs, r)
	if err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	if row.Kind == "l" && !isResourceList(index.NewDefs(), row.Input) {
		if strings.ContainsAny(row.Input, ",:+") {
			t.Errorf("%q is taken for a select", row.Input)
		}
		// The list sorts its wants, the select adds ncpus at the end.
		if diff := cmp.Diff(Place{}, got.Place); diff != "" {
			t.Errorf("%q: place (-want +got)\n%s", row.Input, diff)
		}
		want.Chunks, want.Place = got.Chunks, got.Place
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%+v (-alone +in a request)\n%s", r, diff)
	}
}

// TestGrammarExceptions verifies that every entry names a row, and differs from it.
func TestGrammarExceptions(t *testing.T) {
	recorded := map[string]string{}
	for _, row := range readGrammar(t) {
		recorded[row.Kind+" "+row.Input] = row.SchedSelect
	}
	for key, e := range grammarExceptions {
		if was, ok := recorded[key]; !ok || was == e.want || e.reason == "" {
			t.Errorf("%s: no exception: recorded %q, ours %q, reason %q", key, was, e.want, e.reason)
		}
	}
}
