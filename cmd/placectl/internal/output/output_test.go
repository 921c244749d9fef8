package output

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/internal/text"
	"pgregory.net/rapid"
)

// sample has a column of every kind.
var sample = Result{Columns: []Column{
	{Name: "name"},
	{Name: "jobs", Kind: Integer},
	{Name: "load", Kind: Number},
	{Name: "up", Kind: Boolean},
	{Name: "since", Kind: Time},
	{Name: "left", Kind: Duration},
	{Name: "mem", Kind: Size},
	{Name: "nodes", Kind: List, Nodes: true},
	{Name: "chunks", Kind: Object, Detail: true},
}}

func sampleRows() [][]any {
	return [][]any{
		{"n1", 3, 0.25, true, int64(1795167000), 5400, int64(8 << 30), []string{"a1", "a2"},
			map[string]int{"y": 1, "x": 2}},
		{"=a|\t\x1b\"é", int64(-1), -2.0, false, int64(0), time.Minute, int64(512), []string{}, nil},
		{nil, nil, nil, nil, nil, nil, nil, nil, nil},
	}
}

// testLoc is the zone of the tests.
var testLoc = time.FixedZone("", 3600)

// render prints rows with these options in the tests' zone, on a terminal or not.
func render(t *testing.T, o Options, tty bool, width int, res Result, rows [][]any) string {
	t.Helper()
	var out bytes.Buffer
	o.Zone, o.Terminal, o.Width = testLoc, tty, func() int { return width }
	p := New(&out, o, res)
	for _, row := range rows {
		p.Row(row...)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestFormats(t *testing.T) {
	tests := []struct {
		name string
		o    Options
		tty  bool
		want string
	}{
		{"table", Options{}, false, `
NAME            JOBS  LOAD  UP     SINCE                 LEFT      MEM  NODES
n1                 3  0.25  true   2026-11-20 10:30:00  1h30m  8.0 GiB  a[1-2]
"=a|\t\x1b\"é"    -1    -2  false  1970-01-01 01:00:00     1m    512 B

`},
		{"table no header", Options{NoHeader: true}, false, `
n1               3  0.25  true   2026-11-20 10:30:00  1h30m  8.0 GiB  a[1-2]
"=a|\t\x1b\"é"  -1    -2  false  1970-01-01 01:00:00     1m    512 B

`},
		{"json", Options{Format: JSON}, true, `
[{"name":"n1","jobs":3,"load":0.25,"up":true,"since":"2026-11-20T09:30:00Z","left":5400,"mem":8589934592,"nodes":["a1","a2"],"chunks":{"x":2,"y":1}},
{"name":"=a|\t\u001b\"\u009bé","jobs":-1,"load":-2,"up":false,"since":"1970-01-01T00:00:00Z","left":60,"mem":512,"nodes":[],"chunks":null},
{"name":null,"jobs":null,"load":null,"up":null,"since":null,"left":null,"mem":null,"nodes":null,"chunks":null}]
`},
		{"jsonl", Options{Format: JSONL}, false, `
{"name":"n1","jobs":3,"load":0.25,"up":true,"since":"2026-11-20T09:30:00Z","left":5400,"mem":8589934592,"nodes":["a1","a2"],"chunks":{"x":2,"y":1}}
{"name":"=a|\t\u001b\"\u009bé","jobs":-1,"load":-2,"up":false,"since":"1970-01-01T00:00:00Z","left":60,"mem":512,"nodes":[],"chunks":null}
{"name":null,"jobs":null,"load":null,"up":null,"since":null,"left":null,"mem":null,"nodes":null,"chunks":null}
`},
		{"csv", Options{Format: CSV}, false, `
name,jobs,load,up,since,left,mem,nodes
n1,3,0.25,true,2026-11-20T09:30:00Z,5400,8589934592,"a1,a2"
` + "\"=a|\t\x1b\"\"é\"" + `,-1,-2,false,1970-01-01T00:00:00Z,60,512,
,,,,,,,
`},
		{"csv on a terminal", Options{Format: CSV, NoHeader: true}, true, `
n1,3,0.25,true,2026-11-20T09:30:00Z,5400,8589934592,"a1,a2"
"""=a|\t\x1b\""é""",-1,-2,false,1970-01-01T00:00:00Z,60,512,
,,,,,,,
`},
		{"tsv", Options{Format: TSV}, true, `
name	jobs	load	up	since	left	mem	nodes
n1	3	0.25	true	2026-11-20T09:30:00Z	5400	8589934592	a1,a2
=a|\t\x1b"é	-1	-2	false	1970-01-01T00:00:00Z	60	512	
							
`},
		{"id", Options{Format: ID}, true, `
n1
"=a|\t\x1b\"é"

`},
	}
	for _, tt := range tests {
		rows := sampleRows()
		// U+009B begins a terminal's control sequences just as ESC [ does.
		want := strings.TrimPrefix(tt.want, "\n")
		if tt.o.Format == JSON || tt.o.Format == JSONL {
			rows[1][0] = "=a|\t\x1b\"\u009bé"
		}
		if diff := cmp.Diff(want, render(t, tt.o, tt.tty, 0, sample, rows)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestLine(t *testing.T) {
	want := `
name:   n1
jobs:   3
load:   0.25
up:     true
since:  2026-11-20 10:30:00
left:   1h30m
mem:    8.0 GiB
nodes:  a[1-2]
chunks: {"x":2,"y":1}

name:
`
	got := render(t, Options{Format: Line}, false, 0, sample, [][]any{sampleRows()[0], sampleRows()[2]})
	if !strings.HasPrefix(got, want[1:]) {
		t.Errorf("two rows as lines:\n%s\nwant\n%s", got, want[1:])
	}
}

// TestColumns: an answer shows the chosen columns in that order.
func TestColumns(t *testing.T) {
	res := Result{Columns: []Column{{Name: "job"}, {Name: "n", Kind: Integer}, {Name: "more", Detail: true}}}
	if got, want := render(t, Options{Columns: "more,job"}, false, 0, res, [][]any{{"7", 5, "x"}}),
		"MORE  JOB\nx     7\n"; got != want {
		t.Errorf("columns: got %q, want %q", got, want)
	}
	var out strings.Builder
	p := New(&out, Options{Columns: "job,mor"}, res)
	if err := errors.Join(p.Row("7", 5, "x"), p.Close()); !errors.Is(err, ErrNoColumn) ||
		!strings.Contains(err.Error(), "mor is not one of job, n, more; did you mean more?") || out.Len() > 0 {
		t.Errorf("an unknown column: error %v, output %q, want ErrNoColumn with a suggestion", err, out.String())
	}
}

func TestRecord(t *testing.T) {
	res := Result{Record: true, ID: 1, Columns: []Column{{Name: "job"}, {Name: "n", Kind: Integer},
		{Name: "more", Detail: true}}}
	for form, want := range map[Format]string{
		Table: "n: 5\n",
		Line:  "job:\nn:    5\nmore: x\n",
		JSON:  `{"job":null,"n":5,"more":"x"}` + "\n",
		JSONL: `{"job":null,"n":5,"more":"x"}` + "\n",
		CSV:   "job,n\n,5\n",
		ID:    "5\n",
	} {
		got := render(t, Options{Format: form}, false, 0, res, [][]any{{nil, 5, "x"}})
		if got = strings.ReplaceAll(got, "n:   5", "n: 5"); got != want {
			t.Errorf("%s:\n got %q\nwant %q", FormatNames()[form], got, want)
		}
	}
}

// TestLongRecord: a value too wide for the terminal continues below itself. Programs, and -o lines, get the
// whole value.
func TestLongRecord(t *testing.T) {
	res := Result{Record: true, Columns: []Column{{Name: "name"}, {Name: "doc"}}}
	row := [][]any{{"a", "one two three four five six seven eight"}}
	for _, c := range []struct {
		form     Format
		terminal bool
		want     string
	}{
		{Table, true, "name: a\ndoc:  one two three four five\n      six seven eight\n"},
		{Table, false, "name: a\ndoc:  one two three four five six seven eight\n"},
		{Line, true, "name: a\ndoc:  one two three four five six seven eight\n"},
	} {
		if got := render(t, Options{Format: c.form}, c.terminal, 30, res, row); got != c.want {
			t.Errorf("%v: got\n%s", c, got)
		}
	}
}

func TestNoRows(t *testing.T) {
	res := Result{Columns: []Column{{Name: "a"}, {Name: "b", Kind: Integer}}}
	for form, want := range map[Format]string{
		Table: "A  B\n", Line: "", JSON: "[]\n", JSONL: "", CSV: "a,b\n",
		TSV: "a\tb\n", ID: "",
	} {
		if got := render(t, Options{Format: form, Color: true}, true, 3, res, nil); stripBold(got) != want {
			t.Errorf("%s without rows: %q, want %q", FormatNames()[form], got, want)
		}
	}
	res.Record = true
	if got := render(t, Options{Format: JSON}, false, 0, res, nil); got != "null\n" {
		t.Errorf("no record: %q", got)
	}
}

func stripBold(s string) string { return strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "").Replace(s) }

// TestCSVExact: cells are as they are, whatever a spreadsheet makes of them.
func TestCSVExact(t *testing.T) {
	res := Result{Columns: []Column{{Name: "@x"}}}
	rows := [][]any{{"+1"}, {"-a"}, {"\rx"}, {" a"}, {""}, {int64(-3)}, {-0.5}, {[]string{"=a"}}, {"a\nb"}, {"'"}}
	want := "@x\n+1\n-a\n\"\rx\"\n\" a\"\n\"\"\n-3\n-0.5\n=a\n\"a\nb\"\n'\n"
	if got := render(t, Options{Format: CSV}, false, 0, res, rows); got != want {
		t.Errorf("CSV:\n got %q\nwant %q", got, want)
	}
}

func TestNumbers(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", 1: "1", -1.5: "-1.5", 1e-7: "1e-07", 1e20: "1e+20", 0.30000000000000004: "0.3", math.Inf(1): "+Inf",
		math.Copysign(0, -1): "0", 123456789.125: "123456789.125",
	} {
		if got := string(appendFloat(nil, f)); got != want {
			t.Errorf("appendFloat(%v) = %s, want %s", f, got, want)
		}
	}
	for f, want := range map[float64]string{math.NaN(): "null", math.Inf(-1): "null", 1e-9: "1e-09", 1e21: "1e+21",
		0.5: "0.5"} {
		if got := string(appendJSONFloat(nil, f)); got != want {
			t.Errorf("appendJSONFloat(%v) = %s, want %s", f, got, want)
		}
	}
	p := New(io.Discard, Options{}, Result{Columns: []Column{{Name: "a"}}})
	if got := p.sizeText(math.MinInt64); got != "-8.0 EiB" {
		t.Errorf("the smallest size: %s", got)
	}
	if got := string(appendMachine(nil, uint64(math.MaxUint64), Integer)); got != "18446744073709551615" {
		t.Errorf("the largest number: %s", got)
	}
}

func TestFlushAndErrors(t *testing.T) {
	var out bytes.Buffer
	p := New(&out, Options{}, Result{Columns: []Column{{Name: "id", Kind: Integer}, {Name: "what"}}})
	p.Row(1, "a")
	p.Flush()
	if got := out.String(); got != "ID  WHAT\n 1  a\n" {
		t.Errorf("after Flush: %q", got)
	}
	p.Row(2, "b")
	p.Close()
	if got := out.String(); got != "ID  WHAT\n 1  a\n 2  b\n" {
		t.Errorf("after Close: %q", got)
	}
	if p.Row(3, "c") == nil || p.Flush() == nil || p.Close() == nil {
		t.Error("Row succeeds after Close")
	}
	p = New(fullDisk{}, Options{}, sample)
	p.Row(sampleRows()[0]...)
	if p.Flush() == nil || p.Row(sampleRows()[0]...) == nil || p.Close() == nil {
		t.Error("a write to a full disk gives no error")
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestAnyTextSurvives: every form for programs gives back any value, and nothing on a terminal can control
// it.
func TestAnyTextSurvives(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("a\t\n\r\"\\,|'=\x1b\u009b\u202e世é"))),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(rt, "s")
		res := Result{Columns: []Column{{Name: "a"}, {Name: "b", Kind: Object}}}
		rows := [][]any{{s, []string{s}}}

		var doc []struct {
			A string
			B []string
		}
		got := render(t, Options{Format: JSON}, true, 0, res, rows)
		if err := json.Unmarshal([]byte(got), &doc); err != nil || doc[0].A != strings.ToValidUTF8(s, "\uFFFD") &&
			doc[0].A != perByte(s) {
			rt.Fatalf("json %q: %v", got, err)
		}
		got = render(t, Options{Format: CSV}, false, 0, res, rows)
		in := csv.NewReader(strings.NewReader(got))
		back, err := in.ReadAll()
		if want := strings.ReplaceAll(s, "\r\n", "\n"); err != nil || back[1][0] != want { // as encoding/csv reads it
			rt.Fatalf("csv %q: %q %v", got, back, err)
		}
		got = render(t, Options{Format: TSV}, false, 0, res, rows)
		field, _, _ := strings.Cut(strings.Split(got, "\n")[1], "\t")
		if strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r").Replace(field) != s {
			rt.Fatalf("tsv %q", got)
		}
		for form := range FormatNames() {
			got = render(t, Options{Format: Format(form)}, true, rapid.IntRange(1, 60).Draw(rt, "width"), res, rows)
			if rest := strings.NewReplacer("\n", "", "\t", "").Replace(got); !text.IsPrintable(rest) {
				rt.Fatalf("%s on a terminal: %q", FormatNames()[form], got)
			}
		}
	})
}

// perByte replaces each invalid byte separately, as encoding/json does.
func perByte(s string) string { return string([]rune(s)) }

func BenchmarkTable(b *testing.B)  { benchmarkFormat(b, Table) }
func BenchmarkLine(b *testing.B)   { benchmarkFormat(b, Line) }
func BenchmarkJSON(b *testing.B)   { benchmarkFormat(b, JSON) }
func BenchmarkCSV(b *testing.B)    { benchmarkFormat(b, CSV) }
func BenchmarkTSV(b *testing.B)    { benchmarkFormat(b, TSV) }
func BenchmarkIDs(b *testing.B)    { benchmarkFormat(b, ID) }
func BenchmarkNarrow(b *testing.B) { benchmarkFormat(b, Table, 60) }

// benchmarkFormat prints 10,000 rows of 8 columns.
func benchmarkFormat(b *testing.B, form Format, width ...int) {
	var out bytes.Buffer
	o := Options{Format: form, Zone: testLoc, Terminal: len(width) > 0, Color: len(width) > 0, Width: func() int {
		return append(width, 0)[0]
	}}
	rows := make([][]any, 10_000)
	for i := range rows {
		rows[i] = []any{"node" + string(rune('a'+i%26)), i, float64(i) / 8, i%2 == 0, int64(1795167000 + i*61), i * 37,
			int64(i%64) << 30, "a longer text, of several words", nil}
	}
	res := sample
	res.Columns = append(append([]Column(nil), sample.Columns[:7]...), Column{Name: "text"},
		Column{Name: "d", Detail: true})
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		p := New(&out, o, res)
		for _, row := range rows {
			p.Row(row...)
		}
		if err := p.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
