package main

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"pgregory.net/rapid"
)

// sample has a column of every kind.
var sample = result{Columns: []column{
	{Name: "name"},
	{Name: "jobs", Kind: integer},
	{Name: "load", Kind: number},
	{Name: "up", Kind: boolean},
	{Name: "since", Kind: when},
	{Name: "left", Kind: span},
	{Name: "mem", Kind: size},
	{Name: "nodes", Kind: list, Nodes: true},
	{Name: "chunks", Kind: object, Detail: true},
}}

func sampleRows() [][]any {
	return [][]any{
		{"n1", 3, 0.25, true, int64(1795167000), 5400, int64(8 << 30), []string{"a1", "a2"}, map[string]int{"y": 1, "x": 2}},
		{"=a|\t\x1b\"é", int64(-1), -2.0, false, int64(0), time.Minute, int64(512), []string{}, nil},
		{nil, nil, nil, nil, nil, nil, nil, nil, nil},
	}
}

// render prints rows as a process with these settings would.
func render(t *testing.T, g globals, tty bool, width int, res result, rows [][]any) string {
	t.Helper()
	c := newCapture()
	c.stdoutTTY, c.width = tty, func() int { return width }
	r := c.runner()
	r.globals = g
	p := r.printer(res)
	for _, row := range rows {
		p.row(row...)
	}
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	return c.out.String()
}

func TestFormats(t *testing.T) {
	tests := []struct {
		name string
		g    globals
		tty  bool
		want string
	}{
		{"table", globals{}, false, `
NAME            JOBS  LOAD  UP     SINCE                 LEFT      MEM  NODES
n1                 3  0.25  true   2026-11-20 10:30:00  1h30m  8.0 GiB  a[1-2]
"=a|\t\x1b\"é"    -1    -2  false  1970-01-01 01:00:00     1m    512 B

`},
		{"table no header", globals{NoHeader: true}, false, `
n1               3  0.25  true   2026-11-20 10:30:00  1h30m  8.0 GiB  a[1-2]
"=a|\t\x1b\"é"  -1    -2  false  1970-01-01 01:00:00     1m    512 B

`},
		{"json", globals{Output: formatJSON}, true, `
[{"name":"n1","jobs":3,"load":0.25,"up":true,"since":"2026-11-20T09:30:00Z","left":5400,"mem":8589934592,"nodes":["a1","a2"],"chunks":{"x":2,"y":1}},
{"name":"=a|\t\u001b\"\u009bé","jobs":-1,"load":-2,"up":false,"since":"1970-01-01T00:00:00Z","left":60,"mem":512,"nodes":[],"chunks":null},
{"name":null,"jobs":null,"load":null,"up":null,"since":null,"left":null,"mem":null,"nodes":null,"chunks":null}]
`},
		{"jsonl", globals{Output: formatJSONL}, false, `
{"name":"n1","jobs":3,"load":0.25,"up":true,"since":"2026-11-20T09:30:00Z","left":5400,"mem":8589934592,"nodes":["a1","a2"],"chunks":{"x":2,"y":1}}
{"name":"=a|\t\u001b\"\u009bé","jobs":-1,"load":-2,"up":false,"since":"1970-01-01T00:00:00Z","left":60,"mem":512,"nodes":[],"chunks":null}
{"name":null,"jobs":null,"load":null,"up":null,"since":null,"left":null,"mem":null,"nodes":null,"chunks":null}
`},
		{"csv", globals{Output: formatCSV}, false, `
name,jobs,load,up,since,left,mem,nodes
n1,3,0.25,true,2026-11-20T09:30:00Z,5400,8589934592,"a1,a2"
"'=a|` + "\t\x1b" + `""é",-1,-2,false,1970-01-01T00:00:00Z,60,512,
,,,,,,,
`},
		{"csv raw on a terminal", globals{Output: formatCSV, Raw: true, NoHeader: true}, true, `
n1,3,0.25,true,2026-11-20T09:30:00Z,5400,8589934592,"a1,a2"
"""=a|\t\x1b\""é""",-1,-2,false,1970-01-01T00:00:00Z,60,512,
,,,,,,,
`},
		{"tsv", globals{Output: formatTSV}, true, `
name	jobs	load	up	since	left	mem	nodes
n1	3	0.25	true	2026-11-20T09:30:00Z	5400	8589934592	a1,a2
=a|\t\x1b"é	-1	-2	false	1970-01-01T00:00:00Z	60	512	
							
`},
		{"md", globals{Output: formatMD}, false, `
| name | jobs | load | up | since | left | mem | nodes |
|---|---:|---:|---|---|---:|---:|---|
| n1 | 3 | 0.25 | true | 2026-11-20 10:30:00 | 1h30m | 8.0 GiB | a[1-2] |
| "=a\|\\t\\x1b\\"é" | -1 | -2 | false | 1970-01-01 01:00:00 | 1m | 512 B |  |
|  |  |  |  |  |  |  |  |
`},
		{"id", globals{Output: formatID}, true, `
n1
"=a|\t\x1b\"é"

`},
	}
	for _, tt := range tests {
		rows := sampleRows()
		// U+009B begins a terminal's control sequences just as ESC [ does.
		want := strings.TrimPrefix(tt.want, "\n")
		if tt.g.Output == formatJSON || tt.g.Output == formatJSONL {
			rows[1][0] = "=a|\t\x1b\"\u009bé"
		}
		if diff := cmp.Diff(want, render(t, tt.g, tt.tty, 0, sample, rows)); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
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
	got := render(t, globals{Output: formatLine}, false, 0, sample, [][]any{sampleRows()[0], sampleRows()[2]})
	if !strings.HasPrefix(got, want[1:]) {
		t.Errorf("%s", got)
	}
}

func TestRecord(t *testing.T) {
	res := result{Record: true, ID: 1, Columns: []column{{Name: "job"}, {Name: "n", Kind: integer}, {Name: "more", Detail: true}}}
	for form, want := range map[format]string{
		formatTable: "n: 5\n",
		formatLine:  "job:\nn:    5\nmore: x\n",
		formatJSON:  `{"job":null,"n":5,"more":"x"}` + "\n",
		formatJSONL: `{"job":null,"n":5,"more":"x"}` + "\n",
		formatCSV:   "job,n\n,5\n",
		formatID:    "5\n",
	} {
		got := render(t, globals{Output: form}, false, 0, res, [][]any{{nil, 5, "x"}})
		if got = strings.ReplaceAll(got, "n:   5", "n: 5"); got != want {
			t.Errorf("%s:\n got %q\nwant %q", formatNames[form], got, want)
		}
	}
}

func TestNoRows(t *testing.T) {
	res := result{Columns: []column{{Name: "a"}, {Name: "b", Kind: integer}}}
	for form, want := range map[format]string{
		formatTable: "A  B\n", formatLine: "", formatJSON: "[]\n", formatJSONL: "", formatCSV: "a,b\n",
		formatTSV: "a\tb\n", formatMD: "| a | b |\n|---|---:|\n", formatID: "",
	} {
		if got := render(t, globals{Output: form}, true, 3, res, nil); stripBold(got) != want {
			t.Errorf("%s: %q", formatNames[form], got)
		}
	}
	res.Record = true
	if got := render(t, globals{Output: formatJSON}, false, 0, res, nil); got != "null\n" {
		t.Errorf("no record: %q", got)
	}
}

func stripBold(s string) string { return strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "").Replace(s) }

func TestCSVGuard(t *testing.T) {
	res := result{Columns: []column{{Name: "@x"}}}
	rows := [][]any{{"+1"}, {"-a"}, {"\rx"}, {" a"}, {""}, {int64(-3)}, {-0.5}, {[]string{"=a"}}, {"a\nb"}, {"'"}}
	want := "'@x\n'+1\n'-a\n\"'\rx\"\n\" a\"\n\"\"\n-3\n-0.5\n'=a\n\"a\nb\"\n'\n"
	if got := render(t, globals{Output: formatCSV}, false, 0, res, rows); got != want {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

func TestNumbers(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", 1: "1", -1.5: "-1.5", 1e-7: "1e-07", 1e20: "1e+20", 0.30000000000000004: "0.3", math.Inf(1): "+Inf", math.Copysign(0, -1): "0", 123456789.125: "123456789.125",
	} {
		if got := string(appendFloat(nil, f)); got != want {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
	for f, want := range map[float64]string{math.NaN(): "null", math.Inf(-1): "null", 1e-9: "1e-09", 1e21: "1e+21", 0.5: "0.5"} {
		if got := string(appendJSONFloat(nil, f)); got != want {
			t.Errorf("JSON %v: %s, want %s", f, got, want)
		}
	}
	p := newCapture().runner().printer(result{Columns: []column{{Name: "a"}}})
	if got := p.sizeText(math.MinInt64); got != "-8.0 EiB" {
		t.Errorf("the smallest size: %s", got)
	}
	if got := string(appendMachine(nil, uint64(math.MaxUint64), integer)); got != "18446744073709551615" {
		t.Errorf("the largest number: %s", got)
	}
}

func TestFlushAndErrors(t *testing.T) {
	c := newCapture()
	p := c.runner().printer(result{Columns: []column{{Name: "id", Kind: integer}, {Name: "what"}}})
	p.row(1, "a")
	p.flush()
	if got := c.out.String(); got != "ID  WHAT\n 1  a\n" {
		t.Errorf("flushed %q", got)
	}
	p.row(2, "b")
	p.close()
	if got := c.out.String(); got != "ID  WHAT\n 1  a\n 2  b\n" {
		t.Errorf("closed %q", got)
	}
	if p.row(3, "c") == nil || p.flush() == nil || p.close() == nil {
		t.Error("a closed printer goes on")
	}
	c.stdout = fullDisk{}
	p = c.runner().printer(sample)
	p.row(sampleRows()[0]...)
	if p.flush() == nil || p.row(sampleRows()[0]...) == nil || p.close() == nil {
		t.Error("the disk is full, and nobody says so")
	}
}

// Every form that programs read gives back what was put in, whatever it is, and
// nothing that reaches a terminal can steer it.
func TestAnyTextSurvives(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("a\t\n\r\"\\,|'=\x1b\u009b\u202e世é"))),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(rt, "s")
		res := result{Columns: []column{{Name: "a"}, {Name: "b", Kind: object}}}
		rows := [][]any{{s, []string{s}}}

		var doc []struct {
			A string
			B []string
		}
		got := render(t, globals{Output: formatJSON}, true, 0, res, rows)
		if err := json.Unmarshal([]byte(got), &doc); err != nil || doc[0].A != strings.ToValidUTF8(s, "\uFFFD") && doc[0].A != perByte(s) {
			rt.Fatalf("json %q: %v", got, err)
		}
		got = render(t, globals{Output: formatCSV, Raw: true}, false, 0, res, rows)
		in := csv.NewReader(strings.NewReader(got))
		back, err := in.ReadAll()
		if want := strings.ReplaceAll(s, "\r\n", "\n"); err != nil || back[1][0] != want { // as encoding/csv reads
			rt.Fatalf("csv %q: %q %v", got, back, err)
		}
		got = render(t, globals{Output: formatTSV}, false, 0, res, rows)
		field, _, _ := strings.Cut(strings.Split(got, "\n")[1], "\t")
		if strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r").Replace(field) != s {
			rt.Fatalf("tsv %q", got)
		}
		for form := range formatNames {
			got = render(t, globals{Output: format(form), NoColor: true}, true, rapid.IntRange(1, 60).Draw(rt, "width"), res, rows)
			if rest := strings.NewReplacer("\n", "", "\t", "").Replace(got); !spell.IsPrintable(rest) {
				rt.Fatalf("%s on a terminal: %q", formatNames[form], got)
			}
		}
	})
}

// perByte replaces each wrong byte alone, as encoding/json does.
func perByte(s string) string { return string([]rune(s)) }

func BenchmarkTable(b *testing.B)  { benchmarkFormat(b, formatTable) }
func BenchmarkLine(b *testing.B)   { benchmarkFormat(b, formatLine) }
func BenchmarkJSON(b *testing.B)   { benchmarkFormat(b, formatJSON) }
func BenchmarkCSV(b *testing.B)    { benchmarkFormat(b, formatCSV) }
func BenchmarkTSV(b *testing.B)    { benchmarkFormat(b, formatTSV) }
func BenchmarkIDs(b *testing.B)    { benchmarkFormat(b, formatID) }
func BenchmarkMD(b *testing.B)     { benchmarkFormat(b, formatMD) }
func BenchmarkNarrow(b *testing.B) { benchmarkFormat(b, formatTable, 60) }

// benchmarkFormat prints 10,000 rows of 8 columns.
func benchmarkFormat(b *testing.B, form format, width ...int) {
	c := newCapture()
	c.stdoutTTY = len(width) > 0
	c.width = func() int { return append(width, 0)[0] }
	r := c.runner()
	r.Output = form
	rows := make([][]any, 10_000)
	for i := range rows {
		rows[i] = []any{"node" + string(rune('a'+i%26)), i, float64(i) / 8, i%2 == 0, int64(1795167000 + i*61), i * 37, int64(i%64) << 30, "a longer text, of several words", nil}
	}
	res := sample
	res.Columns = append(append([]column(nil), sample.Columns[:7]...), column{Name: "text"}, column{Name: "d", Detail: true})
	b.ReportAllocs()
	for b.Loop() {
		c.out.Reset()
		p := r.printer(res)
		for _, row := range rows {
			p.row(row...)
		}
		if err := p.close(); err != nil {
			b.Fatal(err)
		}
	}
}
