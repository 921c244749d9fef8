package query

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placectl/placectl/query/values"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// TestGolden runs the files of testdata. A block is a statement up to its semicolon, then what
// the test writes below it: the plan, and the rows or the error. Blocks are separated by blank
// lines; a block of comments stays as it is.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.golden")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for block := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
			statement, _, ok := strings.Cut(block, ";\n")
			if !ok {
				statement = strings.TrimSuffix(block, ";")
			}
			if strings.HasPrefix(block, "--") {
				out = append(out, block)
				continue
			}
			out = append(out, statement+";\n"+answerOf(t, statement))
		}
		got := strings.Join(out, "\n\n") + "\n"
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if d := cmp.Diff(string(data), got); d != "" {
			t.Errorf("%s: (-want +got)\n%s", file, d)
		}
	}
}

// answerOf returns the plan and the rows of a statement, or its error.
func answerOf(t *testing.T, statement string) string {
	opt := Options{Named: map[string]values.Value{"n": values.Int(2)}, Args: []values.Value{values.String("two")},
		Now: func() int64 {
			return 1_700_000_000
		}}
	c := smallCatalog()
	rows, err := runAll(t, c, statement, opt)
	if err != nil {
		return "error " + err.Error()
	}
	plan, err := runAll(t, c, "EXPLAIN "+statement, opt)
	if err != nil && !strings.HasPrefix(statement, "EXPLAIN") {
		t.Errorf("%s: %v", statement, err)
	}
	var b strings.Builder
	for _, line := range plan {
		b.WriteString("plan  " + strings.ReplaceAll(line[1:len(line)-1], "''", "'") + "\n")
	}
	for _, row := range rows {
		b.WriteString("row   " + row + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
