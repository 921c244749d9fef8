package directives

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

var update = flag.Bool("update", false, "write what comes out into testdata")

// testOptions returns a cluster with a few names of its own, on a Sunday at noon in Berlin.
func testOptions(t testing.TB) Options {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	defs := testDefs(t)
	return Options{
		Own: []OwnFlag{
			{Names: []string{"select", "l"}}, {Names: []string{"place"}}, {Names: []string{"walltime", "t"}},
			{Names: []string{"name"}}, {Names: []string{"array"}},
			{Names: []string{"hold"}, Switch: true}, {Names: []string{"no-requeue"}, Switch: true},
			{Names: []string{"after"}, List: true}, {Names: []string{"out"}},
		},
		Host:     "n1.site.org",
		Now:      time.Date(2026, 11, 22, 12, 0, 0, 0, berlin),
		Zone:     berlin,
		MaxArray: 100_000,
		Resource: func(name string) bool { _, ok := defs.Lookup(name); return ok },
		Pool:     func(name string) bool { return name == "fluent" },
		Class:    func(name string) bool { return name == "long" },
		ReadFile: func(name string) ([]byte, error) {
			if name != "nodes.txt" {
				return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
			}
			return []byte("n1\nn2,n3\n\nn[7-8]\n"), nil
		},
	}
}

func testDefs(t testing.TB) *index.Defs {
	defs := index.NewDefs()
	for _, name := range []string{"a100", "gslices", "scratch"} {
		if _, err := defs.Add(index.Def{Name: name, Type: index.Long, Consumable: true}); err != nil {
			t.Fatal(err)
		}
	}
	return defs
}

// told returns the result of a script, a line each: flags, what the select means to a placement, notes,
// errors.
func told(t testing.TB, name string, script []byte, o Options) []string {
	s, err := Read(infile.New(name, script), o)
	if err != nil {
		if !errors.Is(err, infile.ErrInput) {
			t.Errorf("%s: the error %v does not match ErrInput", script, err)
		}
		if diff := cmp.Diff(Submission{}, s); diff != "" {
			t.Errorf("%s fails, but leaves something: %s", script, diff)
		}
		var lines []string
		for line := range strings.Lines(err.Error()) {
			lines = append(lines, "refused: "+strings.TrimSpace(line))
		}
		return lines
	}
	lines := s.Words()
	if s.Interpreter != "" {
		lines = append(lines, "interpreter: "+s.Interpreter)
	}
	lines = append(lines, s.Variables...)
	if text := means(t, s, testDefs(t)); text != "" {
		lines = append(lines, "means: "+text)
	}
	for _, n := range s.Notes {
		lines = append(lines, "note: "+n.String())
	}
	return lines
}

// means returns the request as placements read it: a select in normal form, and a place.
func means(t testing.TB, s Submission, defs *index.Defs) string {
	q := requestOf(s)
	if q.Select == "" && q.Place == "" {
		return ""
	}
	spec, err := placer.Parse(defs, q)
	if err != nil {
		t.Errorf("the request of %q is invalid: %v", s.Words(), err)
		return ""
	}
	return spec.Select(defs) + " " + spec.Place.Format(defs)
}

func requestOf(s Submission) (q placer.Request) {
	for _, f := range s.Flags {
		switch f.Name {
		case "select":
			q.Select = f.Value
		case "place":
			q.Place = f.Value
		}
	}
	return q
}

// TestRows goes through testdata/rows.txt. Below each row of directives.tsv are scripts, and behind "> "
// their results.
func TestRows(t *testing.T) {
	rows := readRows(t)
	file := filepath.Join("testdata", "rows.txt")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	o := testOptions(t)
	tested := make(map[string]bool)
	var out, script []string
	flush := func() {
		if len(script) > 0 {
			for _, line := range told(t, "job", []byte(strings.Join(script, "\n")+"\n"), o) {
				out = append(out, "> "+line)
			}
		}
		script = nil
	}
	for line := range strings.Lines(string(data) + "\n") {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "> "):
			continue
		case line == "":
			flush()
		case strings.HasPrefix(line, "== "):
			key := line[3:]
			if _, ok := rows[key]; !ok {
				t.Errorf("directives.tsv has no row %q", key)
			}
			tested[key] = true
		default:
			script = append(script, line)
		}
		out = append(out, line)
	}
	for key := range rows {
		if !tested[key] {
			t.Errorf("rows.txt has no scripts for %q", key)
		}
	}
	got := strings.TrimRight(strings.Join(out, "\n"), "\n") + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(string(data), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("rows.txt (-file +got):\n%s", diff)
	}
}

// row is a row of directives.tsv.
type row struct{ family, option, verdict, means, remark string }

func readRows(t *testing.T) map[string]row {
	data, err := os.ReadFile(filepath.Join("testdata", "directives.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]row)
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		f := strings.Split(line, "\t")
		if len(f) < 4 {
			t.Fatalf("directives.tsv, line %d has fewer than 4 columns: %q", i+1, line)
		}
		f = append(f, "")
		if i > 0 {
			rows[f[0]+"\t"+f[1]] = row{f[0], f[1], f[2], f[3], f[4]}
		}
	}
	return rows
}

// TestVerdicts: each option that the table notes or refuses is noted or refused, with the table's reason.
// None of the table's options is unknown.
func TestVerdicts(t *testing.T) {
	option := regexp.MustCompile(`--?[A-Za-z][a-z-]*`)
	o := testOptions(t)
	some, all := 0, 0
	for key, row := range readRows(t) {
		prefix := "#" + row.family
		if row.family == "placectl" || strings.HasPrefix(row.option, "-l ") || strings.HasPrefix(row.option, "-W ") {
			continue // rows.txt covers each of their names
		}
		reason, _, _ := strings.Cut(row.remark, ";")
		for _, name := range option.FindAllString(row.option, -1) {
			all++
			_, err := Read(infile.New("job", []byte(fmt.Sprintf("%s %s\n", prefix, name))), o)
			if err == nil || strings.Contains(err.Error(), "it needs a value") {
				_, err = Read(infile.New("job", []byte(fmt.Sprintf("%s %s x\n", prefix, name))), o)
			}
			if err != nil && strings.Contains(err.Error(), "no such option") {
				t.Errorf("%s is in directives.tsv, but unknown: %v", key, err)
			}
			if row.verdict != "refuse" || strings.Contains(reason, "=") && strings.Contains(reason, ": note") {
				continue
			}
			if err == nil || !strings.Contains(err.Error(), "job, line 1, column ") ||
				!strings.Contains(err.Error(), ": "+name+": "+reason) {
				t.Errorf("%s: error %v, want the reason %s", key, err, reason)
			}
			some++
		}
	}
	if some < 50 || all < 150 {
		t.Errorf("the reasons of only %d of %d options were checked", some, all)
	}
}

// Words returns the flags as arguments of submit.
func (s Submission) Words() []string {
	words := make([]string, len(s.Flags))
	for i, f := range s.Flags {
		words[i] = f.Word()
	}
	return words
}
